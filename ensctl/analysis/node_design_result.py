"""The answer of :func:`ensctl.choose_nodes`: the nodes, and how good they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_bounds import DesignBound
from ensctl.analysis.node_criteria import LARGER_IS_BETTER, MEANING
from ensctl.analysis.node_regions import Region
from ensctl.analysis.node_tolerance import NodeTolerance
from ensctl.display import Documented, Plotted
from ensctl.ensemble.ensemble import Ensemble
from ensctl.formatting import horizon_text, pow10, power_text
from ensctl.serialization import versioned

Array = NDArray[Any]

_LN10 = math.log(10.0)
_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Comparison:
    """The criterion of another set of the same size on the same region.

    Attributes
    ----------
    name : str
        Which set.
    lam : (N,)
        Its λ, fixed members first.
    log10_value : float
        log10 of its criterion; ±inf where two members coincide.
    """

    name: str
    lam: Array
    log10_value: float


@dataclass(frozen=True, eq=False)
class NodeDesign(Plotted, Documented):
    """Result of :func:`choose_nodes`.

    Attributes
    ----------
    lam : (N,) float64 or complex128
        The nodes: fixed members first, as given, then the chosen ones in ascending order (of real
        part, then imaginary part).
    b : (N,) float64 or complex128
        Input gains of the members; for continuous rates those of the zero-order hold.
    rates : (N,) or None
        The continuous rates, where rates were chosen.
    gains : (N,) float64 or complex128
        Gains as given or as chosen (continuous ones for rates).
    fixed : int
        Number of fixed members.
    criterion : str
        What was optimised.
    horizon : int or math.inf
        Number of steps H.
    region : Region
        Where λ (or the rates) had to lie.
    log10_value : float
        log10 of the criterion (of det W for "log_determinant").
    comparisons : tuple of Comparison
        The obvious choices: equispaced, Chebyshev, random.
    bound : DesignBound or None
        What no set of the region can beat, where a theorem is known.
    tolerance : NodeTolerance
        What errors of λ do to the criterion.
    symmetry : str
        "mirror" (−λ is there with λ), "conjugate" (λ̄ is) or "none".
    method : str
        How the set was found and what that proves.
    """

    lam: Array
    b: Array
    rates: Array | None
    gains: Array
    fixed: int
    criterion: str
    horizon: int | float
    region: Region
    log10_value: float
    comparisons: tuple[Comparison, ...]
    bound: DesignBound | None
    tolerance: NodeTolerance
    symmetry: str
    method: str

    _plot_function: ClassVar[str] = "node_design"
    _html_function: ClassVar[str] = "node_design_html"

    @property
    def value(self) -> float:
        """The criterion as float64: κ, an energy, the gap, or ln det W for "log_determinant"."""
        if self.criterion == "log_determinant":
            return self.log10_value * _LN10
        return pow10(self.log10_value)

    @property
    def log10_to_bound(self) -> float:
        """log10 of the factor between the criterion and its bound, ≥ 0; NaN without a bound."""
        if self.bound is None:
            return math.nan
        return abs(self.log10_value - self.bound.log10_value)

    @property
    def ensemble(self) -> Ensemble:
        """The members as an :class:`~ensctl.Ensemble`."""
        return Ensemble(self.lam, self.b)

    def log10_gain_over(self, comparison: Comparison) -> float:
        """log10 of the factor by which this set is better than another one."""
        difference = comparison.log10_value - self.log10_value
        return -difference if self.criterion in LARGER_IS_BETTER else difference

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1; non-finite numbers as strings."""
        return versioned(
            "node_design",
            {
                "lam": self.lam,
                "b": self.b,
                "rates": self.rates,
                "gains": self.gains,
                "fixed": self.fixed,
                "criterion": self.criterion,
                "horizon": self.horizon,
                "region": str(self.region),
                "value": self.value,
                "log10_value": self.log10_value,
                "comparisons": [
                    {"name": one.name, "lam": one.lam, "log10_value": one.log10_value}
                    for one in self.comparisons
                ],
                "bound": self.bound,
                "log10_to_bound": self.log10_to_bound,
                "tolerance": self.tolerance,
                "symmetry": self.symmetry,
                "method": self.method,
            },
        )

    def value_text(self, log10_value: float) -> str:
        """A value of the criterion as text."""
        if self.criterion == "log_determinant":
            return f"{log10_value * _LN10:.6g}"
        if self.criterion == "gap":
            return f"{pow10(log10_value):.6g}"
        return power_text(log10_value)

    def __str__(self) -> str:
        names = [f"{z:.6g}" for z in self.lam.tolist()]
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        others = ", ".join(
            f"{one.name} {self.value_text(one.log10_value)}" for one in self.comparisons
        )
        lines = [
            f"{self.lam.size} λ in the {_named(self.region)}: {MEANING[self.criterion]} "
            f"{self.value_text(self.log10_value)}",
            f"horizon     {horizon_text(self.horizon)}",
            f"λ           {shown}",
            f"instead of  {others}",
        ]
        if np.unique(self.gains).size > 1:
            gains = [f"{z:.4g}" for z in self.gains.tolist()]
            lines.append(f"gains       {', '.join(gains[:_SHOWN])}")
        if self.bound is not None:
            away = (
                f"{self.log10_to_bound * _LN10:.4g} away"
                if self.criterion == "log_determinant"
                else f"off by a factor {pow10(self.log10_to_bound):.4g}"
            )
            lines.append(
                f"bound       {self.value_text(self.bound.log10_value)} ({self.bound.name}); {away}"
            )
        lines.append(f"tolerance   10 % worse when every λ is off by {self.tolerance.allowed:.2g}")
        lines.append(f"method      {self.method}")
        return "\n".join(lines)


def _named(region: Region) -> str:
    text = str(region)
    return f"interval {text}" if text[0] in "[(" else text
