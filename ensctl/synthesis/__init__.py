"""Inputs and feedback: what to broadcast so that the population ends where it should."""

from ensctl.synthesis.limits import Limits
from ensctl.synthesis.min_energy import MinEnergy, min_energy
from ensctl.synthesis.plan import SteeringPlan
from ensctl.synthesis.problem import SteeringProblem, steer_problem
from ensctl.synthesis.steer import steer
from ensctl.synthesis.terminal import Exact, PerMember, Rms, TerminalCost

__all__ = [
    "Exact",
    "Limits",
    "MinEnergy",
    "PerMember",
    "Rms",
    "SteeringPlan",
    "SteeringProblem",
    "TerminalCost",
    "min_energy",
    "steer",
    "steer_problem",
]
