"""Conversions between the acceptance numbers that engines and papers report."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_scalar
from ensctl.drafting.acceptance import IID
from ensctl.drafting.acceptance_positions import PerPosition
from ensctl.drafting.convention import Convention, as_depth
from ensctl.drafting.convert_length import alpha_from_length, expected_length
from ensctl.errors import InvalidInputError

Array = NDArray[Any]


class Metric(Enum):
    """A reported acceptance number; D drafts of depth K, A accepted units, P_j in unit j.

    ``ACCEPTANCE_RATE`` is A/(K·D); it falls with K at the same α.  ``ACCEPTED_LENGTH``,
    ``COMMITTED_LENGTH`` and ``WITH_BONUS_LENGTH`` are mean lengths of a cycle; the last is the
    mean acceptance length of serving engines, 1 + A/D.  ``SYSTEM_EFFICIENCY`` is
    emitted/((K + 1)·D).  ``SURVIVAL`` holds S(1) … S(K) = P_j/D, the per-position acceptance that
    engines print, and ``HAZARDS`` the conditional acceptances S(j)/S(j − 1).  ``ALPHA`` is the
    acceptance of one tested unit, A over the number tested; early vLLM's "draft acceptance rate"
    is of this kind, since it counted units after the first rejection too.

    Examples
    --------
    >>> from ensctl.drafting import Metric
    >>> print(Metric.SYSTEM_EFFICIENCY)
    system_efficiency
    """

    ACCEPTANCE_RATE = "acceptance_rate"
    ACCEPTED_LENGTH = "accepted_length"
    COMMITTED_LENGTH = "committed_length"
    WITH_BONUS_LENGTH = "with_bonus_length"
    SYSTEM_EFFICIENCY = "system_efficiency"
    SURVIVAL = "survival"
    HAZARDS = "hazards"
    ALPHA = "alpha"

    def __str__(self) -> str:
        return self.value


# Metrics that fix the mean number accepted without an assumption, and each other so.
_AFFINE: dict[Metric, tuple[Callable[[float, int], float], Callable[[float, int], float]]] = {
    Metric.ACCEPTED_LENGTH: (lambda x, k: x, lambda n, k: n),
    Metric.WITH_BONUS_LENGTH: (lambda x, k: x - 1.0, lambda n, k: n + 1.0),
    Metric.ACCEPTANCE_RATE: (lambda x, k: x * k, lambda n, k: n / k),
    Metric.SYSTEM_EFFICIENCY: (
        lambda x, k: x * (k + 1.0) - 1.0,
        lambda n, k: (n + 1.0) / (k + 1.0),
    ),
}
# Affine maps of numbers printed with all their digits may leave the range by rounding.
_SLACK = 1e-12


def as_metric(value: Any, name: str = "metric") -> Metric:
    """Read a metric given as a member or by name.

    Parameters
    ----------
    value : Metric or str
        A member or its name, in any case, with hyphen, blank or underscore.
    name : str
        How errors call the argument.

    Returns
    -------
    Metric
        The member.

    Raises
    ------
    InvalidInputError
        Anything else.

    Examples
    --------
    >>> from ensctl.drafting import as_metric
    >>> as_metric("acceptance rate").name
    'ACCEPTANCE_RATE'
    """
    if isinstance(value, Metric):
        return value
    if isinstance(value, str):
        key = value.strip().lower().replace("-", "_").replace(" ", "_")
        for member in Metric:
            if member.value == key:
                return member
    names = ", ".join(member.value for member in Metric)
    raise InvalidInputError(f"{name} must be one of {names}, got {value!r}")


def convert(
    value: ArrayLike, from_metric: Metric | str, to_metric: Metric | str, depth: int
) -> float | Array:
    """Turn one reported acceptance number into another, at depth K.

    Parameters
    ----------
    value : float or (K,) array-like
        The number; K of them for ``survival`` (S(1) … S(K)) and ``hazards``.
    from_metric, to_metric : Metric or str
        What it is, and what is wanted.
    depth : int
        K ≥ 1, the depth at which it was measured.  The result is for the same K.

    Returns
    -------
    float or (K,) ndarray
        The other number; an array for ``survival`` and ``hazards``.

    Raises
    ------
    InvalidInputError
        A number outside its range, a survival that increases, K < 1, NaN.
    NotIdentifiableError
        From a committed length at K = 1, which is always 1.

    Notes
    -----
    Exact for any acceptance: rate ↔ accepted ↔ with_bonus ↔ efficiency, survival ↔ hazards, and
    everything from survival.  From one number to ``alpha``, ``committed_length``, ``survival`` or
    ``hazards``, and from a committed length or α to anything else, acceptance is taken as
    independent and identical.
    From survival, α = Σ_{j=1..K} S(j)/Σ_{j=0..K−1} S(j), accepted over tested units, which is also
    A/(A + D − P_{K−1}); for independent identical acceptance both agree.

    Examples
    --------
    >>> from ensctl.drafting import convert
    >>> convert(3.0, "with_bonus_length", "acceptance_rate", 5)
    0.4
    >>> convert([0.8, 0.4], "survival", "hazards", 2)
    array([0.8, 0.5])
    >>> convert([0.8, 0.4], "survival", "alpha", 2)
    0.666666666666...
    """
    source, target = as_metric(from_metric, "from_metric"), as_metric(to_metric, "to_metric")
    units = as_depth(depth, minimum=1)
    if source in (Metric.SURVIVAL, Metric.HAZARDS):
        return _from_survival(_survival(value, source, units), target)
    number = as_scalar(value, source.value)
    if source in _AFFINE:
        accepted = _clipped(_AFFINE[source][0](number, units), units, source, number)
        if target in _AFFINE:
            return _AFFINE[target][1](accepted, units)
        alpha = alpha_from_length(accepted, units, convention=Convention.ACCEPTED)
    elif source is Metric.COMMITTED_LENGTH:
        if target is source:
            _clipped(number - 1.0, units - 1, source, number)
            return number
        alpha = alpha_from_length(number, units, convention=Convention.COMMITTED)
    else:
        alpha = as_scalar(number, source.value, at_least=0, at_most=1)
    return _from_alpha(alpha, units, target)


def _clipped(accepted: float, most: int, metric: Metric, number: float) -> float:
    slack = _SLACK * (1.0 + most)
    if not -slack <= accepted <= most + slack:
        raise InvalidInputError(
            f"{metric.value} {number:g} would mean {accepted:.6g} accepted units per draft, "
            f"outside [0, {most}]; check the depth and what the number counts"
        )
    return min(max(accepted, 0.0), float(most))


def _survival(value: ArrayLike, metric: Metric, depth: int) -> Array:
    """S(0) … S(K)."""
    given = as_array(value, metric.value, real=True)
    if given.shape != (depth,):
        raise InvalidInputError(
            f"{metric.value} must have {depth} entries, one for each position, got shape "
            f"{given.shape}"
        )
    if metric is Metric.HAZARDS:
        return PerPosition(given).survival(depth)
    # Checked there; the shares themselves are kept, free of a division and a product.
    PerPosition.from_survival(given)
    return np.append(1.0, given)


def _from_survival(survival: Array, target: Metric) -> float | Array:
    depth = survival.size - 1
    if target is Metric.SURVIVAL:
        return survival[1:]
    if target is Metric.HAZARDS:
        return PerPosition.from_survival(survival[1:]).hazards(depth)
    accepted, tested = float(survival[1:].sum()), float(survival[:-1].sum())
    if target is Metric.ALPHA:
        return accepted / tested
    if target is Metric.COMMITTED_LENGTH:
        return tested
    return _AFFINE[target][1](accepted, depth)


def _from_alpha(alpha: float, depth: int, target: Metric) -> float | Array:
    if target is Metric.ALPHA:
        return alpha
    if target is Metric.SURVIVAL:
        return IID(alpha).survival(depth)[1:]
    if target is Metric.HAZARDS:
        return IID(alpha).hazards(depth)
    if target is Metric.COMMITTED_LENGTH:
        return float(expected_length(alpha, depth, convention=Convention.COMMITTED))
    accepted = float(expected_length(alpha, depth, convention=Convention.ACCEPTED))
    return _AFFINE[target][1](accepted, depth)
