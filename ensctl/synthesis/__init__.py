"""Inputs and feedback: what to broadcast so that the population ends where it should."""

from ensctl.synthesis.continuum import continuum
from ensctl.synthesis.continuum_certificate import UniformCertificate
from ensctl.synthesis.continuum_curve import AccuracyEnergyCurve, accuracy_energy_curve
from ensctl.synthesis.continuum_horizon import HorizonError, smallest_horizon
from ensctl.synthesis.continuum_plan import ContinuumPlan
from ensctl.synthesis.continuum_region import Arc
from ensctl.synthesis.feasible_horizons import FeasibleHorizons, feasible_horizons
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.lqr import LinearQuadratic, lqr
from ensctl.synthesis.min_energy import MinEnergy, min_energy
from ensctl.synthesis.min_time import min_time
from ensctl.synthesis.min_time_result import MinTime
from ensctl.synthesis.mpc import MPC
from ensctl.synthesis.mpc_state import MPCState
from ensctl.synthesis.placement import observer_gain, place
from ensctl.synthesis.placement_result import Placement
from ensctl.synthesis.plan import SteeringPlan
from ensctl.synthesis.population import steer_population, steer_population_arrays
from ensctl.synthesis.population_plan import PopulationPlan
from ensctl.synthesis.problem import SteeringProblem, steer_problem
from ensctl.synthesis.robust import robust
from ensctl.synthesis.robust_result import RobustPlan
from ensctl.synthesis.static_output_gain import StaticOutputGain, static_output_gain
from ensctl.synthesis.steer import steer
from ensctl.synthesis.terminal import Exact, PerMember, Rms, TerminalCost
from ensctl.synthesis.tracker import lq_tracker
from ensctl.synthesis.tracker_policy import TrackingPolicy, TrackingRun
from ensctl.synthesis.tradeoff import Tradeoff, tradeoff

__all__ = [
    "MPC",
    "AccuracyEnergyCurve",
    "Arc",
    "ContinuumPlan",
    "Exact",
    "FeasibleHorizons",
    "HorizonError",
    "Limits",
    "LinearQuadratic",
    "MPCState",
    "MinEnergy",
    "MinTime",
    "PerMember",
    "Placement",
    "PopulationPlan",
    "Rms",
    "RobustPlan",
    "StaticOutputGain",
    "SteeringPlan",
    "SteeringProblem",
    "TerminalCost",
    "TrackingPolicy",
    "TrackingRun",
    "Tradeoff",
    "UniformCertificate",
    "accuracy_energy_curve",
    "continuum",
    "feasible_horizons",
    "lq_tracker",
    "lqr",
    "min_energy",
    "min_time",
    "observer_gain",
    "place",
    "robust",
    "smallest_horizon",
    "static_output_gain",
    "steer",
    "steer_population",
    "steer_population_arrays",
    "steer_problem",
    "tradeoff",
]
