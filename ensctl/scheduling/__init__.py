"""Which drafter, how deep: plans from the throughput algebra, and policies that see only totals.

One arm, a drafter and a depth or off, is broadcast to all streams in every cycle; what comes back
is the total of accepted units and the time it took.
"""

from ensctl.drafting.drafter import Drafter
from ensctl.scheduling import policies
from ensctl.scheduling.allocate import allocate
from ensctl.scheduling.allocation import Allocation, ConstraintPrice, SingleArm
from ensctl.scheduling.allocation_switching import Switching
from ensctl.scheduling.arms import Arms, arms_from_arrays, make_arms
from ensctl.scheduling.constraints import (
    MeanBudget,
    MeanCycleCap,
    RegionFloor,
    ShareFloor,
    TimeShareFloor,
)
from ensctl.scheduling.drift_tracker import DriftState, DriftTracker
from ensctl.scheduling.engine_schedules import DepthRange
from ensctl.scheduling.engine_schedules_tensorrt import KeyReading
from ensctl.scheduling.hysteresis import SwitchPoint
from ensctl.scheduling.identifiability import (
    IdentifiabilityFloor,
    PollingVerdict,
    identifiability_floor,
    polling_or_mixing,
)
from ensctl.scheduling.load_walk import LoadWalk
from ensctl.scheduling.plan_table_benchmark import plan_from_benchmark
from ensctl.scheduling.plan_table_choice import LOADED_OFF_OVERHEAD, plan_table
from ensctl.scheduling.plan_table_degradation import Degradation
from ensctl.scheduling.plan_table_result import DrafterScore, PlanTable
from ensctl.scheduling.position_traces import PositionTraces, position_traces, read_position_traces
from ensctl.scheduling.receding_horizon import CoupledBudget, HorizonSchedule, schedule_horizon
from ensctl.scheduling.regions import Region
from ensctl.scheduling.replay_oracles import Oracles, replay_oracles
from ensctl.scheduling.replay_policy import Gain, ReplayResult, replay
from ensctl.scheduling.token_chain import fixture_arms, fixture_costs, token_chain
from ensctl.scheduling.uncertainty import AcceptanceEllipsoid, LengthEllipsoid, LowerAcceptance

__all__ = [
    "LOADED_OFF_OVERHEAD",
    "AcceptanceEllipsoid",
    "Allocation",
    "Arms",
    "ConstraintPrice",
    "CoupledBudget",
    "Degradation",
    "DepthRange",
    "Drafter",
    "DrafterScore",
    "DriftState",
    "DriftTracker",
    "Gain",
    "HorizonSchedule",
    "IdentifiabilityFloor",
    "KeyReading",
    "LengthEllipsoid",
    "LoadWalk",
    "LowerAcceptance",
    "MeanBudget",
    "MeanCycleCap",
    "Oracles",
    "PlanTable",
    "PollingVerdict",
    "PositionTraces",
    "Region",
    "RegionFloor",
    "ReplayResult",
    "ShareFloor",
    "SingleArm",
    "SwitchPoint",
    "Switching",
    "TimeShareFloor",
    "allocate",
    "arms_from_arrays",
    "fixture_arms",
    "fixture_costs",
    "identifiability_floor",
    "make_arms",
    "plan_from_benchmark",
    "plan_table",
    "policies",
    "polling_or_mixing",
    "position_traces",
    "read_position_traces",
    "replay",
    "replay_oracles",
    "schedule_horizon",
    "token_chain",
]
