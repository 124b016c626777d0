"""The conversions asked for most, by name: what an engine prints to what a planner needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector
from ensctl.drafting.convention import Convention, as_convention
from ensctl.drafting.convert import Metric, convert

Array = NDArray[Any]

_LENGTHS = {
    Convention.ACCEPTED: Metric.ACCEPTED_LENGTH,
    Convention.COMMITTED: Metric.COMMITTED_LENGTH,
    Convention.WITH_BONUS: Metric.WITH_BONUS_LENGTH,
}


def length_from_rate(
    rate: float, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
) -> float:
    """Mean length from the printed acceptance rate r = A/(K·D): 1 + K r with bonus.

    Parameters
    ----------
    rate : float
        A/(K·D) in [0, 1].
    depth : int
        K ≥ 1.
    convention : Convention or str
        What the length counts; committed assumes independent identical acceptance.

    Returns
    -------
    float
        Units per cycle.

    Raises
    ------
    InvalidInputError
        Rate outside [0, 1], or K < 1.

    Examples
    --------
    >>> from ensctl.drafting import length_from_rate
    >>> length_from_rate(0.4, 5)
    3.0
    """
    return float(convert(rate, Metric.ACCEPTANCE_RATE, _LENGTHS[as_convention(convention)], depth))


def rate_from_length(
    length: float, depth: int, *, convention: Convention | str = Convention.WITH_BONUS
) -> float:
    """Acceptance rate A/(K·D) from a mean length: (length − 1)/K with bonus.

    Parameters
    ----------
    length : float
        Mean length of a cycle.
    depth : int
        K ≥ 1.
    convention : Convention or str
        What ``length`` counts; committed assumes independent identical acceptance.

    Returns
    -------
    float
        The rate in [0, 1].

    Raises
    ------
    InvalidInputError
        A length outside its range, or K < 1.

    Examples
    --------
    >>> from ensctl.drafting import rate_from_length
    >>> rate_from_length(3.0, 5)
    0.4
    """
    return float(
        convert(length, _LENGTHS[as_convention(convention)], Metric.ACCEPTANCE_RATE, depth)
    )


def alpha_from_rate(rate: float, depth: int) -> float:
    """The α of independent identical acceptance behind a printed rate A/(K·D).

    Parameters
    ----------
    rate : float
        A/(K·D) in [0, 1]; it is below α for K > 1, since units after a rejection count as lost.
    depth : int
        K ≥ 1.

    Returns
    -------
    float
        α in [0, 1].

    Raises
    ------
    InvalidInputError
        Rate outside [0, 1], or K < 1.

    Examples
    --------
    >>> from ensctl.drafting import alpha_from_rate
    >>> round(alpha_from_rate(0.35, 2), 12)
    0.474679434481
    """
    return float(convert(rate, Metric.ACCEPTANCE_RATE, Metric.ALPHA, depth))


def alpha_from_efficiency(efficiency: float, depth: int) -> float:
    """The α behind a system efficiency emitted/((K + 1)·drafts), independent and identical.

    Parameters
    ----------
    efficiency : float
        In [1/(K + 1), 1].
    depth : int
        K ≥ 1.

    Returns
    -------
    float
        α in [0, 1].

    Raises
    ------
    InvalidInputError
        Efficiency out of range, or K < 1.

    Examples
    --------
    >>> from ensctl.drafting import alpha_from_efficiency
    >>> round(alpha_from_efficiency(0.73, 2), 12)
    0.7
    """
    return float(convert(efficiency, Metric.SYSTEM_EFFICIENCY, Metric.ALPHA, depth))


def hazards_from_survival(survival: ArrayLike) -> Array:
    """Conditional acceptances S(j)/S(j − 1) from the per-position shares engines print.

    Parameters
    ----------
    survival : (K,) array-like of float
        S(1) … S(K): share of all drafts whose unit j was accepted.

    Returns
    -------
    (K,) ndarray
        Acceptance of unit j given that the units before it were accepted; 0 where none got there.

    Raises
    ------
    InvalidInputError
        Outside [0, 1], or increasing.

    Examples
    --------
    >>> from ensctl.drafting import hazards_from_survival
    >>> hazards_from_survival([0.8, 0.4])
    array([0.8, 0.5])
    """
    shares = as_vector(survival, "survival", real=True)
    return np.asarray(convert(shares, Metric.SURVIVAL, Metric.HAZARDS, shares.size))


def survival_from_hazards(hazards: ArrayLike) -> Array:
    """Per-position shares S(j) = Π_{i≤j} α_i from conditional acceptances.

    Parameters
    ----------
    hazards : (K,) array-like of float
        α_1 … α_K in [0, 1].

    Returns
    -------
    (K,) ndarray
        S(1) … S(K).

    Raises
    ------
    InvalidInputError
        Outside [0, 1].

    Examples
    --------
    >>> from ensctl.drafting import survival_from_hazards
    >>> survival_from_hazards([0.8, 0.5])
    array([0.8, 0.4])
    """
    alphas = as_vector(hazards, "hazards", real=True)
    return np.asarray(convert(alphas, Metric.HAZARDS, Metric.SURVIVAL, alphas.size))
