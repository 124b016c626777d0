"""Nodes on the unit circle: a gap Δ and a horizon beyond 1/Δ make A well conditioned."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import as_count, as_horizon, as_scalar
from ensctl.errors import InvalidInputError
from ensctl.vandermonde.bounds.bound import Bound, Kind, outwards
from ensctl.vandermonde.bounds.nodeset import NodeSet, require
from ensctl.vandermonde.bounds.power_sums import log_geometric

# Angles in turns are right to about 2e-16; gaps are taken smaller by more than that.
_TURN_ERROR = 1e-15
_SIEVE_SOURCE = (
    "A. Selberg's extremal functions, in H. L. Montgomery, Bull. Amer. Math. Soc. 84 (1978) "
    "547–567; for Vandermonde matrices C. Aubel and H. Bölcskei, Appl. Comput. Harmon. Anal. 47 "
    "(2019) 53–86"
)


def wrap_gap(lam: ArrayLike) -> float:
    """Smallest distance between the arguments of two nodes, in turns around the circle.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes, not 0.

    Returns
    -------
    float
        Δ in [0, 1]; 1 for a single node.  Right to 1e-15 absolute.

    Raises
    ------
    InvalidInputError
        ``lam`` is not a finite vector of non-zero nodes.

    Notes
    -----
    O(N log N).

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import wrap_gap
    >>> wrap_gap([1, 1j, -1])
    0.25
    """
    nodes = NodeSet.of(lam, 1.0)
    require(bool(np.all(nodes.lam != 0)), "lam", "be non-zero")
    turns = np.sort(np.angle(nodes.lam) / (2.0 * math.pi))
    return float(np.min(np.diff(turns, append=turns[0] + 1.0)))


def large_sieve_sigma_min(lam: ArrayLike, b: ArrayLike, horizon: int) -> Bound:
    """Lower bound of σ_min for nodes on the unit circle with wrap gap Δ.

    σ_min(A)² ≥ min|b_i|² · (H + 1 − 1/Δ).

    Attained by N roots of unity when H + 1 is a multiple of N.

    Conditions: |λ_i| = 1 up to 2^-50, no b_i = 0, N ≤ H, H + 1 > 1/Δ.  Moduli that differ from 1
    by δ change A by at most √(NH) (e^{(H−1)δ} − 1) max|b|, which is subtracted: the bound holds
    for the doubles as they are.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes on the unit circle.
    b : scalar or (N,) array_like
        Row scalings, real or complex.
    horizon : int
        Number of columns H.

    Returns
    -------
    Bound
        Of "sigma_min", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or an argument is not of the required form.

    Notes
    -----
    Let m be Selberg's minorant of the indicator of (−1, H): its Fourier transform vanishes
    outside (−Δ, Δ) and its integral is H + 1 − 1/Δ.  Then Σ_{0≤n<H} |Σ_i c_i λ_i^n|² ≥
    Σ_n m(n) |Σ_i c_i λ_i^n|² = (H + 1 − 1/Δ) Σ|c_i|² by Poisson's formula.  Aubel and Bölcskei
    print H − 1/Δ, Moitra (STOC 2015) H − 1 − 1/Δ, which follow.  O(N log N).

    Source: A. Selberg's extremal functions, in H. L. Montgomery, The analytic principle of the
    large sieve, Bull. Amer. Math. Soc. 84 (1978) 547–567; C. Aubel and H. Bölcskei, Appl. Comput.
    Harmon. Anal. 47 (2019) 53–86.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import large_sieve_sigma_min
    >>> round(large_sieve_sigma_min([1, 1j, -1, -1j], 1.0, 7).value ** 2, 9)
    4.0
    """
    nodes = NodeSet.of(lam, b)
    steps = int(as_horizon(horizon))
    require(nodes.is_on_circle, "lam", "lie on the unit circle")
    require(bool(np.all(nodes.b != 0)), "b", "be non-zero")
    gap, value = _gap(nodes), sieve_lower_value(nodes, steps)
    if value <= 0:
        raise InvalidInputError(
            f"horizon must exceed 1/gap − 1 for this theorem to apply, got {steps} with a wrap gap "
            f"of {gap:.3g} turns"
        )
    return _sieve_bound("Large sieve, lower", "lower", value, gap)


def large_sieve_sigma_max(lam: ArrayLike, b: ArrayLike, horizon: int) -> Bound:
    """Upper bound of σ_max for nodes on the unit circle with wrap gap Δ.

    σ_max(A)² ≤ max|b_i|² · (H − 1 + 1/Δ).

    Attained by N roots of unity when H − 1 is a multiple of N.

    Conditions: |λ_i| = 1 up to 2^-50 (the distance enters as in :func:`large_sieve_sigma_min`),
    distinct nodes.

    Parameters
    ----------
    lam : (N,) array_like
        Nodes on the unit circle.
    b : scalar or (N,) array_like
        Row scalings, real or complex.
    horizon : int
        Number of columns H.

    Returns
    -------
    Bound
        Of "sigma_max", rounded outwards.

    Raises
    ------
    InvalidInputError
        A condition does not hold, or an argument is not of the required form.

    Notes
    -----
    The large sieve inequality itself.  O(N log N).

    Source: A. Selberg's extremal functions, in H. L. Montgomery, The analytic principle of the
    large sieve, Bull. Amer. Math. Soc. 84 (1978) 547–567; C. Aubel and H. Bölcskei, Appl. Comput.
    Harmon. Anal. 47 (2019) 53–86.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import large_sieve_sigma_max
    >>> round(large_sieve_sigma_max([1, 1j, -1, -1j], 1.0, 9).value ** 2, 9)
    12.0
    """
    nodes = NodeSet.of(lam, b)
    steps = int(as_horizon(horizon))
    require(nodes.is_on_circle, "lam", "lie on the unit circle")
    require(bool(np.any(nodes.b != 0)), "b", "have a non-zero entry")
    gap = _gap(nodes)
    require(gap > 0, "lam", "have arguments that differ by more than 1e-15 turns")
    on_circle = math.sqrt(steps - 1.0 + 1.0 / gap)
    value = float(np.max(np.abs(nodes.b))) * (on_circle + _off_circle(nodes, steps))
    return _sieve_bound("Large sieve, upper", "upper", value, gap)


def scaled_roots_of_unity(count: int, radius: float, horizon: int | float) -> Bound:
    """κ₂ itself for N equispaced nodes on a circle of radius r about 0.

    σ_j² = N Σ_{q≥0, j+qN<H} r^{2(j+qN)}, j = 0 … min(N, H) − 1, in some order; so κ₂ = r^{−(N−1)}
    for r ≤ 1 when H is a multiple of N or infinite.

    Parameters
    ----------
    count : int
        Number of nodes N: λ_k = r exp(2πi(k/N + θ)) for any θ, with b = 1.
    radius : float
        r > 0.
    horizon : int or math.inf
        Number of columns H; math.inf needs r < 1.

    Returns
    -------
    Bound
        Of "cond_2" (σ_1 over the last of min(N, H)), kind "equal".

    Raises
    ------
    InvalidInputError
        An argument is not of the required form.

    Notes
    -----
    A DFT of the rows leaves each column with one non-zero entry, in row (column mod N).
    O(N) operations.

    Source: elementary.

    Examples
    --------
    >>> from ensctl.vandermonde.bounds import scaled_roots_of_unity
    >>> round(scaled_roots_of_unity(16, 0.5, 16).value, 6)
    32768.0
    """
    size = as_count(count, "count")
    r = as_scalar(radius, "radius", above=0.0)
    steps = as_horizon(horizon, infinite=True)
    require(steps < math.inf or r < 1.0, "radius", "be below 1 when horizon is infinite")
    residue = np.arange(min(size, steps), dtype=float)
    logs = 2.0 * residue * math.log(r)
    if steps != math.inf:
        logs += log_geometric(2.0 * size * math.log(r), np.ceil((steps - residue) / size))
    return Bound(
        "Scaled roots of unity",
        "cond_2",
        "equal",
        0.5 * float(np.ptp(logs)) / math.log(10.0),
        f"{size} equispaced nodes on the circle of radius {r:.6g}, b = 1",
        "elementary: the discrete Fourier transform of the rows",
    )


def sieve_lower_value(nodes: NodeSet, steps: int) -> float:
    """The bound of :func:`large_sieve_sigma_min` for nodes on the circle; ≤ 0 says nothing."""
    gap = _gap(nodes)
    if gap <= 0 or steps + 1.0 <= 1.0 / gap:
        return 0.0
    size = np.abs(nodes.b)
    on_circle = math.sqrt(steps + 1.0 - 1.0 / gap)
    return float(np.min(size)) * on_circle - float(np.max(size)) * _off_circle(nodes, steps)


def _gap(nodes: NodeSet) -> float:
    return wrap_gap(nodes.lam) - _TURN_ERROR


def _off_circle(nodes: NodeSet, steps: int) -> float:
    """Frobenius norm of what changes in [λ_i^j] when the nodes move radially onto the circle."""
    deviation = float(np.max(np.abs(nodes.log_modulus))) + 2.0**-60
    return math.sqrt(nodes.size * steps) * math.expm1((steps - 1) * deviation)


def _sieve_bound(name: str, kind: Kind, value: float, gap: float) -> Bound:
    return Bound(
        name,
        "sigma_min" if kind == "lower" else "sigma_max",
        kind,
        outwards(math.log10(value), kind, 16.0 * (1.0 + abs(math.log10(value)))),
        f"nodes on the unit circle, wrap gap {gap:.4g} turns",
        _SIEVE_SOURCE,
    )
