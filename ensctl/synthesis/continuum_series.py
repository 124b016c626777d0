"""A formula as a Chebyshev series with a proved remainder, by balls on an ellipse.

A function that is analytic and bounded by M inside the Bernstein ellipse with semi-axes summing to
ρ differs from its Chebyshev interpolant of degree D by at most 4 M ρ^{−D}/(ρ − 1) (Trefethen,
Approximation Theory and Approximation Practice, theorem 8.2).  M, and that it is analytic, come
from ball arithmetic on boxes that cover a rectangle around the ellipse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.synthesis.chebyshev_basis import nearest_floats
from ensctl.synthesis.continuum_expression import Expression
from ensctl.synthesis.continuum_functions import LamFunction
from ensctl.synthesis.continuum_region import Interval
from ensctl.vandermonde.balls import precision

Array = NDArray[Any]

_RHOS = (12.0, 6.0, 3.5, 2.4, 1.8, 1.5, 1.3, 1.2, 1.1, 1.05)
_BOXES = (32, 8)
_LARGEST_DEGREE = 400
_BITS = 160


@dataclass(frozen=True, eq=False)
class Series:
    """Σ c_k T_k(t) with |f − Σ c_k T_k| ≤ remainder on the interval.

    Attributes
    ----------
    coefficients : (D+1,) float64
    remainder : float
    """

    coefficients: Array
    remainder: float

    @property
    def degree(self) -> int:
        """D."""
        return self.coefficients.size - 1

    @property
    def bound(self) -> float:
        """Σ|c_k| + remainder ≥ max|f|."""
        return float(np.abs(self.coefficients).sum()) * (1 + 1e-12) + self.remainder


def series_of(function: LamFunction, interval: Interval, accuracy: float) -> Series | None:
    """The series of a polynomial or an analytic formula; None where nothing is proved.

    Parameters
    ----------
    function : LamFunction
        Real on the interval.
    interval : Interval
        Where.
    accuracy : float
        Remainder that is good enough.

    Returns
    -------
    Series or None
    """
    if function.chebyshev is not None:
        floats = nearest_floats(function.chebyshev)
        return Series(floats, 2.0**-53 * float(np.abs(floats).sum()))
    if function.expression is None or not function.expression.analytic:
        return None
    # Decades of accuracy only, so that tries that differ little share one proof.
    rounded = 10.0 ** math.floor(math.log10(max(accuracy, 1e-300)))
    return _of_formula(function.expression, interval, rounded)


@lru_cache(maxsize=64)
def _of_formula(formula: Expression, interval: Interval, accuracy: float) -> Series | None:
    best: tuple[int, float, float] | None = None
    for rho in _RHOS:
        bound = _largest(formula, interval, rho)
        if not math.isfinite(bound):
            continue
        degree = math.ceil(math.log(4.0 * max(bound, 1e-300) / (rho - 1) / accuracy, rho))
        degree = max(degree, 1)
        if degree <= _LARGEST_DEGREE and (best is None or degree < best[0]):
            best = degree, rho, bound
        elif best is not None:
            break
    if best is None:
        return None
    degree, rho, bound = best
    interpolant = _interpolant(formula, interval, degree)
    if interpolant is None:
        return None
    coefficients, rounding = interpolant
    return Series(coefficients, 4.0 * bound * rho**-degree / (rho - 1) * (1 + 1e-9) + rounding)


def _largest(formula: Expression, interval: Interval, rho: float) -> float:
    """A bound of |f| on a rectangle around the ellipse, infinite where f may not be analytic."""
    from flint import acb, arb

    width, height = 0.5 * (rho + 1 / rho), 0.5 * (rho - 1 / rho)
    across, up = _BOXES
    radius_x, radius_y = width / across, height / up / 2
    largest = 0.0
    with precision(64):
        centre, half = arb(interval.centre), arb(interval.half)
        for i in range(across):
            x = arb(-width + (2 * i + 1) * radius_x, radius_x * (1 + 1e-9))
            for j in range(up):
                # f is real on the line, so the lower half mirrors the upper one.
                y = arb((2 * j + 1) * radius_y, radius_y * (1 + 1e-9))
                value = formula.ball(acb(centre + half * x, half * y))
                if not value.is_finite():
                    return math.inf
                largest = max(largest, float(abs(value).upper()))
    return largest * (1 + 1e-12)


def _interpolant(
    formula: Expression, interval: Interval, degree: int
) -> tuple[Array, float] | None:
    """Chebyshev coefficients of the interpolant at cos(πj/D), in balls, rounded once."""
    from flint import acb, arb

    with precision(_BITS):
        cosines = [(arb.pi() * j / degree).cos() for j in range(2 * degree)]
        values = []
        for j in range(degree + 1):
            lam = acb(arb(interval.centre) + arb(interval.half) * cosines[j])
            value = formula.ball(lam).real
            values.append(value / 2 if j in (0, degree) else value)
        coefficients, rounding = [], 0.0
        for k in range(degree + 1):
            total = sum(
                (values[j] * cosines[j * k % (2 * degree)] for j in range(degree + 1)), arb(0)
            )
            c = 2 * total / degree / (2 if k in (0, degree) else 1)
            if not c.is_finite():
                return None
            rounded = float(c.mid())
            coefficients.append(rounded)
            rounding += float(abs(c - arb(rounded)).upper())
    return np.array(coefficients), rounding * (1 + 1e-12)
