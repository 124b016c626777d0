"""Terminal equations in real numbers, ready for the optimiser: R u = d, R u − d in a region.

Real inputs meet the real and imaginary parts of complex equations, one of each conjugate pair;
complex inputs are stacked as (Re u, Im u).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.exact_rank import independent_rows
from ensctl.convex.regions import Ball, Quadratic, Region, Within, WithinDiscs, Zero
from ensctl.convex.rows import ExactRows, Rows
from ensctl.errors import NotReachableError, PrecisionError
from ensctl.synthesis.exact_rows import exact_rows
from ensctl.synthesis.steering_rows import SteeringRows, within_horizon
from ensctl.synthesis.terminal import Exact, PerMember, Rms, Terminal
from ensctl.synthesis.tolerance_reach import require_within_reach

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Rows this dependent on the others become limits beside the preconditioned equations.
_DEPENDENT = 1e-7
# Relative error granted to rows that are combinations of rounded ones.
_ROTATED = 1e-12
# Directions below this share of the largest one are invisible at any tolerance.
_INVISIBLE = 1e-13


@dataclass(frozen=True, eq=False)
class TerminalSystem:
    """What the final state has to satisfy.

    Attributes
    ----------
    rows : Rows
        Independent rows with the region of R u − d.
    others : tuple of Rows
        Further rows that depend on these to rounding, with their own regions.
    members : (n,) int
        The member behind each row of ``rows`` (−1 for a combination of several).
    """

    rows: Rows
    others: tuple[Rows, ...]
    members: Array


@dataclass(frozen=True, eq=False)
class _Parts:
    """Real equations made from rows: which row, which part, and how much it weighs in a sum."""

    rows: SteeringRows
    index: Array
    names: tuple[str, ...]
    matrix: Array
    target: Array
    rounding: float
    weight: Array

    @property
    def members(self) -> Array:
        return np.asarray(self.rows.members[self.index])

    def chosen(self, kept: Array) -> _Parts:
        """The equations of a mask, or of indices in that order."""
        return replace(
            self,
            index=self.index[kept],
            names=tuple(np.array(self.names, dtype=object)[kept].tolist()),
            matrix=self.matrix[kept],
            target=self.target[kept],
            weight=self.weight[kept],
        )

    def exact(self) -> Callable[[], ExactRows]:
        """A provider of these equations without rounding."""
        rows, index = self.rows, self.index
        return exact_rows(
            rows.lam[index],
            rows.gains[index],
            rows.row_target[index],
            rows.row_x0[index],
            rows.horizon,
            self.names,
        )

    def block(self, region: Region) -> Rows:
        """The equations as a block with an exact provider."""
        return Rows(self.matrix, self.target, region, self.rounding, self.exact())


def terminal_system(
    rows: SteeringRows, terminal: Terminal, objective_scale: float
) -> TerminalSystem:
    """The real terminal system of a task.

    Parameters
    ----------
    rows : SteeringRows
        Independent rows for :class:`Exact`, all rows otherwise.
    terminal : Terminal
        How closely the target is met.
    objective_scale : float
        What the optimiser minimises is this multiple of the user's objective (½ for the energy).

    Returns
    -------
    TerminalSystem
    """
    if not np.all(np.isfinite(rows.displacement)):
        raise PrecisionError(
            "the free motion λ^H x0 leaves float64 at this horizon; shorten it, or use min_energy"
        )
    if isinstance(terminal, Exact):
        parts = _real_parts(rows) if rows.real else _stacked_parts(within_horizon(rows))
        if rows.short and rows.real:
            parts = parts.chosen(_most_independent(parts.matrix, rows.verdict.rank))
        return TerminalSystem(parts.block(Zero()), (), parts.members)
    parts = _real_parts(rows, complete=True) if rows.real else _stacked_parts(rows)
    if isinstance(terminal, PerMember):
        return _per_member(rows, parts, terminal.radius)
    if isinstance(terminal, Rms):
        return _combined(parts, lambda rest: _ball(terminal.radius, rows.ensemble.size, rest))
    softness = 1.0 / (2.0 * objective_scale * terminal.weight)
    return _combined(parts, lambda rest: Quadratic(softness))


def _per_member(rows: SteeringRows, parts: _Parts, radius: Array) -> TerminalSystem:
    """Tolerances: real rows bound |e|, pairs (Re, Im) the modulus.

    Rows that are independent to rounding are preconditioned, each with the bound that its own
    tolerance implies; pairs, and rows that depend on others, stand beside them as limits.
    """
    bound = _row_radius(rows, radius)
    require_within_reach(rows, bound)
    parts = parts.chosen(np.any(rows.gains[parts.index] != 0, axis=1))
    copies = np.bincount(parts.index, minlength=rows.lam.size)[parts.index]
    alone, pairs = parts.chosen(copies == 1), parts.chosen(copies == 2)
    # The imaginary part of what a real row misses cannot be changed.
    fixed = np.imag(rows.displacement[alone.index])
    reach = np.sqrt(np.maximum(bound[alone.index] ** 2 - fixed**2, 0.0))
    if alone.index.size == 0 and _independent_to_rounding(pairs.matrix).all():
        return TerminalSystem(pairs.block(_discs(pairs, bound)), (), pairs.members)
    each = np.concatenate([reach, bound[pairs.index]])
    order = np.concatenate([np.flatnonzero(copies == 1), np.flatnonzero(copies == 2)])
    together = parts.chosen(order)
    kept = _independent_to_rounding(together.matrix)
    others = []
    if np.any(~kept[: reach.size]):
        outside = ~kept[: reach.size]
        others.append(alone.chosen(outside).block(Within(reach[outside])))
    if pairs.index.size:
        others.append(pairs.block(_discs(pairs, bound)))
    inside = together.chosen(kept)
    return TerminalSystem(inside.block(Within(each[kept])), tuple(others), inside.members)


def _discs(pairs: _Parts, bound: Array) -> Region:
    """Pairs stand as all real parts, then all imaginary parts."""
    return WithinDiscs(bound[pairs.index][: pairs.index.size // 2])


def _row_radius(rows: SteeringRows, radius: Array) -> Array:
    """The tolerance of each row; a row that stands for its conjugate too has the smaller one."""
    own = radius[rows.members]
    data = np.column_stack([rows.lam, rows.gains, rows.row_target, rows.row_x0])
    if not (rows.real and np.iscomplexobj(data)):
        return np.asarray(own)
    smallest = own.copy()
    for i in np.flatnonzero(np.any(np.imag(data) != 0, axis=1)):
        smallest[i] = own[np.all(data == np.conj(data[i]), axis=1)].min(initial=own[i])
    return np.asarray(smallest)


def _combined(parts: _Parts, region: Callable[[float], Region]) -> TerminalSystem:
    """Sums of squares: rotate the rows, drop directions that no input moves visibly."""
    fixed = 0.0
    if parts.rows.real:
        real = np.flatnonzero(np.bincount(parts.index, minlength=parts.rows.lam.size) == 1)
        fixed = float(np.linalg.norm(np.imag(parts.rows.displacement[real])))
    matrix = parts.matrix * parts.weight[:, None]
    target = parts.target * parts.weight
    left, sigma, right = np.linalg.svd(matrix, full_matrices=False)
    seen = sigma > _INVISIBLE * sigma[0] if sigma.size and sigma[0] > 0 else sigma > 0
    rotated = left[:, seen].T @ target
    rest = math.hypot(fixed, float(np.linalg.norm(target - left[:, seen] @ rotated)))
    reduced = sigma[seen, None] * right[seen]
    members = np.full(int(np.count_nonzero(seen)), -1)
    return TerminalSystem(Rows(reduced, rotated, region(rest), _ROTATED), (), members)


def _ball(radius: float, members: int, rest: float) -> Region:
    """‖e‖ ≤ τ √N less what no input moves."""
    total = radius * math.sqrt(members)
    if rest > total:
        raise NotReachableError(
            f"no input brings the RMS error below {rest / math.sqrt(members):.6g}: some "
            f"differences between members do not respond to it; take tol above that"
        )
    return Ball(math.sqrt(total * total - rest * rest))


def _real_parts(rows: SteeringRows, *, complete: bool = False) -> _Parts:
    """Real inputs: Re and Im of one equation of each conjugate pair; real equations as they are.

    At real λ with complex gains only independent parts are kept, unless ``complete`` asks for Re
    and Im of each (for tolerances, which need not be met by parts that depend on others).
    """
    real_lam = np.imag(rows.lam) == 0
    complex_gain = np.any(np.imag(rows.gains) != 0, axis=1)
    plain = np.flatnonzero(real_lam & ~complex_gain)
    mixed = np.flatnonzero(real_lam & complex_gain)
    lone = [] if complete else _independent_parts(rows, mixed)
    candidates = ~real_lam | complex_gain if complete else ~real_lam
    both = _one_of_each_pair(rows, np.flatnonzero(candidates))
    index = np.concatenate([plain, [k for k, _ in lone], both, both]).astype(int)
    names = (
        *("re" for _ in plain),
        *(part for _, part in lone),
        *("re" for _ in both),
        *("im" for _ in both),
    )
    # In a sum over members, a row counts once for each member it stands for.
    standing = np.bincount(rows.members, minlength=rows.ensemble.size)[rows.members[both]]
    mirrored = _has_mate(rows, both) & (standing == 1)
    pair = np.where(mirrored, math.sqrt(2.0), 1.0)
    weight = np.concatenate([np.ones(plain.size + len(lone)), pair, pair])
    return _parts(rows, rows.matrix(), index, names, weight)


def _one_of_each_pair(rows: SteeringRows, candidates: Array) -> Array:
    """Rows left when each row that is the conjugate of an earlier one is dropped, data and all."""
    data = np.column_stack([rows.lam, rows.gains, rows.row_target, rows.row_x0]) + 0.0
    waiting: dict[bytes, int] = {}
    kept = []
    for i in candidates.tolist():
        key = (np.conj(data[i]) + 0.0).tobytes()
        if waiting.get(key, 0):
            waiting[key] -= 1
            continue
        own = data[i].tobytes()
        waiting[own] = waiting.get(own, 0) + 1
        kept.append(i)
    return np.array(kept, dtype=int)


def _has_mate(rows: SteeringRows, chosen: Array) -> Array:
    data = np.column_stack([rows.lam, rows.gains, rows.row_target, rows.row_x0])
    return np.array(
        [bool(np.any(np.all(data == np.conj(data[i]), axis=1))) for i in chosen], dtype=bool
    )


def _independent_parts(rows: SteeringRows, mixed: Array) -> list[tuple[int, str]]:
    """Independent real and imaginary parts of the equations at real λ with complex gains."""
    found: list[tuple[int, str]] = []
    for value in np.unique(np.real(rows.lam[mixed])):
        group = mixed[np.real(rows.lam[mixed]) == value]
        stacked = np.vstack([rows.gains[group].real, rows.gains[group].imag])
        for k in independent_rows(stacked):
            found.append((int(group[k % group.size]), "re" if k < group.size else "im"))
    return found


def _stacked_parts(rows: SteeringRows) -> _Parts:
    """Complex inputs: every equation as a real and an imaginary one in (Re u, Im u)."""
    matrix = rows.matrix()
    count = rows.lam.size
    index = np.tile(np.arange(count), 2)
    names = ("stacked_re",) * count + ("stacked_im",) * count
    return _parts(rows, matrix, index, names, np.ones(2 * count))


def _parts(
    rows: SteeringRows, matrix: Array, index: Array, names: tuple[str, ...], weight: Array
) -> _Parts:
    real, imag = np.real(matrix), np.imag(matrix)
    choices = {
        "re": lambda i: real[i],
        "im": lambda i: imag[i],
        "stacked_re": lambda i: np.concatenate([real[i], -imag[i]]),
        "stacked_im": lambda i: np.concatenate([imag[i], real[i]]),
    }
    width = matrix.shape[1] * (2 if names and names[0].startswith("stacked") else 1)
    chosen = [choices[name](i) for i, name in zip(index, names, strict=True)]
    d = rows.displacement
    ends = [
        d[i].imag if name.endswith("im") else d[i].real
        for i, name in zip(index, names, strict=True)
    ]
    return _Parts(
        rows=rows,
        index=index,
        names=names,
        matrix=np.array(chosen).reshape(index.size, width),
        target=np.array(ends, dtype=float),
        rounding=_rounding(rows, matrix),
        weight=weight,
    )


def _rounding(rows: SteeringRows, matrix: Array) -> float:
    """Relative error of every real entry of the equations.

    A part that is zero is exactly so where λ^k and b lie on the axes (k = 0 among them); elsewhere
    nothing relative can be said.  Displacements are rounded part by part.
    """
    if not np.iscomplexobj(matrix):
        return 4.0 * _EPS
    axes = (np.real(rows.lam) == 0) | (np.imag(rows.lam) == 0)
    on_axis = np.all((np.real(rows.gains) == 0) | (np.imag(rows.gains) == 0), axis=1)
    powers = np.repeat(np.arange(rows.horizon)[::-1], rows.channels)
    exact = on_axis[:, None] & (axes[:, None] | (powers == 0)[None, :])
    size = np.abs(matrix)
    worst = 1.0
    for part in (np.real(matrix), np.imag(matrix)):
        zero = part == 0
        if np.any(zero & ~exact & (size > 0)):
            return math.inf
        ratio = np.where(zero, 1.0, size / np.where(zero, 1.0, np.abs(part)))
        worst = max(worst, float(np.max(ratio, initial=1.0)))
    return 8.0 * _EPS * worst


def _most_independent(matrix: Array, count: int) -> Array:
    """A mask of ``count`` rows, the most independent ones by pivoted QR."""
    from scipy.linalg import qr

    norms = np.linalg.norm(matrix, axis=1)
    scaled = matrix / np.where(norms > 0, norms, 1.0)[:, None]
    order = qr(scaled.T, mode="r", pivoting=True)[1]
    kept = np.zeros(matrix.shape[0], dtype=bool)
    kept[order[:count]] = True
    return kept


def _independent_to_rounding(matrix: Array) -> Array:
    from scipy.linalg import qr

    norms = np.linalg.norm(matrix, axis=1)
    safe = np.where(norms > 0, norms, 1.0)
    upper, order = qr((matrix / safe[:, None]).T, mode="r", pivoting=True)[:2]
    diagonal = np.abs(np.diag(upper[: min(upper.shape)]))
    kept = np.zeros(matrix.shape[0], dtype=bool)
    kept[order[: diagonal.size][diagonal > _DEPENDENT]] = True
    return kept & (norms > 0)
