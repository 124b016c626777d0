"""Throughput algebra of draft-then-verify: conventions, acceptance, cost, depth, pools, counters.

One cycle: a drafter proposes K units, a verifier checks them in one pass, and the accepted prefix
is committed.  Everything here is scalar algebra on survival functions S(j) and cycle costs C(K).
"""

from ensctl.drafting.acceptance import IID, AcceptanceModel, as_acceptance
from ensctl.drafting.acceptance_mixture import Beta, Mixture
from ensctl.drafting.acceptance_positions import DelayedGeometric, PerPosition
from ensctl.drafting.acceptance_renewal import MarkovRenewal
from ensctl.drafting.aggregate_variance import (
    OptimalWeights,
    mean_standard_deviation,
    optimal_weights,
)
from ensctl.drafting.break_even import break_even_alpha, break_even_cost
from ensctl.drafting.continuous_optimum import ContinuousOptimum, continuous_optimum
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.convert import Metric, as_metric, convert
from ensctl.drafting.convert_length import alpha_from_length, expected_length
from ensctl.drafting.convert_reported import (
    alpha_from_efficiency,
    alpha_from_rate,
    hazards_from_survival,
    length_from_rate,
    rate_from_length,
    survival_from_hazards,
)
from ensctl.drafting.cost import CostModel, LinearCost, as_cost
from ensctl.drafting.cost_files import MeasuredCost, read_cost_table
from ensctl.drafting.cost_fit import CostFit, fit_linear_cost
from ensctl.drafting.cost_serving import BatchCost, RooflineCost
from ensctl.drafting.cost_table import BatchTable, TableCost
from ensctl.drafting.counters import Counters
from ensctl.drafting.drafter import Drafter
from ensctl.drafting.engines.identities import CounterFormat
from ensctl.drafting.engines.read import iter_counters, read_counters
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.fitting.acceptance_fit import AcceptanceFit
from ensctl.drafting.fitting.alpha import alpha_estimate
from ensctl.drafting.fitting.comparison import ModelComparison, ModelScore
from ensctl.drafting.fitting.hazards import HazardEstimates, hazard_estimates
from ensctl.drafting.fitting.lengths import fit_lengths
from ensctl.drafting.fitting.models import fit_acceptance
from ensctl.drafting.fitting.position_traces import read_traces, replay_cycles, replay_depth
from ensctl.drafting.fitting.traces import CycleTraces
from ensctl.drafting.fitting.windows import (
    BlockVariance,
    autocorrelation_time,
    batch_means,
    block_variance,
)
from ensctl.drafting.measured_depth import MeasuredDepth, measured_depths
from ensctl.drafting.operations import implied_length, implied_verify_ratio, improvement, operations
from ensctl.drafting.optimal_pooling import OptimalPooling, optimal_pooled_acceptance
from ensctl.drafting.optimum import optimal_depth
from ensctl.drafting.optimum_result import DepthOptimum
from ensctl.drafting.oracle import oracle_length, oracle_throughput
from ensctl.drafting.phase_map import PhaseMap, phase_map
from ensctl.drafting.pool_choice import PoolChoice, PoolOption, choose_pool
from ensctl.drafting.pooled_acceptance import pooled_acceptance
from ensctl.drafting.pooled_chains import ParallelChains, resynchronised
from ensctl.drafting.recursive_rejection import RecursiveRejection, recursive_rejection
from ensctl.drafting.sampled_acceptance import SampledAcceptance, sampled_acceptance
from ensctl.drafting.sensitivity import DepthRegret, Sensitivity, depth_regret, sensitivity
from ensctl.drafting.serving_benchmark import (
    ServingBenchmark,
    ServingRow,
    clean_benchmark,
    read_serving_benchmark,
)
from ensctl.drafting.serving_calibration import calibrate
from ensctl.drafting.serving_prediction import ServingCalibration, ServingErrors
from ensctl.drafting.stop_thresholds import StopThreshold, best_stop_threshold
from ensctl.drafting.stopped_draft import StoppedDraft, stopped_draft
from ensctl.drafting.throughput import speedup, throughput

__all__ = [
    "IID",
    "AcceptanceFit",
    "AcceptanceModel",
    "BatchCost",
    "BatchTable",
    "Beta",
    "BlockVariance",
    "ContinuousOptimum",
    "Convention",
    "CostFit",
    "CostModel",
    "CounterFormat",
    "Counters",
    "CycleTraces",
    "DelayedGeometric",
    "DepthOptimum",
    "DepthRegret",
    "Drafter",
    "Estimate",
    "HazardEstimates",
    "LinearCost",
    "MarkovRenewal",
    "MeasuredCost",
    "MeasuredDepth",
    "Metric",
    "Mixture",
    "ModelComparison",
    "ModelScore",
    "OptimalPooling",
    "OptimalWeights",
    "ParallelChains",
    "PerPosition",
    "PhaseMap",
    "PoolChoice",
    "PoolOption",
    "RecursiveRejection",
    "RooflineCost",
    "SampledAcceptance",
    "Sensitivity",
    "ServingBenchmark",
    "ServingCalibration",
    "ServingErrors",
    "ServingRow",
    "StopThreshold",
    "StoppedDraft",
    "TableCost",
    "alpha_estimate",
    "alpha_from_efficiency",
    "alpha_from_length",
    "alpha_from_rate",
    "as_acceptance",
    "as_convention",
    "as_cost",
    "as_depth",
    "as_metric",
    "autocorrelation_time",
    "batch_means",
    "best_stop_threshold",
    "block_variance",
    "break_even_alpha",
    "break_even_cost",
    "calibrate",
    "choose_pool",
    "clean_benchmark",
    "continuous_optimum",
    "convert",
    "depth_regret",
    "expected_length",
    "fit_acceptance",
    "fit_lengths",
    "fit_linear_cost",
    "hazard_estimates",
    "hazards_from_survival",
    "implied_length",
    "implied_verify_ratio",
    "improvement",
    "iter_counters",
    "length_from_rate",
    "mean_standard_deviation",
    "measured_depths",
    "operations",
    "optimal_depth",
    "optimal_pooled_acceptance",
    "optimal_weights",
    "oracle_length",
    "oracle_throughput",
    "phase_map",
    "pooled_acceptance",
    "rate_from_length",
    "read_cost_table",
    "read_counters",
    "read_serving_benchmark",
    "read_traces",
    "recursive_rejection",
    "replay_cycles",
    "replay_depth",
    "resynchronised",
    "sampled_acceptance",
    "sensitivity",
    "speedup",
    "stopped_draft",
    "survival_from_hazards",
    "throughput",
]
