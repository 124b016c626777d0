"""Populations in motion: swarms of robots that hear one broadcast signal.

Results are plans with trajectories; drawing and animation are in :mod:`ensctl.plot`.
"""

from ensctl.simulation.simulator import (
    SimulationState,
    Simulator,
    initial_simulation_state,
    simulation_step,
)
from ensctl.simulation.swarm import Swarm
from ensctl.simulation.swarm_broadcast import BroadcastPlan, BroadcastSwarm
from ensctl.simulation.swarm_plan import SwarmPlan
from ensctl.simulation.swarm_rates import HorizonRule
from ensctl.simulation.swarm_speed import RmsMultiple

__all__ = [
    "BroadcastPlan",
    "BroadcastSwarm",
    "HorizonRule",
    "RmsMultiple",
    "SimulationState",
    "Simulator",
    "Swarm",
    "SwarmPlan",
    "initial_simulation_state",
    "simulation_step",
]
