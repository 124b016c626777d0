"""What no set of nodes in a region can beat: the theorem that applies to a design task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_regions import Annulus, Candidates, Circle, Interval, Rates, Region
from ensctl.analysis.node_search import Task
from ensctl.analysis.node_starts import plain
from ensctl.vandermonde.bounds.practical_directions import beckermann_townsend_condition
from ensctl.vandermonde.bounds.real_nodes import (
    beckermann_nonnegative,
    beckermann_real,
    beckermann_row_scaled,
    gautschi_inglese,
)

Array = NDArray[Any]

_LN10 = math.log(10.0)


@dataclass(frozen=True)
class DesignBound:
    """A bound of the criterion over all sets that the region allows.

    Attributes
    ----------
    name : str
        Short name.
    log10_value : float
        log10 of the bound (of det W, of the gap, of κ or of the energy).
    condition : str
        For which sets it holds.
    source : str
        Where it is proved.
    """

    name: str
    log10_value: float
    condition: str
    source: str


def design_bound(task: Task, lam: Array) -> DesignBound | None:
    """The tightest bound known for the task; ``lam`` shows which kind of set came out."""
    found: list[DesignBound] = []
    if task.criterion == "gap":
        return _gap_bound(task)
    if task.criterion == "condition":
        found = _condition_bounds(task)
    elif task.criterion == "condition_inf":
        found = _norm_bounds(task, lam)
    else:
        found = _energy_bounds(task)
    if not found:
        return None
    best = min if task.criterion == "log_determinant" else max
    return best(found, key=lambda bound: bound.log10_value)


def largest_modulus(region: Region) -> float:
    """The supremum of |λ| over the region."""
    inside = plain(region)
    if isinstance(region, Rates):
        return math.exp(min(700.0, largest_rate(region) * region.dt))
    if isinstance(inside, Interval):
        return max(abs(inside.low), abs(inside.high))
    if isinstance(inside, Candidates):
        return float(np.max(np.abs(inside.values)))
    radius = inside.outer if isinstance(inside, Annulus) else inside.radius
    return abs(inside.center) + radius


def largest_rate(region: Rates) -> float:
    """The supremum of Re a over the rates."""
    inside = region.region
    if isinstance(inside, Interval):
        return inside.high
    if isinstance(inside, Candidates):
        return float(np.max(inside.values.real))
    radius = inside.outer if isinstance(inside, Annulus) else inside.radius
    return float(np.real(inside.center)) + radius


def _is_real(task: Task) -> bool:
    inside = plain(task.region)
    real = isinstance(inside, Interval) or (
        isinstance(inside, Candidates) and not np.iscomplexobj(inside.values)
    )
    return real and not np.iscomplexobj(task.fixed)


def _is_nonnegative(task: Task) -> bool:
    inside = plain(task.region)
    if isinstance(task.region, Rates):
        return _is_real(task)
    if isinstance(inside, Interval):
        return inside.low >= 0
    return isinstance(inside, Candidates) and _is_real(task) and bool(np.all(inside.values >= 0))


def _equal_gains(task: Task) -> bool:
    plain_gains = bool(np.all(task.gains == task.gains[0])) and not task.optimise_gains
    return plain_gains and not isinstance(task.region, Rates)


def _condition_bounds(task: Task) -> list[DesignBound]:
    count, steps = task.count, task.horizon
    found: list[DesignBound] = []
    if steps == count and count > 1:
        found += _column_bound(task)
        if _is_real(task):
            found += _beckermann(task)
    elif steps != math.inf and _is_real(task) and count > 1:
        nodes = np.arange(1.0, count + 1.0)
        bound = beckermann_townsend_condition(nodes, 1.0, int(steps))
        found.append(
            DesignBound(bound.name, max(0.0, bound.log10_value), bound.condition, bound.source)
        )
    if not found:
        found.append(DesignBound("κ₂ ≥ 1", 0.0, "every matrix", "definition"))
    return found


def _beckermann(task: Task) -> list[DesignBound]:
    # The bounds depend on the number and the kind of nodes only: any set of the kind will do.
    count = task.count
    nodes = np.arange(1.0, count + 1.0)
    bounds = []
    if _equal_gains(task):
        bounds.append(beckermann_real(nodes))
        if _is_nonnegative(task):
            bounds.append(beckermann_nonnegative(nodes))
    if count >= 3:
        bounds.append(beckermann_row_scaled(nodes, 1.0, count))
    return [
        DesignBound(bound.name, bound.log10_value, bound.condition, bound.source)
        for bound in bounds
        if bound.log10_value > 0
    ]


def _column_bound(task: Task) -> list[DesignBound]:
    """κ2 ≥ ‖first column‖/‖last column‖ ≥ ρ^{−(N−1)} where |λ| ≤ ρ < 1, whatever b is."""
    size = largest_modulus(task.region)
    if task.fixed.size and not isinstance(task.region, Rates):
        size = max(size, float(np.max(np.abs(task.fixed))))
    if not size < 1:
        return []
    value = -(task.count - 1) * math.log10(size) if size > 0 else math.inf
    return [
        DesignBound(
            "column norms",
            value,
            f"|λ| ≤ {size:.6g}, H = N, any b",
            "σ_min ≤ any column norm ≤ σ_max; attained by equispaced points of a circle",
        )
    ]


def _norm_bounds(task: Task, lam: Array) -> list[DesignBound]:
    symmetric = bool(
        not np.iscomplexobj(lam) and np.allclose(np.sort(lam), -np.sort(lam)[::-1], atol=1e-9)
    )
    if not (_equal_gains(task) and task.count >= 2 and (_is_nonnegative(task) or symmetric)):
        return []
    half = np.arange(1.0, task.count // 2 + 1.0)
    nodes = np.concatenate([-half[::-1], np.zeros(task.count % 2), half])
    bound = gautschi_inglese(np.arange(task.count) * 1.0 if _is_nonnegative(task) else nodes)
    return [DesignBound(bound.name, bound.log10_value, bound.condition, bound.source)]


def _energy_bounds(task: Task) -> list[DesignBound]:
    """Σ σ² = Σ ‖rows‖² bounds every mean of 1/σ² from below, and det W from above (Hadamard)."""
    log_row = _log_largest_row(task.region, task.horizon)
    log_power = 2.0 * np.log(task.gains) + log_row
    total = float(np.logaddexp.reduce(log_power))
    source = "σ_1² + … + σ_N² = Σ‖row‖² and the inequality of the means"
    if task.criterion == "log_determinant":
        mean = task.count * (total - math.log(task.count))
        value = mean if task.optimise_gains else float(log_power.sum())
        return [DesignBound("Hadamard", value / _LN10, "any set of the region", source)]
    value = math.log(task.count) - total
    found = [DesignBound("trace of the Gramian", value / _LN10, "any set of the region", source)]
    if task.criterion == "worst_energy" and task.horizon == task.count and _is_real(task):
        # σ_min = σ_max/κ2 and σ_max² ≤ Σ‖row‖².
        found += [
            DesignBound(
                f"{bound.name}, and trace",
                2.0 * bound.log10_value - total / _LN10,
                bound.condition,
                bound.source,
            )
            for bound in _beckermann(task)
        ]
    return found


def _log_largest_row(region: Region, horizon: int | float) -> float:
    """log of the largest (|b|/|g|)² Σ_{j<H} |λ|^{2j} in the region."""
    size = largest_modulus(region)
    log_power = 0.0
    if isinstance(region, Rates):
        # |(e^z − 1)/z| ≤ (e^x − 1)/x with x = Re z, which grows with x.
        z = largest_rate(region) * region.dt
        log_power = 2.0 * math.log(region.dt * (math.expm1(z) / z if z else 1.0))
    squared = size * size
    if horizon == math.inf:
        return log_power - math.log1p(-squared)
    steps = int(horizon)
    if squared == 0.0:
        return log_power
    powers = np.arange(steps) * math.log(squared)
    return log_power + float(np.logaddexp.reduce(powers))


def _gap_bound(task: Task) -> DesignBound | None:
    """The best gap of an interval and of a centred circle exactly, of a disk by areas."""
    count, region = task.count, task.region
    inside = plain(region)
    if isinstance(region, Rates) and not isinstance(inside, Interval):
        return None
    if isinstance(inside, Interval):
        ends = np.array([inside.low, inside.high])
        if isinstance(region, Rates):
            ends = np.exp(ends * region.dt)
        width = math.atanh(float(ends[1])) - math.atanh(float(ends[0]))
        value = math.tanh(width / (count - 1))
        return _gap("hyperbolic length", value, "any N points: the gaps add up along the interval")
    if isinstance(inside, Circle) and inside.center == 0:
        turn = np.exp(2j * np.pi / count)
        value = abs(inside.radius * (1 - turn) / (1 - inside.radius**2 * turn))
        return _gap("pigeonhole", value, "some arc is at most 2π/N")
    if isinstance(inside, Candidates):
        return None
    radius = inside.outer if isinstance(inside, Annulus) else inside.radius
    if inside.center != 0:
        return None
    return _gap("area of hyperbolic disks", _packing(count, radius), "disks of half the gap")


def _packing(count: int, radius: float) -> float:
    """Largest ρ with N sinh²(d/4) ≤ sinh²((R + d/2)/2), ρ = tanh(d/2), R = 2 artanh(radius)."""
    outer = 2.0 * math.atanh(radius)
    low, high = 0.0, 4.0 * outer + 1.0
    for _ in range(80):
        d = 0.5 * (low + high)
        fits = count * math.sinh(d / 4) ** 2 <= math.sinh((outer + d / 2) / 2) ** 2
        low, high = (d, high) if fits else (low, d)
    return min(1.0, math.tanh(high / 2))


def _gap(name: str, value: float, condition: str) -> DesignBound:
    return DesignBound(name, math.log10(value), condition, "the pseudo-hyperbolic metric")
