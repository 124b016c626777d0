"""Families by where λ lies: node sets of the literature, random sets and hard cases; b = 1."""

from __future__ import annotations

import numpy as np

from ensctl.arguments import as_count, as_scalar
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.intervals import as_interval, onto_interval
from ensctl.ensemble.leja_points import leja_points
from ensctl.errors import InvalidInputError


def equispaced(n: int, low: float, high: float) -> Ensemble:
    """λ_i = low + (high − low) i/(n − 1), i = 0 … n − 1: ``numpy.linspace(low, high, n)``.

    Parameters
    ----------
    n : int
        Number of members, ≥ 1; a single one is λ = low.
    low, high : float
        Ends of the interval, low < high; both are taken.

    Returns
    -------
    Ensemble

    Raises
    ------
    InvalidInputError
        An argument is out of its range.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.families.equispaced(5, 0.1, 0.9).lam
    array([0.1, 0.3, 0.5, 0.7, 0.9])
    """
    size = as_count(n, "n")
    return Ensemble(np.linspace(*as_interval(low, high), size))


def chebyshev(n: int, low: float = -1.0, high: float = 1.0) -> Ensemble:
    """The zeros of the Chebyshev polynomial T_n, moved to [low, high].

    λ_i = (low + high)/2 − (high − low)/2 · cos((2i + 1)π/(2n)), i = 0 … n − 1.

    Parameters
    ----------
    n : int
        Number of members, ≥ 1.
    low, high : float
        Ends of the interval, low < high; neither is taken.

    Returns
    -------
    Ensemble
        Ascending; exactly symmetric where low = −high.

    Raises
    ------
    InvalidInputError
        An argument is out of its range.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.families.chebyshev(3).lam
    array([-0.8660254, 0. , 0.8660254])
    """
    size = as_count(n, "n")
    ends = as_interval(low, high)
    # −cos(x) as sin(x − π/2) is odd about the middle to the last bit.
    return Ensemble(onto_interval(np.sin(np.pi * np.arange(1 - size, size, 2) / (2 * size)), ends))


def leja(n: int, low: float = -1.0, high: float = 1.0) -> Ensemble:
    """Leja points of [low, high]: each as far as can be, in the product, from those before it.

    λ_0 = high, λ_k = argmax_{low ≤ x ≤ high} Π_{i<k} |x − λ_i|.

    Parameters
    ----------
    n : int
        Number of members, ≥ 1.
    low, high : float
        Ends of the interval, low < high; both are taken.

    Returns
    -------
    Ensemble
        In the order in which they are found: the first k are the Leja points of order k.

    Raises
    ------
    InvalidInputError
        An argument is out of its range.

    Notes
    -----
    Among points equally far, the lowest.  Cost O(n³): 0.1 s for n = 100, 15 s for n = 600.

    Source: F. Leja, "Sur certaines suites liées aux ensembles plans et leur application à la
    représentation conforme", Ann. Polon. Math. 4 (1957) 8–13.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.families.leja(4).lam
    array([ 1. , -1. , 0. , -0.57735027])
    """
    size = as_count(n, "n")
    ends = as_interval(low, high)
    return Ensemble(onto_interval(leja_points(size), ends))


def roots_of_unity(n: int, radius: float = 1.0) -> Ensemble:
    """λ_k = radius · e^{2πjk/n}, k = 0 … n − 1: with radius 1 and H = n, κ = 1.

    Parameters
    ----------
    n : int
        Number of members, ≥ 1; up to two they are real.
    radius : float
        Of the circle, > 0.

    Returns
    -------
    Ensemble
        Exactly closed under conjugation, and exact on the axes.

    Raises
    ------
    InvalidInputError
        An argument is out of its range.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.families.roots_of_unity(4).lam
    array([ 1.+0.j, 0.+1.j, -1.+0.j, 0.-1.j])
    """
    size = as_count(n, "n")
    r = as_scalar(radius, "radius", above=0.0)
    quarters, rest = np.divmod(4 * np.arange(size // 2 + 1), size)
    angle = 0.5 * np.pi * rest / size
    cosine, sine = np.cos(angle), np.sin(angle)
    quarter_turns = (cosine + 1j * sine, -sine + 1j * cosine, -cosine - 1j * sine)
    upper = r * np.choose(quarters, quarter_turns)
    lower = upper[1 : (size + 1) // 2].conj()[::-1]
    return Ensemble(np.concatenate([upper[: size // 2 + 1], lower])[:size])


def random_disk(n: int, radius: float = 1.0, seed: int = 0) -> Ensemble:
    """Complex λ, independent and uniform in the disk |λ| < radius.

    λ = radius · √U · e^{2πjV} with U, V uniform in [0, 1).

    Parameters
    ----------
    n : int
        Number of members, ≥ 1.
    radius : float
        Of the disk, > 0.
    seed : int
        Of the random numbers, ≥ 0.

    Returns
    -------
    Ensemble
        Not closed under conjugation.

    Raises
    ------
    InvalidInputError
        An argument is out of its range.

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.families.random_disk(20, 0.5, seed=3)
    >>> bool(abs(ens.lam).max() < 0.5), ens.is_conjugate_closed
    (True, False)
    """
    size = as_count(n, "n")
    r = as_scalar(radius, "radius", above=0.0)
    rng = np.random.default_rng(as_count(seed, "seed", minimum=0))
    area, turn = rng.uniform(size=(2, size))
    return Ensemble(r * np.sqrt(area) * np.exp(2j * np.pi * turn))


def clustered(n: int, center: float = 0.9, width: float = 1e-3) -> Ensemble:
    """λ crowded into a short interval: n equispaced values of total width ``width``.

    λ_i = center + width · (i/(n − 1) − ½), i = 0 … n − 1.  The worst energy over H = n steps
    grows like width^{−2(n−1)}.

    Parameters
    ----------
    n : int
        Number of members, ≥ 1; a single one is λ = center.
    center : float
        The middle of the cluster.
    width : float
        From the lowest to the highest λ, > 0, and wide enough for n different doubles.

    Returns
    -------
    Ensemble
        Ascending, all different.

    Raises
    ------
    InvalidInputError
        An argument is out of its range, or two λ would be equal.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.families.clustered(3, 0.9, 0.02).lam
    array([0.89, 0.9 , 0.91])
    """
    size = as_count(n, "n")
    middle = as_scalar(center, "center")
    span = as_scalar(width, "width", above=0.0)
    lam = middle + span * (np.arange(1 - size, size, 2) / max(2 * (size - 1), 1))
    if not np.all(np.diff(lam) > 0):
        raise InvalidInputError(
            f"width must hold {size} different doubles around {middle:g}, got {span:g}; widen it"
        )
    return Ensemble(lam)


def hilbert(n: int) -> Ensemble:
    """The ensemble whose infinite-horizon Gramian is half the Hilbert matrix.

    λ_i = (3 − 2i)/(2i + 1),  b_i = 2/(2i + 1),  i = 1 … n, so that

    (W_∞)_ij = b_i b_j/(1 − λ_i λ_j) = ½ · 1/(i + j − 1).

    Parameters
    ----------
    n : int
        Number of members, ≥ 1.

    Returns
    -------
    Ensemble

    Raises
    ------
    InvalidInputError
        ``n`` is not an integer ≥ 1.

    Examples
    --------
    >>> import ensctl as ec
    >>> ens = ec.families.hilbert(3)
    >>> ens.lam, ens.b
    (array([ 0.33333333, -0.2 , -0.42857143]), array([0.66666667, 0.4 , 0.28571429]))
    """
    i = np.arange(1, as_count(n, "n") + 1)
    return Ensemble((3 - 2 * i) / (2 * i + 1), 2 / (2 * i + 1))
