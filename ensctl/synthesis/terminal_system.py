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
from ensctl.errors import NotReachableError
from ensctl.formatting import listed
from ensctl.synthesis.exact_rows import exact_rows
from ensctl.synthesis.steering_rows import SteeringRows
from ensctl.synthesis.terminal import Exact, PerMember, Rms, Terminal

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

    index: Array
    names: tuple[str, ...]
    matrix: Array
    target: Array
    rounding: float
    weight: Array


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
    parts = _real_parts(rows) if rows.real else _stacked_parts(rows)
    if isinstance(terminal, Exact):
        provider = exact_rows(
            rows.lam[parts.index],
            rows.gains[parts.index],
            rows.row_target[parts.index],
            rows.row_x0[parts.index],
            rows.horizon,
            parts.names,
        )
        return _all_in(rows, parts, Zero(), provider)
    if isinstance(terminal, PerMember):
        return _per_member(rows, _moving(rows, parts, terminal.radius), terminal.radius)
    if isinstance(terminal, Rms):
        return _combined(parts, lambda rest: _ball(terminal.radius, rows.ensemble.size, rest))
    softness = 1.0 / (2.0 * objective_scale * terminal.weight)
    return _combined(parts, lambda rest: Quadratic(softness))


def _all_in(
    rows: SteeringRows, parts: _Parts, region: Region, exact: Callable[[], ExactRows] | None
) -> TerminalSystem:
    block = Rows(parts.matrix, parts.target, region, parts.rounding, exact)
    return TerminalSystem(block, (), rows.members[parts.index])


def _moving(rows: SteeringRows, parts: _Parts, radius: Array) -> _Parts:
    """Leave out rows that no input moves, if where they drift is close enough."""
    moves = np.any(rows.gains[parts.index] != 0, axis=1)
    off = ~moves & (np.abs(rows.displacement) > radius[rows.members])[parts.index]
    if np.any(off):
        members = tuple(int(k) for k in np.unique(rows.members[parts.index[off]]))
        raise NotReachableError(
            f"members {listed(members)} cannot be moved (b = 0) and drift further from the target "
            f"than tol allows; widen tol for them, or give them a gain",
            members,
        )
    if np.all(moves):
        return parts
    return replace(
        parts,
        index=parts.index[moves],
        names=tuple(name for name, kept in zip(parts.names, moves, strict=True) if kept),
        matrix=parts.matrix[moves],
        target=parts.target[moves],
        weight=parts.weight[moves],
    )


def _per_member(rows: SteeringRows, parts: _Parts, radius: Array) -> TerminalSystem:
    """Tolerances: real rows bound |e|, complex ones the modulus of (Re e, Im e)."""
    blocks: list[tuple[Rows, Array]] = []
    bound = radius[rows.members[parts.index]]
    alone = np.array([_is_alone(parts, k) for k in range(parts.index.size)], dtype=bool)
    if np.any(alone):
        block = Rows(parts.matrix[alone], parts.target[alone], Within(bound[alone]), parts.rounding)
        blocks.append((block, rows.members[parts.index[alone]]))
    if np.any(~alone):
        # Pairs stand as all real parts, then all imaginary parts.
        block = Rows(
            parts.matrix[~alone],
            parts.target[~alone],
            WithinDiscs(bound[~alone][: np.count_nonzero(~alone) // 2]),
            parts.rounding,
        )
        blocks.append((block, rows.members[parts.index[~alone]]))
    (first, members), rest = blocks[0], [block for block, _ in blocks[1:]]
    return _split_dependent(first, members, rest)


def _split_dependent(block: Rows, members: Array, others: list[Rows]) -> TerminalSystem:
    """Keep rows that are independent to rounding; the others become limits."""
    kept = _independent_to_rounding(block.matrix)
    if kept.all():
        return TerminalSystem(block, tuple(others), members)
    if isinstance(block.region, WithinDiscs):
        half = block.count // 2
        both = kept[:half] & kept[half:]
        kept = np.tile(both, 2)
        inside: Region = WithinDiscs(block.region.radius[both])
        outside: Region = WithinDiscs(block.region.radius[~both])
    else:
        region = block.region
        radius = region.radius if isinstance(region, Within) else np.zeros(block.count)
        inside, outside = Within(radius[kept]), Within(radius[~kept])
    rows = Rows(block.matrix[kept], block.target[kept], inside, block.rounding)
    rest = Rows(block.matrix[~kept], block.target[~kept], outside, block.rounding)
    return TerminalSystem(rows, (*others, rest), members[kept])


def _combined(parts: _Parts, region: Callable[[float], Region]) -> TerminalSystem:
    """Sums of squares: rotate the rows, drop directions that no input moves visibly."""
    matrix = parts.matrix * parts.weight[:, None]
    target = parts.target * parts.weight
    left, sigma, right = np.linalg.svd(matrix, full_matrices=False)
    seen = sigma > _INVISIBLE * sigma[0] if sigma.size and sigma[0] > 0 else sigma > 0
    rotated = left[:, seen].T @ target
    rest = float(np.linalg.norm(target - left[:, seen] @ rotated))
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


def _real_parts(rows: SteeringRows) -> _Parts:
    """Real inputs: Re and Im of each equation with Im λ > 0, and what is independent at real λ."""
    matrix = rows.matrix()
    upper = np.flatnonzero(np.imag(rows.lam) > 0)
    plain, lone = _real_lam_parts(rows)
    index = np.concatenate([plain, [k for k, _ in lone], upper, upper]).astype(int)
    names = (
        *("re" for _ in plain),
        *(part for _, part in lone),
        *("re" for _ in upper),
        *("im" for _ in upper),
    )
    doubled = np.isin(np.conj(rows.lam[upper]), rows.lam)
    own = rows.members[upper]
    mirrored = doubled & ~np.isin(own, rows.members[np.imag(rows.lam) < 0])
    pair = np.where(mirrored, math.sqrt(2.0), 1.0)
    weight = np.concatenate([np.ones(plain.size + len(lone)), pair, pair])
    return _parts(rows, matrix, index, tuple(names), weight)


def _real_lam_parts(rows: SteeringRows) -> tuple[Array, list[tuple[int, str]]]:
    """Rows with real λ: real gains as they are; complex gains by independent real and Im parts."""
    real_lam = np.imag(rows.lam) == 0
    complex_gain = np.any(np.imag(rows.gains) != 0, axis=1)
    plain = np.flatnonzero(real_lam & ~complex_gain)
    lone: list[tuple[int, str]] = []
    rest = np.flatnonzero(real_lam & complex_gain)
    for value in np.unique(np.real(rows.lam[rest])):
        group = rest[np.real(rows.lam[rest]) == value]
        stacked = np.vstack([rows.gains[group].real, rows.gains[group].imag])
        for k in independent_rows(stacked):
            lone.append((int(group[k % group.size]), "re" if k < group.size else "im"))
    return plain, lone


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
        index=index,
        names=names,
        matrix=np.array(chosen).reshape(index.size, width),
        target=np.array(ends, dtype=float),
        rounding=_rounding(matrix, d),
        weight=weight,
    )


def _rounding(matrix: Array, target: Array) -> float:
    """Relative error of every real entry; inf where a part vanishes beside its modulus."""
    if not (np.iscomplexobj(matrix) or np.iscomplexobj(target)):
        return 4.0 * _EPS
    worst = 1.0
    for values in (matrix, target):
        size = np.abs(values)
        for part in (np.real(values), np.imag(values)):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(size > 0, size / np.abs(part), 1.0)
            worst = max(worst, float(np.max(ratio, initial=1.0)))
    return 8.0 * _EPS * worst


def _is_alone(parts: _Parts, k: int) -> bool:
    """Whether a real equation stands for its row by itself (not one half of a pair)."""
    return int(np.count_nonzero(parts.index == parts.index[k])) == 1


def _independent_to_rounding(matrix: Array) -> Array:
    from scipy.linalg import qr

    norms = np.linalg.norm(matrix, axis=1)
    safe = np.where(norms > 0, norms, 1.0)
    upper, order = qr((matrix / safe[:, None]).T, mode="r", pivoting=True)[:2]
    diagonal = np.abs(np.diag(upper[: min(upper.shape)]))
    kept = np.zeros(matrix.shape[0], dtype=bool)
    kept[order[: diagonal.size][diagonal > _DEPENDENT]] = True
    return kept & (norms > 0)
