"""Draft, then verify: one loop for tokens, control inputs and any other unit."""

from ensctl.simulation.draft_verify.acceptance_rules import (
    AcceptanceRule,
    OptimalCoupling,
    RecursiveRejectionSampling,
    SpeculativeSampling,
)
from ensctl.simulation.draft_verify.depth import PlannedDepth, PolicyDepth
from ensctl.simulation.draft_verify.loop import draft_then_verify
from ensctl.simulation.draft_verify.run import DraftRun
from ensctl.simulation.draft_verify.units import Block, Proposer, Verdict, Verifier

__all__ = [
    "AcceptanceRule",
    "Block",
    "DraftRun",
    "OptimalCoupling",
    "PlannedDepth",
    "PolicyDepth",
    "Proposer",
    "RecursiveRejectionSampling",
    "SpeculativeSampling",
    "Verdict",
    "Verifier",
    "draft_then_verify",
]
