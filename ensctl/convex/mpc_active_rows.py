"""The minimiser when it is known which rows are active.

Rows that bound one input fix it; soft rows join the cost; the remaining hard rows are met through
their Schur complement.  Nothing large is subtracted from anything large, however hard the soft
rows push.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Relative singular value below which active rows depend on each other.
_DEPENDENT = 1e-12


@dataclass(frozen=True, eq=False)
class RowKinds:
    """The rows of a program by what they do when they are active.

    Attributes
    ----------
    place : (k,) int
        The input that a hard row bounds alone; −1 for other rows.
    factor : (k,) float64
        Its coefficient there; 1 for other rows.
    soft, general : (k,) bool
        Soft rows, and hard rows of several inputs.
    """

    place: Array
    factor: Array
    soft: Array
    general: Array


def row_kinds(rows: Array, softness: Array) -> RowKinds:
    """Sort rows into bounds of one input, soft rows and the others."""
    soft = softness > 0.0
    alone = ~soft & (np.count_nonzero(rows, axis=1) == 1)
    place = np.full(softness.size, -1)
    factor = np.ones(softness.size)
    place[alone] = np.abs(rows[alone]).argmax(axis=1)
    factor[alone] = rows[alone, place[alone]]
    return RowKinds(place, factor, soft, ~soft & ~alone)


def at_active_rows(
    hessian: Array,
    linear: Array,
    rows: Array,
    bounds: Array,
    softness: Array,
    kinds: RowKinds,
    active: Array,
    guess: Array | None = None,
) -> tuple[Array, Array]:
    """Minimise ½uᵀPu + qᵀu with the active rows held, the soft ones as penalties.

    Parameters
    ----------
    hessian, linear, rows, bounds, softness
        P, q, A, b and δ.
    kinds : RowKinds
    active : (k,) bool
    guess : (k,), optional
        Multipliers near to which those of hard rows that depend on each other are kept.

    Returns
    -------
    inputs : (n,)
    multipliers : (k,)
        Of either sign; 0 for rows that are not active.
    """
    from scipy.linalg.lapack import dpotrf, dpotrs

    multipliers = np.zeros(bounds.size)
    fixed, owner = _fixed(bounds, kinds, active, linear.size)
    inputs = np.where(owner >= 0, fixed, 0.0)
    moving = np.flatnonzero(owner < 0)
    pushing = np.flatnonzero(active & kinds.soft)
    held = np.flatnonzero(active & kinds.general)
    stiff, pull = hessian, linear
    if pushing.size:
        scaled = rows[pushing].T / softness[pushing]
        stiff = hessian + scaled @ rows[pushing]
        pull = linear - scaled @ bounds[pushing]
    wanted = np.zeros(held.size) if guess is None else guess[held]
    if moving.size:
        factor, info = dpotrf(stiff[np.ix_(moving, moving)], lower=1)
        if info != 0:
            return inputs, multipliers
        right = -(pull + stiff @ inputs)[moving]
        across = rows[np.ix_(held, moving)]
        inputs[moving] = dpotrs(factor, right - across.T @ wanted, lower=1)[0]
        if held.size:
            coupling = across @ dpotrs(factor, across.T, lower=1)[0]
            # The second round takes away the rounding of the first.
            for _ in range(2):
                miss = rows[held] @ inputs - bounds[held]
                wanted = wanted + _settled(coupling, miss)
                inputs[moving] = dpotrs(factor, right - across.T @ wanted, lower=1)[0]
    multipliers[held] = wanted
    multipliers[pushing] = (rows[pushing] @ inputs - bounds[pushing]) / softness[pushing]
    gradient = hessian @ inputs + linear + rows.T @ multipliers
    stopped = np.flatnonzero(owner >= 0)
    number = owner[stopped]
    multipliers[number] = -gradient[stopped] / kinds.factor[number]
    return inputs, multipliers


def within_bounds(kinds: RowKinds, inputs: Array, bounds: Array) -> Array:
    """Inputs moved by rounding errors so that rows of one input hold exactly."""
    inside = inputs.copy()
    for above, nearest in ((True, np.minimum), (False, np.maximum)):
        chosen = np.flatnonzero((kinds.place >= 0) & ((kinds.factor > 0.0) == above))
        nearest.at(inside, kinds.place[chosen], bounds[chosen] / kinds.factor[chosen])
    return inside


def _fixed(bounds: Array, kinds: RowKinds, active: Array, size: int) -> tuple[Array, Array]:
    """The value of every input that an active row bounds, and the number of that row, else −1."""
    chosen = np.flatnonzero(active & (kinds.place >= 0))
    fixed, owner = np.zeros(size), np.full(size, -1)
    # Written last is the tightest.
    chosen = chosen[np.argsort(-bounds[chosen], kind="stable")]
    fixed[kinds.place[chosen]] = bounds[chosen] / kinds.factor[chosen]
    owner[kinds.place[chosen]] = chosen
    return fixed, owner


def _settled(coupling: Array, miss: Array) -> Array:
    from scipy.linalg.lapack import dposv

    change, info = dposv(coupling, miss, lower=1)[1:]
    if info == 0 and np.all(np.isfinite(change)):
        return np.asarray(change)
    # Rows that depend on each other share their multipliers.
    return np.asarray(np.linalg.lstsq(coupling, miss, rcond=_DEPENDENT)[0])
