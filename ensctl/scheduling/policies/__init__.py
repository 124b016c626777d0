"""Policies that choose an arm in every cycle and learn from totals."""

from ensctl.scheduling.policies.arm_record import ArmRecord
from ensctl.scheduling.policies.arm_set import ArmSet, arm_set
from ensctl.scheduling.policies.fixed import Fixed, FixedState
from ensctl.scheduling.policies.kf_ucb import KFUCB, KFUCBState
from ensctl.scheduling.policies.policy import Policy

__all__ = [
    "KFUCB",
    "ArmRecord",
    "ArmSet",
    "Fixed",
    "FixedState",
    "KFUCBState",
    "Policy",
    "arm_set",
]
