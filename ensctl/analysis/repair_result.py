"""The answer of :func:`ensctl.repair`: changes that bring a population to a target conditioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ensctl.display import Plotted
from ensctl.ensemble.ensemble import Ensemble
from ensctl.formatting import horizon_text, pow10, power_text
from ensctl.serialization import versioned


@dataclass(frozen=True, eq=False)
class RepairOption:
    """One kind of change, as small as it was found to be.

    Attributes
    ----------
    kind : str
        "move", "drop", "merge", "resample", "channel", "horizon" or "gains".
    change : str
        What to do, in words.
    amount : float
        Size of the change: largest |Δλ|, members dropped or merged away, factor of the sampling
        time, further channels, further steps, or largest factor of a gain.
    log10_cond : float
        log10 κ₂ after the change; inf where members are still locked.
    reached : bool
        Whether the target is met.
    ensemble : Ensemble
        The population after the change.
    horizon : int
        The number of steps after it.
    """

    kind: str
    change: str
    amount: float
    log10_cond: float
    reached: bool
    ensemble: Ensemble
    horizon: int

    @property
    def cond(self) -> float:
        """κ₂ after the change as float64; inf when it overflows."""
        return pow10(self.log10_cond)


@dataclass(frozen=True, eq=False)
class Repair(Plotted):
    """Result of :func:`repair`.

    Attributes
    ----------
    ensemble : Ensemble
        The population as it was.
    horizon : int
        Number of steps H.
    log10_cond : float
        log10 κ₂ before any change; inf where members are locked.
    log10_target : float
        log10 of the condition number asked for.
    options : tuple of RepairOption
        One for each kind of change allowed, in the order of ``allow``; none where the target is
        met already.
    """

    ensemble: Ensemble
    horizon: int
    log10_cond: float
    log10_target: float
    options: tuple[RepairOption, ...]

    _plot_function: ClassVar[str] = "repair"

    @property
    def needed(self) -> bool:
        """Whether the population misses the target as it is."""
        return self.log10_cond > self.log10_target

    @property
    def reached(self) -> tuple[RepairOption, ...]:
        """The options that meet the target."""
        return tuple(option for option in self.options if option.reached)

    def option(self, kind: str) -> RepairOption | None:
        """The option of a kind; None when it was not allowed or does not apply."""
        return next((option for option in self.options if option.kind == kind), None)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1; non-finite numbers as strings."""
        return versioned(
            "repair",
            {
                "horizon": self.horizon,
                "log10_cond": self.log10_cond,
                "log10_target": self.log10_target,
                "needed": self.needed,
                "options": [
                    {
                        "kind": option.kind,
                        "change": option.change,
                        "amount": option.amount,
                        "log10_cond": option.log10_cond,
                        "reached": option.reached,
                        "horizon": option.horizon,
                        "lam": option.ensemble.lam,
                        "b": option.ensemble.b,
                    }
                    for option in self.options
                ],
            },
        )

    def __str__(self) -> str:
        before = power_text(self.log10_cond)
        target = power_text(self.log10_target)
        steps = horizon_text(self.horizon)
        if not self.needed:
            return f"nothing to repair: κ₂ = {before} ≤ {target} in {steps}"
        ways = len(self.reached)
        verdict = "no change found reaches" if ways == 0 else f"{ways} of these changes reach"
        lines = [f"{verdict} κ₂ ≤ {target} (now {before}, {steps})"]
        for option in self.options:
            mark = "yes" if option.reached else "no "
            lines.append(f"  {mark} κ₂ = {power_text(option.log10_cond):<10} {option.change}")
        return "\n".join(lines)
