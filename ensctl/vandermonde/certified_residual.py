"""How far given inputs miss a target, certified: the realisability error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import InvalidInputError
from ensctl.vandermonde.balls import Ball, Undecided, ball, balls, is_certain, refine, rounded_up
from ensctl.vandermonde.certified_powers import evaluate
from ensctl.vandermonde.certified_rows import ChannelRows, channel_rows
from ensctl.vandermonde.certified_targets import displacements, exact_column

Array = NDArray[Any]


def certified_residual(
    lam: Array,
    gains: Array,
    inputs: Array,
    target: Array,
    *,
    x0: Array | None = None,
    low: Array | None = None,
) -> Array:
    """|Λ^H x0 + A u − target| for inputs as they are given: the realisability error.

    Parameters
    ----------
    lam : (N,) float64 or complex128
    gains : (N,) or (N, m) float64 or complex128
    inputs : (H,) or (H, m) float64, complex128, or Fractions in an object array
        u_t in time, taken as exact.
    target, x0 : (N,) float64, complex128, or Fractions in an object array
    low : like ``inputs``, optional
        Added to the inputs without rounding.

    Returns
    -------
    (N,) float64
        Upper bounds, at most 1e-6 relative above the truth (or below 2^-256 of the largest term
        where the residual is that small); inf beyond the float64 range.

    Raises
    ------
    PrecisionError
        131,072 bits do not suffice.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.vandermonde.certified_residual import certified_residual
    >>> lam, b = np.array([0.5, 0.25]), np.ones(2)
    >>> certified_residual(lam, b, np.array([1.0, 1.0]), np.array([1.5, 1.0]))
    array([0.  , 0.25])
    """
    parts = [np.asarray(part) for part in (inputs, low) if part is not None]
    parts = [part[:, None] if part.ndim == 1 else part for part in parts]
    problem = channel_rows(lam, gains, parts[0].shape[0])
    if any(part.shape != (problem.horizon, problem.gains.shape[1]) for part in parts):
        raise InvalidInputError(
            f"inputs must be (H, {problem.gains.shape[1]}), got {[part.shape for part in parts]}"
        )
    columns = [exact_column(target, problem.size)]

    def attempt() -> Array:
        (displacement,) = displacements(problem.lam, problem.horizon, columns, x0)
        reached, size = _apply(problem, parts)
        bounds = []
        for x, d, largest in zip(reached, displacement, size, strict=True):
            rest = x - d
            if not rest.is_finite():
                raise Undecided
            negligible = rest.abs_upper() <= (largest + d.abs_upper()) * ball(2) ** -256
            if not (is_certain(rest, 22) or negligible):
                raise Undecided
            bounds.append(0.0 if rest == 0 else rounded_up(rest.abs_upper()))
        return np.array(bounds)

    return refine(attempt, "the residual")


def _apply(problem: ChannelRows, parts: list[Array]) -> tuple[list[Ball], list[Ball]]:
    """A u and Σ |b_ic λ_i^k u_kc| bounded above, u in time and the sum of its parts."""
    horizon = int(problem.horizon)
    nodes = balls(problem.lam)
    reached, size = [ball(0)] * problem.size, [ball(0)] * problem.size
    for c, gains in enumerate(problem.gains.T):
        series = [balls(part[::-1, c]) for part in parts]
        inputs = [sum(items[1:], items[0]) for items in zip(*series, strict=True)]
        largest = max(item.abs_upper() for item in inputs)
        values = evaluate(nodes, inputs, horizon)
        for i, (b, node) in enumerate(zip(balls(gains), nodes, strict=True)):
            reached[i] += b * values[i]
            reach = ball(1) if abs(node) <= 1 else abs(node) ** (horizon - 1)
            size[i] += b.abs_upper() * largest * reach
    return reached, size
