"""Outcomes of steering in words."""

from __future__ import annotations

from ensctl.convex.problem import Objective
from ensctl.ensemble.ensemble import Ensemble
from ensctl.formatting import horizon_text, listed
from ensctl.synthesis.limits import Limits
from ensctl.synthesis.terminal import Exact, PerMember, Rms, Terminal


def optimal_message(objective: Objective, terminal: Terminal, error: float, floor: float) -> str:
    """What was found, and how closely the target is met."""
    what = {
        Objective.ENERGY: "least energy",
        Objective.FUEL: "least fuel",
        Objective.PEAK: "least peak",
    }[objective]
    if isinstance(terminal, Exact):
        met = f"the target is met to rounding ({error:.2g}; float64 may leave {floor:.2g})"
    elif isinstance(terminal, PerMember):
        met = f"every member ends within its tolerance (largest error {error:.3g})"
    elif isinstance(terminal, Rms):
        met = f"the RMS error is within {terminal.radius:g} (largest error {error:.3g})"
    else:
        met = f"terminal error {error:.3g} at a price of {terminal.weight:g} per square"
    return f"optimal, certified: {what}; {met}"


def infeasible_message(
    ens: Ensemble, horizon: int, limits: Limits, members: tuple[int, ...]
) -> str:
    """Which limits stand in the way of which members."""
    stated = repr(limits)[len("Limits(") : -1] or "no limits"
    who = ""
    if members:
        names = [ens.label(member) for member in members]
        who = f"; the proof weighs most on {listed(names)}"
    steps = horizon_text(horizon)
    return f"infeasible, proved: no input meets the target in {steps} with {stated}{who}"
