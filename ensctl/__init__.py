"""ensctl: controllability, conditioning and control of a population with one broadcast input.

Every member of the population x_{i,t+1} = λ_i x_{i,t} + b_i u_t hears the same input.  The
public names are found here and loaded on first use, so that ``import ensctl`` costs nothing.

Examples
--------
>>> import ensctl as ec
>>> ec.controllability(ec.Ensemble([0.2, 0.5, 0.8])).reachable
True
>>> ec.controllability(ec.Ensemble([0.3, 0.3, 0.9])).reachable
False
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensctl import drafting as drafting
    from ensctl import papers as papers
    from ensctl import scheduling as scheduling
    from ensctl.analysis.conditioning import Conditioning as Conditioning
    from ensctl.analysis.conditioning import conditioning as conditioning
    from ensctl.analysis.controllability import Controllability as Controllability
    from ensctl.analysis.controllability import controllability as controllability
    from ensctl.analysis.gramian import gramian as gramian
    from ensctl.analysis.horizon_sweep import HorizonSweep as HorizonSweep
    from ensctl.analysis.horizon_sweep import horizon_sweep as horizon_sweep
    from ensctl.analysis.matrices import ctrb as ctrb
    from ensctl.analysis.matrices import obsv as obsv
    from ensctl.analysis.matrices import reachability_matrix as reachability_matrix
    from ensctl.analysis.node_design import choose_nodes as choose_nodes
    from ensctl.analysis.node_design_result import NodeDesign as NodeDesign
    from ensctl.analysis.node_regions import Annulus as Annulus
    from ensctl.analysis.node_regions import Candidates as Candidates
    from ensctl.analysis.node_regions import Circle as Circle
    from ensctl.analysis.node_regions import Disk as Disk
    from ensctl.analysis.node_regions import Interval as Interval
    from ensctl.analysis.node_regions import Rates as Rates
    from ensctl.analysis.observability import Observability as Observability
    from ensctl.analysis.observability import observability as observability
    from ensctl.analysis.practicality import PracticalVerdict as PracticalVerdict
    from ensctl.analysis.practicality import practicality as practicality
    from ensctl.analysis.repair import repair as repair
    from ensctl.analysis.repair_result import Repair as Repair
    from ensctl.analysis.sampling_curve import SamplingCurve as SamplingCurve
    from ensctl.analysis.sampling_curve import sampling_curve as sampling_curve
    from ensctl.ensemble import families as families
    from ensctl.ensemble.aggregate_propagation import AggregateOutput as AggregateOutput
    from ensctl.ensemble.aggregate_propagation import aggregate_output as aggregate_output
    from ensctl.ensemble.aggregate_propagation import aggregate_response as aggregate_response
    from ensctl.ensemble.ensemble import Ensemble as Ensemble
    from ensctl.ensemble.markov import markov_parameters as markov_parameters
    from ensctl.ensemble.markov import markov_response as markov_response
    from ensctl.ensemble.process_noise import ProcessNoise as ProcessNoise
    from ensctl.ensemble.propagation import FinalState as FinalState
    from ensctl.ensemble.propagation import final_state as final_state
    from ensctl.ensemble.propagation import final_states as final_states
    from ensctl.ensemble.propagation import propagate as propagate
    from ensctl.ensemble.thermostat_parameters import ThermostatFleet as ThermostatFleet
    from ensctl.ensemble.trajectories import TrajectoryChunk as TrajectoryChunk
    from ensctl.ensemble.trajectories import trajectory as trajectory
    from ensctl.ensemble.trajectories import trajectory_chunks as trajectory_chunks
    from ensctl.errors import EnsctlError as EnsctlError
    from ensctl.errors import FormatError as FormatError
    from ensctl.errors import InfeasibleError as InfeasibleError
    from ensctl.errors import InvalidInputError as InvalidInputError
    from ensctl.errors import MissingDependencyError as MissingDependencyError
    from ensctl.errors import NotIdentifiableError as NotIdentifiableError
    from ensctl.errors import NotReachableError as NotReachableError
    from ensctl.errors import PrecisionError as PrecisionError
    from ensctl.errors import SolverError as SolverError
    from ensctl.estimation.estimator import AggregateEstimator as AggregateEstimator
    from ensctl.estimation.estimator_information import KnownCombinations as KnownCombinations
    from ensctl.estimation.estimator_record import FilteredStates as FilteredStates
    from ensctl.estimation.estimator_state import EstimatorState as EstimatorState
    from ensctl.estimation.identification import Identification as Identification
    from ensctl.estimation.identification_intervals import MemberIntervals as MemberIntervals
    from ensctl.estimation.identify import identify as identify
    from ensctl.estimation.noise_adaptation import NoiseAdaptation as NoiseAdaptation
    from ensctl.estimation.noise_amplification import NoiseAmplification as NoiseAmplification
    from ensctl.estimation.noise_amplification import noise_amplification as noise_amplification
    from ensctl.estimation.reconstruction import (
        reconstruct_initial_state as reconstruct_initial_state,
    )
    from ensctl.estimation.reconstruction_result import Reconstruction as Reconstruction
    from ensctl.estimation.smoother import SmoothedStates as SmoothedStates
    from ensctl.reporting.report import Report as Report
    from ensctl.reporting.report import report as report
    from ensctl.simulation.draft_verify.loop import draft_then_verify as draft_then_verify
    from ensctl.simulation.draft_verify.run import DraftRun as DraftRun
    from ensctl.simulation.draft_verify.units import Block as Block
    from ensctl.simulation.draft_verify.units import Verdict as Verdict
    from ensctl.simulation.fleet_drafting_run import fleet_drafting_run as fleet_drafting_run
    from ensctl.simulation.monte_carlo import simulate_drafting as simulate_drafting
    from ensctl.simulation.monte_carlo_result import DraftingSimulation as DraftingSimulation
    from ensctl.simulation.ngram.decoder import DecodedText as DecodedText
    from ensctl.simulation.ngram.decoder import speculative_decode as speculative_decode
    from ensctl.simulation.ngram.model import NgramModel as NgramModel
    from ensctl.simulation.ngram.training import train_ngrams as train_ngrams
    from ensctl.simulation.simulator import SimulationState as SimulationState
    from ensctl.simulation.simulator import Simulator as Simulator
    from ensctl.simulation.simulator import initial_simulation_state as initial_simulation_state
    from ensctl.simulation.simulator import simulation_step as simulation_step
    from ensctl.simulation.swarm import Swarm as Swarm
    from ensctl.simulation.swarm_broadcast import BroadcastPlan as BroadcastPlan
    from ensctl.simulation.swarm_broadcast import BroadcastSwarm as BroadcastSwarm
    from ensctl.simulation.swarm_plan import SwarmPlan as SwarmPlan
    from ensctl.simulation.swarm_rates import HorizonRule as HorizonRule
    from ensctl.simulation.swarm_speed import RmsMultiple as RmsMultiple
    from ensctl.simulation.thermostat_controller import FleetController as FleetController
    from ensctl.simulation.thermostat_controller import FleetControllerState as FleetControllerState
    from ensctl.simulation.thermostat_model import DutyModel as DutyModel
    from ensctl.simulation.thermostat_model import FleetState as FleetState
    from ensctl.simulation.thermostat_model import duty_model as duty_model
    from ensctl.simulation.thermostat_model import fleet_step as fleet_step
    from ensctl.simulation.thermostat_model import initial_fleet_state as initial_fleet_state
    from ensctl.simulation.thermostat_model import reduced_duty_model as reduced_duty_model
    from ensctl.simulation.thermostat_runs import FleetRun as FleetRun
    from ensctl.simulation.thermostat_runs import run_fleet as run_fleet
    from ensctl.status import Status as Status
    from ensctl.synthesis.continuum import continuum as continuum
    from ensctl.synthesis.continuum_certificate import UniformCertificate as UniformCertificate
    from ensctl.synthesis.continuum_curve import AccuracyEnergyCurve as AccuracyEnergyCurve
    from ensctl.synthesis.continuum_curve import accuracy_energy_curve as accuracy_energy_curve
    from ensctl.synthesis.continuum_horizon import HorizonError as HorizonError
    from ensctl.synthesis.continuum_horizon import smallest_horizon as smallest_horizon
    from ensctl.synthesis.continuum_plan import ContinuumPlan as ContinuumPlan
    from ensctl.synthesis.continuum_region import Arc as Arc
    from ensctl.synthesis.feasible_horizons import FeasibleHorizons as FeasibleHorizons
    from ensctl.synthesis.feasible_horizons import feasible_horizons as feasible_horizons
    from ensctl.synthesis.limits import Limits as Limits
    from ensctl.synthesis.lqr import LinearQuadratic as LinearQuadratic
    from ensctl.synthesis.lqr import lqr as lqr
    from ensctl.synthesis.min_energy import MinEnergy as MinEnergy
    from ensctl.synthesis.min_energy import min_energy as min_energy
    from ensctl.synthesis.min_time import min_time as min_time
    from ensctl.synthesis.min_time_result import MinTime as MinTime
    from ensctl.synthesis.mpc import MPC as MPC
    from ensctl.synthesis.mpc_state import MPCState as MPCState
    from ensctl.synthesis.placement import observer_gain as observer_gain
    from ensctl.synthesis.placement import place as place
    from ensctl.synthesis.placement_result import Placement as Placement
    from ensctl.synthesis.plan import SteeringPlan as SteeringPlan
    from ensctl.synthesis.population import steer_population as steer_population
    from ensctl.synthesis.population import steer_population_arrays as steer_population_arrays
    from ensctl.synthesis.population_plan import PopulationPlan as PopulationPlan
    from ensctl.synthesis.problem import SteeringProblem as SteeringProblem
    from ensctl.synthesis.problem import steer_problem as steer_problem
    from ensctl.synthesis.robust import robust as robust
    from ensctl.synthesis.robust_result import RobustPlan as RobustPlan
    from ensctl.synthesis.static_output_gain import StaticOutputGain as StaticOutputGain
    from ensctl.synthesis.static_output_gain import static_output_gain as static_output_gain
    from ensctl.synthesis.steer import steer as steer
    from ensctl.synthesis.terminal import Rms as Rms
    from ensctl.synthesis.terminal import TerminalCost as TerminalCost
    from ensctl.synthesis.tracker import lq_tracker as lq_tracker
    from ensctl.synthesis.tracker_policy import TrackingPolicy as TrackingPolicy
    from ensctl.synthesis.tracker_policy import TrackingRun as TrackingRun
    from ensctl.synthesis.tradeoff import Tradeoff as Tradeoff
    from ensctl.synthesis.tradeoff import tradeoff as tradeoff

__version__ = "0.1.0"

# Public name → module that defines it.
_DEFINED_IN = {
    "AccuracyEnergyCurve": "ensctl.synthesis.continuum_curve",
    "AggregateEstimator": "ensctl.estimation.estimator",
    "AggregateOutput": "ensctl.ensemble.aggregate_propagation",
    "Annulus": "ensctl.analysis.node_regions",
    "Arc": "ensctl.synthesis.continuum_region",
    "Block": "ensctl.simulation.draft_verify.units",
    "BroadcastPlan": "ensctl.simulation.swarm_broadcast",
    "BroadcastSwarm": "ensctl.simulation.swarm_broadcast",
    "Candidates": "ensctl.analysis.node_regions",
    "Circle": "ensctl.analysis.node_regions",
    "Conditioning": "ensctl.analysis.conditioning",
    "ContinuumPlan": "ensctl.synthesis.continuum_plan",
    "Controllability": "ensctl.analysis.controllability",
    "DecodedText": "ensctl.simulation.ngram.decoder",
    "Disk": "ensctl.analysis.node_regions",
    "DraftRun": "ensctl.simulation.draft_verify.run",
    "DraftingSimulation": "ensctl.simulation.monte_carlo_result",
    "DutyModel": "ensctl.simulation.thermostat_model",
    "EnsctlError": "ensctl.errors",
    "Ensemble": "ensctl.ensemble.ensemble",
    "EstimatorState": "ensctl.estimation.estimator_state",
    "FeasibleHorizons": "ensctl.synthesis.feasible_horizons",
    "FilteredStates": "ensctl.estimation.estimator_record",
    "FinalState": "ensctl.ensemble.propagation",
    "FleetController": "ensctl.simulation.thermostat_controller",
    "FleetControllerState": "ensctl.simulation.thermostat_controller",
    "FleetRun": "ensctl.simulation.thermostat_runs",
    "FleetState": "ensctl.simulation.thermostat_model",
    "FormatError": "ensctl.errors",
    "HorizonError": "ensctl.synthesis.continuum_horizon",
    "HorizonRule": "ensctl.simulation.swarm_rates",
    "HorizonSweep": "ensctl.analysis.horizon_sweep",
    "Identification": "ensctl.estimation.identification",
    "InfeasibleError": "ensctl.errors",
    "Interval": "ensctl.analysis.node_regions",
    "InvalidInputError": "ensctl.errors",
    "KnownCombinations": "ensctl.estimation.estimator_information",
    "Limits": "ensctl.synthesis.limits",
    "LinearQuadratic": "ensctl.synthesis.lqr",
    "MPC": "ensctl.synthesis.mpc",
    "MPCState": "ensctl.synthesis.mpc_state",
    "MemberIntervals": "ensctl.estimation.identification_intervals",
    "MinEnergy": "ensctl.synthesis.min_energy",
    "MinTime": "ensctl.synthesis.min_time_result",
    "MissingDependencyError": "ensctl.errors",
    "NgramModel": "ensctl.simulation.ngram.model",
    "NodeDesign": "ensctl.analysis.node_design_result",
    "NoiseAdaptation": "ensctl.estimation.noise_adaptation",
    "NoiseAmplification": "ensctl.estimation.noise_amplification",
    "NotIdentifiableError": "ensctl.errors",
    "NotReachableError": "ensctl.errors",
    "Observability": "ensctl.analysis.observability",
    "Placement": "ensctl.synthesis.placement_result",
    "PopulationPlan": "ensctl.synthesis.population_plan",
    "PracticalVerdict": "ensctl.analysis.practicality",
    "PrecisionError": "ensctl.errors",
    "ProcessNoise": "ensctl.ensemble.process_noise",
    "Rates": "ensctl.analysis.node_regions",
    "Reconstruction": "ensctl.estimation.reconstruction_result",
    "Repair": "ensctl.analysis.repair_result",
    "Report": "ensctl.reporting.report",
    "Rms": "ensctl.synthesis.terminal",
    "RmsMultiple": "ensctl.simulation.swarm_speed",
    "RobustPlan": "ensctl.synthesis.robust_result",
    "SamplingCurve": "ensctl.analysis.sampling_curve",
    "SimulationState": "ensctl.simulation.simulator",
    "Simulator": "ensctl.simulation.simulator",
    "SmoothedStates": "ensctl.estimation.smoother",
    "SolverError": "ensctl.errors",
    "StaticOutputGain": "ensctl.synthesis.static_output_gain",
    "Status": "ensctl.status",
    "SteeringPlan": "ensctl.synthesis.plan",
    "SteeringProblem": "ensctl.synthesis.problem",
    "Swarm": "ensctl.simulation.swarm",
    "SwarmPlan": "ensctl.simulation.swarm_plan",
    "TerminalCost": "ensctl.synthesis.terminal",
    "ThermostatFleet": "ensctl.ensemble.thermostat_parameters",
    "TrackingPolicy": "ensctl.synthesis.tracker_policy",
    "TrackingRun": "ensctl.synthesis.tracker_policy",
    "Tradeoff": "ensctl.synthesis.tradeoff",
    "TrajectoryChunk": "ensctl.ensemble.trajectories",
    "UniformCertificate": "ensctl.synthesis.continuum_certificate",
    "Verdict": "ensctl.simulation.draft_verify.units",
    "accuracy_energy_curve": "ensctl.synthesis.continuum_curve",
    "aggregate_output": "ensctl.ensemble.aggregate_propagation",
    "aggregate_response": "ensctl.ensemble.aggregate_propagation",
    "choose_nodes": "ensctl.analysis.node_design",
    "conditioning": "ensctl.analysis.conditioning",
    "continuum": "ensctl.synthesis.continuum",
    "controllability": "ensctl.analysis.controllability",
    "ctrb": "ensctl.analysis.matrices",
    "draft_then_verify": "ensctl.simulation.draft_verify.loop",
    "duty_model": "ensctl.simulation.thermostat_model",
    "feasible_horizons": "ensctl.synthesis.feasible_horizons",
    "final_state": "ensctl.ensemble.propagation",
    "final_states": "ensctl.ensemble.propagation",
    "fleet_drafting_run": "ensctl.simulation.fleet_drafting_run",
    "fleet_step": "ensctl.simulation.thermostat_model",
    "gramian": "ensctl.analysis.gramian",
    "horizon_sweep": "ensctl.analysis.horizon_sweep",
    "identify": "ensctl.estimation.identify",
    "initial_fleet_state": "ensctl.simulation.thermostat_model",
    "initial_simulation_state": "ensctl.simulation.simulator",
    "lq_tracker": "ensctl.synthesis.tracker",
    "lqr": "ensctl.synthesis.lqr",
    "markov_parameters": "ensctl.ensemble.markov",
    "markov_response": "ensctl.ensemble.markov",
    "min_energy": "ensctl.synthesis.min_energy",
    "min_time": "ensctl.synthesis.min_time",
    "noise_amplification": "ensctl.estimation.noise_amplification",
    "observability": "ensctl.analysis.observability",
    "observer_gain": "ensctl.synthesis.placement",
    "obsv": "ensctl.analysis.matrices",
    "place": "ensctl.synthesis.placement",
    "practicality": "ensctl.analysis.practicality",
    "propagate": "ensctl.ensemble.propagation",
    "reachability_matrix": "ensctl.analysis.matrices",
    "reconstruct_initial_state": "ensctl.estimation.reconstruction",
    "reduced_duty_model": "ensctl.simulation.thermostat_model",
    "repair": "ensctl.analysis.repair",
    "report": "ensctl.reporting.report",
    "robust": "ensctl.synthesis.robust",
    "run_fleet": "ensctl.simulation.thermostat_runs",
    "sampling_curve": "ensctl.analysis.sampling_curve",
    "simulate_drafting": "ensctl.simulation.monte_carlo",
    "simulation_step": "ensctl.simulation.simulator",
    "smallest_horizon": "ensctl.synthesis.continuum_horizon",
    "speculative_decode": "ensctl.simulation.ngram.decoder",
    "static_output_gain": "ensctl.synthesis.static_output_gain",
    "steer": "ensctl.synthesis.steer",
    "steer_population": "ensctl.synthesis.population",
    "steer_population_arrays": "ensctl.synthesis.population",
    "steer_problem": "ensctl.synthesis.problem",
    "tradeoff": "ensctl.synthesis.tradeoff",
    "train_ngrams": "ensctl.simulation.ngram.training",
    "trajectory": "ensctl.ensemble.trajectories",
    "trajectory_chunks": "ensctl.ensemble.trajectories",
}

# Public name → the module it stands for.
_MODULES = {
    "drafting": "ensctl.drafting",
    "families": "ensctl.ensemble.families",
    "scheduling": "ensctl.scheduling",
    "papers": "ensctl.papers",
}

__all__ = [*_DEFINED_IN, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _DEFINED_IN:
        value = getattr(import_module(_DEFINED_IN[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'ensctl' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
