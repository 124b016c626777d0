"""Which drafter, how deep: plans from the throughput algebra, and policies that see only totals.

One arm, a drafter and a depth or off, is broadcast to all streams in every cycle; what comes back
is the total of accepted units and the time it took.
"""

from ensctl.drafting.drafter import Drafter
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
from ensctl.scheduling.identifiability import (
    IdentifiabilityFloor,
    PollingVerdict,
    identifiability_floor,
    polling_or_mixing,
)
from ensctl.scheduling.receding_horizon import CoupledBudget, HorizonSchedule, schedule_horizon
from ensctl.scheduling.regions import Region
from ensctl.scheduling.uncertainty import AcceptanceEllipsoid, LengthEllipsoid, LowerAcceptance

__all__ = [
    "AcceptanceEllipsoid",
    "Allocation",
    "Arms",
    "ConstraintPrice",
    "CoupledBudget",
    "Drafter",
    "DriftState",
    "DriftTracker",
    "HorizonSchedule",
    "IdentifiabilityFloor",
    "LengthEllipsoid",
    "LowerAcceptance",
    "MeanBudget",
    "MeanCycleCap",
    "PollingVerdict",
    "Region",
    "RegionFloor",
    "ShareFloor",
    "SingleArm",
    "Switching",
    "TimeShareFloor",
    "allocate",
    "arms_from_arrays",
    "identifiability_floor",
    "make_arms",
    "polling_or_mixing",
    "schedule_horizon",
]
