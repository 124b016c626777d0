"""The result of looking for the best depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from ensctl.display import Plotted, Summarised
from ensctl.drafting.convention import Convention
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class DepthOptimum(Plotted, Summarised):
    """Result of :func:`optimal_depth`.

    Attributes
    ----------
    depth : int
        K*, the smallest depth of largest throughput; 0: do not draft.
    throughput : float
        T(K*) = E[L]/C, in units per stream and unit of cost.
    expected_length : float
        E[L] at K*, in units per cycle; 1 at K = 0.
    cycle : float
        C(K*), in ``unit``.
    speedup : float
        T(K*) over the throughput without drafts; at least 1.
    curve : (max_depth + 1,) array, read-only
        T(K) at K = 0 … max_depth.
    curve_low, curve_high : (max_depth + 1,) array or None
        T(K) at the ends of the interval of α, where α came with one.
    level : float or None
        Probability that the interval covers α.
    depth_low, depth_high : int or None
        Best depth at the ends of the interval of α.
    runner_up : int or None
        The depth of second largest throughput; None when there is only one.
    margin : float
        1 − T(runner-up)/T(K*): what the second best depth gives away; inf without one.
    stopping_depth : int
        What the stopping rule (extend while S(j) exceeds T* times the marginal cost) gives.
    exact_stopping : bool
        Whether the rule is exact here: marginal lengths do not rise and marginal costs do not fall.
    convention : Convention
        How the units of a cycle are counted.
    unit : str
        Unit of the costs.
    batch, context : float
        Load that the costs were taken at.
    reason : str
        Why this depth, in words.
    """

    depth: int
    throughput: float
    expected_length: float
    cycle: float
    speedup: float
    curve: Array
    curve_low: Array | None
    curve_high: Array | None
    level: float | None
    depth_low: int | None
    depth_high: int | None
    runner_up: int | None
    margin: float
    stopping_depth: int
    exact_stopping: bool
    convention: Convention
    unit: str
    batch: float
    context: float
    reason: str

    _plot_function: ClassVar[str] = "depth_curve"

    @property
    def pays(self) -> bool:
        """Whether some depth beats not drafting."""
        return self.depth > 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "depth_optimum",
            {
                "depth": self.depth,
                "throughput": self.throughput,
                "expected_length": self.expected_length,
                "cycle": self.cycle,
                "speedup": self.speedup,
                "curve": self.curve,
                "curve_low": self.curve_low,
                "curve_high": self.curve_high,
                "level": self.level,
                "depth_low": self.depth_low,
                "depth_high": self.depth_high,
                "runner_up": self.runner_up,
                "margin": self.margin,
                "stopping_depth": self.stopping_depth,
                "exact_stopping": self.exact_stopping,
                "convention": self.convention,
                "unit": self.unit,
                "batch": self.batch,
                "context": self.context,
                "reason": self.reason,
            },
        )

    def __str__(self) -> str:
        head = f"K = {self.depth}: {self.speedup:.4g} times plain decoding"
        lines = [
            head if self.pays else "K = 0: do not draft",
            f"{self.throughput:.6g} units per unit of cost ({self.convention.name.lower()}): "
            f"{self.expected_length:.6g} units in cycles of {self.cycle:.6g} "
            f"{self.unit}",
        ]
        if self.runner_up is not None:
            lines.append(f"next best K = {self.runner_up}, {self.margin:.2%} slower")
        if self.depth_low is not None and self.level is not None:
            lines.append(
                f"K = {self.depth_low} to {self.depth_high} over the {self.level:.0%} interval of α"
            )
        lines.append(self.reason)
        return "\n".join(lines)
