"""Sort members into groups that halve their distance to the largest |λ|, by one radix sort."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The innermost group reaches this many time constants: λ^steps varies by e^8 inside it.
_INNER_SPREAD = 8.0
_EXPONENT_BIAS = 1022
_MANTISSA_BITS = 52


@dataclass(frozen=True, eq=False)
class GradedGroups:
    """Members in groups; group g holds ``order[starts[g]:starts[g + 1]]``, none is empty.

    Attributes
    ----------
    order : (N,) int or None
        Member numbers group by group; None where the members already stand in this order.
    starts : (G + 1,) int
        Where each group begins, and N.
    """

    order: Array | None
    starts: Array

    def __len__(self) -> int:
        return self.starts.size - 1

    def sorted(self, values: Array) -> Array:
        """``values``, one per member along axis 0, in the order of the groups."""
        return values if self.order is None else values[self.order]

    def index(self, held: slice) -> Any:
        """What picks the sorted members ``held`` from an array in the caller's order."""
        return held if self.order is None else self.order[held]


def graded_groups(lam: Array, steps: int) -> GradedGroups:
    """Group members by the sign of λ (where real) and by octaves of 1 − |λ|/max|λ|.

    Notes
    -----
    Within a group that does not contain the largest |λ| = ρ, ρ − |λ| varies by a factor of two;
    about log2(steps/8) groups a side.  The octave is read from the exponent bits.
    """
    size = np.abs(lam)
    radius = float(size.max())
    levels = max(1, math.ceil(math.log2(max(steps / _INNER_SPREAD, 2.0))))
    if radius != 1.0:
        size = size / (radius or 1.0)
    np.subtract(1.0, size, out=size)
    exponent = size.view(np.int64) >> _MANTISSA_BITS
    octave = np.clip(_EXPONENT_BIAS - exponent, 0, levels).astype(np.uint8)
    if not np.iscomplexobj(lam):
        # Negative members first, largest |λ| outermost, so that sorted λ stays as it is.
        octave = np.where(lam < 0.0, levels - octave, octave + np.uint8(levels + 1))
    counts = np.bincount(octave)
    starts = np.concatenate([[0], np.cumsum(counts[counts > 0])])
    if np.all(octave[:-1] <= octave[1:]):
        return GradedGroups(None, starts)
    return GradedGroups(np.argsort(octave, kind="stable"), starts)
