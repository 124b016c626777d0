"""Inputs as float64 numbers: rounding one after the other, each error made good by the rest.

Powers of λ are nearly dependent, so rounding every coefficient by itself moves the polynomial by
up to ε Σ|a_k||λ|^k, although float64 coefficients exist that lie far nearer.  The largest is
rounded first, and what that moves is taken up by the coefficients that are still free: Babai's
nearest plane, as N. Brisebarre and S. Chevillard use it for machine-efficient polynomials
(fpminimax, ARITH-18, 2007).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.errors import PrecisionError
from ensctl.synthesis.chebyshev_basis import Exact, times_lam, to_exact_powers
from ensctl.synthesis.continuum_region import Interval

Array = NDArray[Any]


def rounded_powers(coefficients: Array, interval: Interval) -> Array:
    """float64 coefficients of powers whose polynomial is near Σ c_k T_k on the interval.

    Parameters
    ----------
    coefficients : (n+1,) float64
        c_k.
    interval : Interval
        Where it has to be near.

    Returns
    -------
    (n+1,) float64
    """
    exact = to_exact_powers(coefficients, interval.centre, interval.half)
    columns = _powers_in_chebyshev(len(exact), interval)
    free = list(range(len(exact)))
    out = np.zeros(len(exact))
    for k in sorted(free, key=lambda j: -abs(exact[j])):
        free.remove(k)
        out[k] = _float64(exact[k])
        moved = float(exact[k] - Fraction(out[k]))
        if not free or moved == 0.0:
            continue
        taken, *_ = np.linalg.lstsq(columns[:, free], moved * columns[:, k], rcond=1e-13)
        for j, share in zip(free, taken, strict=True):
            exact[j] += Fraction(float(share))
    return out


def _float64(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise PrecisionError(
            "inputs exist, but pass 1e308; take a shorter horizon or a larger tolerance"
        ) from None


def _powers_in_chebyshev(count: int, interval: Interval) -> Array:
    """Column k: Chebyshev coefficients of λ^k."""
    centre, half = Fraction(interval.centre), Fraction(interval.half)
    out = np.zeros((count, count))
    current: Exact = [Fraction(1)]
    for k in range(count):
        out[: len(current), k] = [float(value) for value in current[:count]]
        current = times_lam(current, centre, half)
    return out
