"""Which side of the unit circle λ is on, decided exactly on the doubles as given."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# hypot is right to 1e-16 relative; beyond this margin it decides alone.
_MARGIN = 1e-12


def on_or_outside_unit_circle(lam: Array) -> Array:
    """Whether |λ| ≥ 1, for each λ, exactly (boolean, same shape).

    Only where |λ| is within 1e-12 of 1 is |λ|² compared with 1 in rational arithmetic.
    """
    size = np.abs(lam)
    outside = size >= 1
    if np.iscomplexobj(lam):
        for k in np.flatnonzero(np.abs(size - 1) <= _MARGIN):
            z = complex(lam[k])
            outside[k] = Fraction(z.real) ** 2 + Fraction(z.imag) ** 2 >= 1
    return np.asarray(outside)
