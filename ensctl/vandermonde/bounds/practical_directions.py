"""Real nodes and any gains: singular values decay at a rate that only the horizon sets."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from ensctl.arguments import as_horizon, as_scalar
from ensctl.vandermonde.bounds.bound import Bound, outwards
from ensctl.vandermonde.bounds.nodeset import NodeSet, require

_SOURCE = "B. Beckermann and A. Townsend, SIAM J. Matrix Anal. Appl. 38 (2017) 1227–1248"


def beckermann_townsend(
    lam: ArrayLike, b: ArrayLike, horizon: int, *, tolerance: float = 2.0**-52
) -> Bound:
    """Upper bound of the number of singular values above a tolerance, for real nodes.

    #{k : σ_k > ε σ_1} ≤ 2m + (H mod 2),  m = ⌈(4/π²) log(8⌊H/2⌋/π) log(4/ε)⌉,

    whatever N, the real nodes and b are: a large real population has few practical directions.

    Conditions: real nodes, H ≥ 2, 0 < ε < 1.

    Parameters
    ----------
    lam : (N,) array_like
        Real nodes.
    b : scalar or (N,) array_like
        Row scalings, real or complex.
    horizon : int
        Number of columns H.
    tolerance : float, default 2^-52
        ε, relative to the largest singular value.

    Returns
    -------
    Bound
        Of "directions"; never more than min(N, H).

    Raises
    ------
    InvalidInputError
        A condition does not hold, or an argument is not of the required form.

    Notes
    -----
    Multiplication by Λ shifts the columns of A, so ΛA − AQ has rank one with Q the skew-circulant
    shift, whose spectrum are the H-th roots of −1.  The Zolotarev number of the real line and these
    roots gives σ_{1+2k} ≤ 4 exp(−k π²/(4 log(4H/π))) σ_1 for even H; an odd H has one more column.

    Source: B. Beckermann and A. Townsend, On the singular values of matrices with displacement
    structure, SIAM J. Matrix Anal. Appl. 38 (2017) 1227–1248.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.vandermonde.bounds import beckermann_townsend
    >>> nodes = np.linspace(0, 1, 1000)
    >>> round(beckermann_townsend(nodes, 1.0, 10_000, tolerance=1e-6).value)
    118
    """
    nodes = NodeSet.of(lam, b)
    steps = int(as_horizon(horizon))
    epsilon = as_scalar(tolerance, "tolerance", above=0.0, below=1.0)
    require(nodes.is_real, "lam", "be real")
    require(steps >= 2, "horizon", "be at least 2")
    # A unit added before the ceiling outweighs its rounding error.
    half = math.ceil(math.log(4.0 / epsilon) / _rate(steps) * (1.0 + 2.0**-48))
    count = min(2 * half + steps % 2, nodes.size, steps)
    return Bound(
        f"Beckermann–Townsend at {epsilon:.3g}",
        "directions",
        "upper",
        math.log10(count),
        f"real nodes, any b; singular values above {epsilon:.3g} of the largest",
        _SOURCE,
    )


def beckermann_townsend_condition(lam: ArrayLike, b: ArrayLike, horizon: int) -> Bound:
    """Lower bound of κ₂ for real nodes, any gains and any finite horizon.

    κ₂(A) ≥ ¼ exp(k π²/(4 log(8⌊H/2⌋/π))),  k = ⌊(min(N, H) − 1 − (H mod 2))/2⌋.

    The statement of :func:`beckermann_townsend` for the last singular value.

    Conditions: real nodes, H ≥ 2.

    Parameters
    ----------
    lam : (N,) array_like
        Real nodes.
    b : scalar or (N,) array_like
        Row scalings, real or complex.
    horizon : int
        Number of columns H.

    Returns
    -------
    Bound
        Of "cond_2" (σ_1 over the last of min(N, H) singular values), rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or an argument is not of the required form.

    Notes
    -----
    O(N), for the check of the conditions.

    Source: B. Beckermann and A. Townsend, On the singular values of matrices with displacement
    structure, SIAM J. Matrix Anal. Appl. 38 (2017) 1227–1248.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.vandermonde.bounds import beckermann_townsend_condition
    >>> round(beckermann_townsend_condition(np.linspace(-1, 1, 100), 1.0, 400).log10_value, 4)
    7.822
    """
    nodes = NodeSet.of(lam, b)
    steps = int(as_horizon(horizon))
    require(nodes.is_real, "lam", "be real")
    require(steps >= 2, "horizon", "be at least 2")
    half = max(0, (min(nodes.size, steps) - 1 - steps % 2) // 2)
    log10_value = half * _rate(steps) / math.log(10.0) - math.log10(4.0)
    return Bound(
        "Beckermann–Townsend, any gains and horizon",
        "cond_2",
        "lower",
        outwards(log10_value, "lower", 4.0 * (half + 2)),
        "real nodes, any b, any finite H",
        _SOURCE,
    )


def _rate(horizon: int) -> float:
    return math.pi**2 / (4.0 * math.log(8.0 * (horizon // 2) / math.pi))
