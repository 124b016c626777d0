"""Inputs and feedback: what to broadcast so that the population ends where it should."""

from ensctl.synthesis.feasible_horizons import FeasibleHorizons, feasible_horizons
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.min_energy import MinEnergy, min_energy
from ensctl.synthesis.min_time import min_time
from ensctl.synthesis.min_time_result import MinTime
from ensctl.synthesis.plan import SteeringPlan
from ensctl.synthesis.population import steer_population, steer_population_arrays
from ensctl.synthesis.population_plan import PopulationPlan
from ensctl.synthesis.problem import SteeringProblem, steer_problem
from ensctl.synthesis.robust import robust
from ensctl.synthesis.robust_result import RobustPlan
from ensctl.synthesis.steer import steer
from ensctl.synthesis.terminal import Exact, PerMember, Rms, TerminalCost
from ensctl.synthesis.tradeoff import Tradeoff, tradeoff

__all__ = [
    "Exact",
    "FeasibleHorizons",
    "Limits",
    "MinEnergy",
    "MinTime",
    "PerMember",
    "PopulationPlan",
    "Rms",
    "RobustPlan",
    "SteeringPlan",
    "SteeringProblem",
    "TerminalCost",
    "Tradeoff",
    "feasible_horizons",
    "min_energy",
    "min_time",
    "robust",
    "steer",
    "steer_population",
    "steer_population_arrays",
    "steer_problem",
    "tradeoff",
]
