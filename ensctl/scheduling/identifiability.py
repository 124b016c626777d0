"""What totals under a constant mix can tell about each drafter, however long one watches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_scalar, as_vector, read_only
from ensctl.display import Summarised
from ensctl.errors import InvalidInputError, NotIdentifiableError
from ensctl.formatting import power_text
from ensctl.serialization import versioned
from ensctl.vandermonde.infinite_energies import log10_infinite_energies

Array = NDArray[Any]

# Beyond this a quality in [0, 1] is unknown for any noise worth measuring.
_HOPELESS = 1.0


@dataclass(frozen=True, eq=False)
class IdentifiabilityFloor(Summarised):
    """Result of :func:`identifiability_floor`.

    Attributes
    ----------
    floors : (n,) array, read-only
        Least standard error of each drafter's quality, in the unit of the qualities; inf where it
        overflows.
    log10_floors : (n,) array, read-only
        Their decimal logarithms, which never overflow.
    sigma : float
        Standard deviation of one total.
    """

    floors: Array
    log10_floors: Array
    sigma: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "identifiability_floor",
            {"floors": self.floors, "log10_floors": self.log10_floors, "sigma": self.sigma},
        )

    def __str__(self) -> str:
        worst = int(np.argmax(self.log10_floors))
        size = power_text(float(self.log10_floors[worst]))
        if self.floors[worst] >= _HOPELESS:
            advice = "poll one drafter at a time"
        else:
            advice = "more cycles do not lower it; polling does"
        return (
            f"under this constant mix drafter {worst} is never known better than ± {size} "
            f"(noise {self.sigma:g}); {advice}"
        )


def identifiability_floor(
    drifts: ArrayLike, mix: ArrayLike, sigma: float = 1.0
) -> IdentifiabilityFloor:
    """Least standard error of each drafter's deviation from totals under one constant mix.

    Qualities that drift as q_{i,t+1} = λ_i q_{i,t} are seen only through y_t = Σ c_i q_{i,t} with
    noise σ.  The information of all totals is the Gramian of the dual Vandermonde matrix, so the
    error of q_i does not fall below

        σ √(1 − λ_i²)/|c_i| · Π_{j≠i} |1 − λ_iλ_j|/|λ_i − λ_j|,

    however long one watches: drafters that drift alike cannot be told apart by mixing.

    Parameters
    ----------
    drifts : array_like, (n,)
        λ, pairwise different, |λ| < 1.
    mix : array_like, (n,)
        c, the weight of each drafter in the total, not zero.
    sigma : float
        σ > 0 of one total.

    Returns
    -------
    IdentifiabilityFloor

    Raises
    ------
    NotIdentifiableError
        Two drifts are equal or a weight is zero: the total does not show that drafter at all.
    InvalidInputError
        |λ| ≥ 1 or a wrong shape.

    Notes
    -----
    Relative error about 10 n ε: only products and quotients of differences.  O(n²).

    Examples
    --------
    >>> from ensctl import scheduling
    >>> floor = scheduling.identifiability_floor([0.5, 0.9, 0.99], [1, 1, 1])
    >>> floor.floors.round(8)
    array([1.22723753, 0.72587775, 0.1760783 ])
    """
    lam = as_vector(drifts, "drifts", real=True)
    weights = as_vector(mix, "mix", size=lam.size, real=True)
    noise = as_scalar(sigma, "sigma", above=0.0)
    if np.abs(lam).max() >= 1:
        raise InvalidInputError(f"drifts must be in (−1, 1), got {lam[np.abs(lam).argmax()]:g}")
    for i in range(lam.size):
        twins = np.flatnonzero(lam[:i] == lam[i])
        if twins.size:
            raise NotIdentifiableError(
                f"drafters {twins[0]} and {i} drift alike (λ = {lam[i]:g}): no constant mix tells "
                "them apart; poll them one at a time"
            )
        if weights[i] == 0:
            raise NotIdentifiableError(
                f"mix gives drafter {i} no weight: the total does not show it; poll it"
            )
    logs = 0.5 * log10_infinite_energies(lam, weights) + np.log10(noise)
    with np.errstate(over="ignore"):
        floors = 10.0**logs
    return IdentifiabilityFloor(read_only(floors), read_only(logs), noise)


@dataclass(frozen=True)
class PollingVerdict:
    """Result of :func:`polling_or_mixing`.

    Attributes
    ----------
    polling : bool
        Whether polling gives at least as much information on all qualities together.
    polled_variance : float
        Σ p_i² v_i, the variance of the mix put together from polls.
    mixed_variance : float
        v(p), the variance of one total of the mix.
    """

    polling: bool
    polled_variance: float
    mixed_variance: float

    def __str__(self) -> str:
        word = "poll one drafter at a time" if self.polling else "mix"
        sign = "≤" if self.polling else ">"
        return f"{word}: Σ p²v = {self.polled_variance:.6g} {sign} v(p) = {self.mixed_variance:.6g}"


def polling_or_mixing(
    mix: ArrayLike, polled_variances: ArrayLike, mixed_variance: float
) -> PollingVerdict:
    """Whether to learn from one drafter at a time or from cycles that share a total.

    Polling in the shares p is D-optimal if and only if Σ p_i² v_i ≤ v(p): then the same share of
    cycles, spent one drafter at a time, determines all qualities at least as well.

    Parameters
    ----------
    mix : array_like, (n,)
        p ≥ 0, summing to one: shares of the streams in a mixed cycle.
    polled_variances : array_like, (n,)
        v_i ≥ 0, noise variance of a cycle in which all streams use drafter i.
    mixed_variance : float
        v(p) ≥ 0, noise variance of a mixed cycle.

    Returns
    -------
    PollingVerdict

    Raises
    ------
    InvalidInputError
        Shares that do not sum to one, or negative variances.

    Notes
    -----
    Independent streams give v(p) = Σ p_i v_i, and common shocks or rounding of the report add to
    both, so polling is right in all three cases: p_i² ≤ p_i.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> print(scheduling.polling_or_mixing([0.5, 0.5], [1.0, 3.0], 2.0))
    poll one drafter at a time: Σ p²v = 1 ≤ v(p) = 2
    """
    shares = as_vector(mix, "mix", real=True)
    variances = as_vector(polled_variances, "polled_variances", size=shares.size, real=True)
    mixed = as_scalar(mixed_variance, "mixed_variance", at_least=0.0)
    if shares.min() < 0 or abs(float(shares.sum()) - 1.0) > 1e-9:
        raise InvalidInputError("mix must be shares ≥ 0 that sum to one; divide by their sum")
    if variances.min() < 0:
        raise InvalidInputError(f"polled_variances must be ≥ 0, got {variances.min():g}")
    polled = float(shares**2 @ variances)
    return PollingVerdict(polled <= mixed, polled, mixed)
