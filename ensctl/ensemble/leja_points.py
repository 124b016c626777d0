"""Leja points of [−1, 1], found one after the other to full precision."""

from __future__ import annotations

import numpy as np

from ensctl.arguments import Array

# Products within this relative distance are equal to rounding; the choice then is by position.
_TIE = 1e-10
_SHORT = 2.0**-28
_MOST_STEPS = 60


def leja_points(count: int) -> Array:
    """x_0 = 1, x_k = argmax_{|x| ≤ 1} Π_{i<k} |x − x_i|; of equal ones the lowest.

    Between neighbouring points log Π|x − x_i| is concave, so that each gap has one maximum; the
    largest of them is the next point.  O(count³).
    """
    found = np.array([1.0, -1.0])
    while found.size < count:
        ordered = np.sort(found)
        peaks = _peaks(ordered)
        heights = np.log(np.abs(peaks[:, np.newaxis] - ordered)).sum(axis=1)
        found = np.append(found, peaks[np.flatnonzero(heights >= heights.max() - _TIE)[0]])
    return found[:count]


def _peaks(ordered: Array) -> Array:
    """The zero of Σ 1/(x − x_i) in every gap, by Newton steps kept inside shrinking brackets."""
    low, high = ordered[:-1].copy(), ordered[1:].copy()
    left, right = ordered[:-1], ordered[1:]
    x = 0.5 * (low + high)
    for _ in range(_MOST_STEPS):
        inverse = 1.0 / (x[:, np.newaxis] - ordered)
        slope, curvature = inverse.sum(axis=1), -(inverse * inverse).sum(axis=1)
        low, high = np.where(slope > 0, x, low), np.where(slope < 0, x, high)
        # (x − left)(right − x)·slope has the same zero without the poles at the ends of the gap.
        weight, change = (x - left) * (right - x), left + right - 2.0 * x
        step = x - weight * slope / (change * slope + weight * curvature)
        # Newton doubles the digits: after a step this short, nothing but rounding is left.
        if np.all(np.abs(step - x) <= _SHORT * (right - left)):
            return step
        x = np.where((step > low) & (step < high), step, 0.5 * (low + high))
    return x
