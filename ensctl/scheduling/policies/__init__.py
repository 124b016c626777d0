"""Policies that choose an arm in every cycle and learn from totals."""

from ensctl.scheduling.policies.arm_record import ArmRecord
from ensctl.scheduling.policies.arm_set import ArmSet, arm_set
from ensctl.scheduling.policies.fixed import Fixed, FixedState
from ensctl.scheduling.policies.hysteresis_switch import HysteresisSwitch, SwitchState
from ensctl.scheduling.policies.kf_ucb import KFUCB, KFUCBState
from ensctl.scheduling.policies.kl_ucb import KLUCB, PooledState
from ensctl.scheduling.policies.policy import Policy
from ensctl.scheduling.policies.thompson import Thompson
from ensctl.scheduling.policies.ucb import UCB, ArmsState

__all__ = [
    "KFUCB",
    "KLUCB",
    "UCB",
    "ArmRecord",
    "ArmSet",
    "ArmsState",
    "Fixed",
    "FixedState",
    "HysteresisSwitch",
    "KFUCBState",
    "Policy",
    "PooledState",
    "SwitchState",
    "Thompson",
    "arm_set",
]
