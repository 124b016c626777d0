"""Limits on inputs that follow from limits on rows: without them no float64 proof is possible.

Rows M u − t in bounded regions give u = Z (e + t) + (I − Z M) u for any Z.  With Z ≈ M⁺ the last
factor is rounding, so |u| ≤ |Z| (r + |t|) + E |u| with a small E bounds every input.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.domains import Box, Domain
from ensctl.convex.regions import Ball, Region, Within, WithinDiscs, Zero
from ensctl.convex.rows import Rows
from ensctl.convex.stacking import moduli

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Entries of M beyond which its pseudo-inverse costs more than a proof is worth.
_MAX_ENTRIES = 4_000_000
# Covers the rounding of the bounds themselves.
_SAFE = 1.0 + 1e-10


def implied_bounds(blocks: tuple[Rows, ...], domain: Domain) -> Domain | None:
    """The domain cut down to finite limits that every u within the rows respects; None without.

    Parameters
    ----------
    blocks : tuple of Rows
        Equalities, tolerances and two-sided limits count, with their ``rounding``.
    domain : Box or Discs

    Notes
    -----
    Rigorous: |u| ≤ a + E |u| with a = |Z| (r + (1 + δ) |t|) and E = |I − Z M| + (δ + γ) |Z| |M|,
    δ the rounding of the data and γ that of the product, so max|u| ≤ max a / (1 − ‖E‖_∞).
    O(n² rows), by a singular value decomposition.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import Rows, Within, box
    >>> from ensctl.convex.implied_bounds import implied_bounds
    >>> rows = Rows(np.array([[2.0, 0.0], [2.0, 1.0]]), np.zeros(2), Within(np.ones(2)))
    >>> implied_bounds((rows,), box(-np.inf, np.inf, 2)).upper.round(6)
    array([0.5, 2. ])
    """
    parts = [
        (rows, np.arange(rows.count), reach)
        for rows in blocks
        if (reach := _reach(rows.region, rows.count)) is not None
        and rows.count
        and np.isfinite(rows.rounding)
    ]
    total = sum(index.size for _, index, _ in parts)
    if total < domain.size or total * domain.size > _MAX_ENTRIES:
        return None
    norms = np.concatenate([rows.norms for rows, _, _ in parts])
    norms = np.where(norms > 0.0, norms, 1.0)[:, None]
    matrix = np.vstack([rows.dense(index) for rows, index, _ in parts]) / norms
    target = np.concatenate([np.abs(rows.target) for rows, _, _ in parts]) / norms[:, 0]
    reach = np.concatenate([reach for _, _, reach in parts]) / norms[:, 0]
    rounding = np.concatenate([np.full(index.size, rows.rounding) for rows, index, _ in parts])
    rounding = rounding + 4.0 * _EPS
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(reach + target + rounding))):
        return None
    inverse = np.linalg.pinv(matrix)
    sizes = np.abs(inverse)
    gamma = 2.0 * (total + 2) * _EPS
    rest = np.abs(np.eye(domain.size) - inverse @ matrix)
    rest += sizes @ (np.abs(matrix) * (rounding[:, None] + gamma))
    spread = _SAFE * rest.sum(axis=1)
    largest = float(spread.max())
    if not largest < 0.5:
        return None
    bound = _SAFE * (sizes @ (reach + (1.0 + rounding) * target))
    bound = _SAFE * (bound + spread * (float(bound.max()) / (1.0 - largest)))
    if isinstance(domain, Box):
        return Box(np.maximum(domain.lower, -bound), np.minimum(domain.upper, bound))
    return type(domain)(np.minimum(domain.radius, _SAFE * moduli(bound)))


def _reach(region: Region, count: int) -> Array | None:
    """The largest |e_i| of each row; None where the region does not bound it."""
    if isinstance(region, Zero):
        return np.zeros(count)
    if isinstance(region, Within):
        return region.radius
    if isinstance(region, WithinDiscs):
        return np.tile(region.radius, 2)
    if isinstance(region, Ball):
        return np.full(count, float(region.radius))
    return None
