"""How κ₁ grows with N for three families of nodes, b = 1 and H = N: asymptotic formulas."""

from __future__ import annotations

import math

from ensctl.arguments import as_count
from ensctl.vandermonde.bounds.bound import Bound

_LN10 = math.log(10.0)
_SOURCE = (
    "W. Gautschi, Numer. Math. 23 (1975) 337–347, and How (un)stable are Vandermonde systems?, "
    "in R. Wong (ed.), Asymptotic and Computational Analysis, Dekker 1990, 193–210"
)


def equispaced_growth(count: int) -> Bound:
    """κ₁ of N equispaced nodes on [−1, 1], end points included, as N → ∞.

    κ₁ ~ (1/π) e^{−π/4} e^{N(π/4 + ½ log 2)}.

    Parameters
    ----------
    count : int
        Number of nodes N ≥ 2.

    Returns
    -------
    Bound
        Of "cond_1", kind "asymptotic": 12 % low at N = 10, 1.7 % at N = 80.

    Raises
    ------
    InvalidInputError
        ``count`` is not an integer ≥ 2.

    Notes
    -----
    O(1).

    Source: W. Gautschi, Numer. Math. 23 (1975) 337–347.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import equispaced_growth
    >>> round(equispaced_growth(10).value, 3)
    11963.187
    """
    size = as_count(count, "count", minimum=2)
    log_value = size * (math.pi / 4 + math.log(2.0) / 2) - math.pi / 4 - math.log(math.pi)
    return _growth("Growth, equispaced on [−1, 1]", log_value, _SOURCE)


def chebyshev_growth(count: int) -> Bound:
    """κ₁ of the N zeros of the Chebyshev polynomial T_N as N → ∞.

    κ₁ ~ (3^{3/4}/4) (1 + √2)^N.

    Parameters
    ----------
    count : int
        Number of nodes N ≥ 2.

    Returns
    -------
    Bound
        Of "cond_1", kind "asymptotic".

    Raises
    ------
    InvalidInputError
        ``count`` is not an integer ≥ 2.

    Notes
    -----
    O(1).

    Source: W. Gautschi, Numer. Math. 23 (1975) 337–347.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import chebyshev_growth
    >>> round(chebyshev_growth(10).value, 1)
    3833.0
    """
    size = as_count(count, "count", minimum=2)
    log_value = 0.75 * math.log(3.0) - math.log(4.0) + size * math.log(1.0 + math.sqrt(2.0))
    return _growth("Growth, Chebyshev nodes", log_value, _SOURCE)


def equispaced_unit_growth(count: int) -> Bound:
    """κ₁ of N equispaced nodes on [0, 1], end points included, as N → ∞.

    κ₁ ~ √2/(12π) · 8^N.

    The factor depends on the end points: nodes k/N, k = 1 … N, have √2/(3π).

    Parameters
    ----------
    count : int
        Number of nodes N ≥ 2.

    Returns
    -------
    Bound
        Of "cond_1", kind "asymptotic": 5 % low at N = 10, .6 % at N = 80.

    Raises
    ------
    InvalidInputError
        ``count`` is not an integer ≥ 2.

    Notes
    -----
    With n = N − 1 nodes k/n, the attained bound of :func:`gautschi_upper` gives
    κ₁ = N n C(2n, n) max_j C(n, j)/(n + j), and Stirling's formula the rest.  O(1).

    Source: Stirling's formula in W. Gautschi, Numer. Math. 4 (1962) 117–123.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import equispaced_unit_growth
    >>> round(equispaced_unit_growth(10).log10_value, 4)
    7.6051
    """
    size = as_count(count, "count", minimum=2)
    log_value = 0.5 * math.log(2.0) - math.log(12.0 * math.pi) + size * math.log(8.0)
    return _growth(
        "Growth, equispaced on [0, 1]",
        log_value,
        "W. Gautschi, Numer. Math. 4 (1962) 117–123, with Stirling's formula",
    )


def _growth(name: str, log_value: float, source: str) -> Bound:
    return Bound(name, "cond_1", "asymptotic", log_value / _LN10, "b = 1, H = N", source)
