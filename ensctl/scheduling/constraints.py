"""Side constraints of a mix as value objects, each with its rows after Charnes and Cooper.

Shares x enter as y = t x with Σ y_a C_a = 1, so that t = s = Σ y.  A constraint becomes rows
A y ≤ b in which everything proportional to x carries the factor s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_scalar, as_vector
from ensctl.errors import InvalidInputError
from ensctl.scheduling.arms import Arms

Array = NDArray[Any]


@dataclass(frozen=True)
class ShareFloor:
    """A drafter is used in at least this share of the cycles: Σ_{a of d} x_a ≥ φ.

    Parameters
    ----------
    drafter : str
        Its name, or "off".
    share : float
        φ in [0, 1].

    Examples
    --------
    >>> from ensctl import scheduling
    >>> print(scheduling.ShareFloor("E", 0.5))
    share of cycles of E ≥ 0.5
    """

    drafter: str
    share: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", as_scalar(self.share, "share", at_least=0, at_most=1))

    def row(self, arms: Arms) -> tuple[Array, float]:
        """φ s − Σ_{a of d} y_a ≤ 0."""
        return self.share - arms.of(self.drafter).astype(float), 0.0

    def worth(self, price: float, total: float) -> tuple[float, float]:
        """dT/dφ = −π s, and the step it is stated for."""
        return -price * total, 0.01

    def __str__(self) -> str:
        return f"share of cycles of {self.drafter} ≥ {self.share:g}"


@dataclass(frozen=True)
class TimeShareFloor:
    """A drafter is used for at least this share of the time: Σ_{a of d} x_aC_a ≥ τ Σ x_aC_a.

    Parameters
    ----------
    drafter : str
        Its name, or "off".
    share : float
        τ in [0, 1].

    Examples
    --------
    >>> from ensctl import scheduling
    >>> print(scheduling.TimeShareFloor("off", 0.1))
    share of time of off ≥ 0.1
    """

    drafter: str
    share: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", as_scalar(self.share, "share", at_least=0, at_most=1))

    def row(self, arms: Arms) -> tuple[Array, float]:
        """−Σ_{a of d} y_aC_a ≤ −τ, since Σ y_aC_a = 1."""
        return -(arms.of(self.drafter) * arms.cycles), -self.share

    def worth(self, price: float, total: float) -> tuple[float, float]:
        """dT/dτ = −π, and the step."""
        return -price, 0.01

    def __str__(self) -> str:
        return f"share of time of {self.drafter} ≥ {self.share:g}"


@dataclass(frozen=True)
class MeanCycleCap:
    """The mean cycle costs at most this: Σ x_aC_a ≤ ℓ.

    A cap that every cycle has to keep is ``cycle_cap`` of :func:`allocate`: a filter on arms.

    Parameters
    ----------
    limit : float
        ℓ > 0, in the unit of the costs.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> print(scheduling.MeanCycleCap(1.5))
    mean cycle ≤ 1.5
    """

    limit: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", as_scalar(self.limit, "limit", above=0.0))

    def row(self, arms: Arms) -> tuple[Array, float]:
        """−s ≤ −1/ℓ."""
        return -np.ones(arms.size), -1.0 / self.limit

    def worth(self, price: float, total: float) -> tuple[float, float]:
        """dT/dℓ = π/ℓ², and the step."""
        return price / self.limit**2, 1.0

    def __str__(self) -> str:
        return f"mean cycle ≤ {self.limit:g}"


@dataclass(frozen=True, eq=False)
class MeanBudget:
    """A mean use per cycle is at most this: Σ g_a x_a ≤ h.

    Parameters
    ----------
    name : str
        What is used, for example "verified units".
    use : callable or array_like, (n,)
        g: a function of (drafter, depth), or the numbers in the order of all arms.
    limit : float
        h.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> print(scheduling.MeanBudget("verified units", lambda drafter, depth: 1 + depth, 2.5))
    mean verified units ≤ 2.5
    """

    name: str
    use: Callable[[str, int], float] | ArrayLike
    limit: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", as_scalar(self.limit, "limit"))

    def row(self, arms: Arms) -> tuple[Array, float]:
        """g·y − h s ≤ 0."""
        if callable(self.use):
            pairs = zip(arms.drafters, arms.depths, strict=True)
            try:
                used = [self.use(*pair) for pair in pairs]
            except TypeError as error:
                raise InvalidInputError(
                    f"use of {self.name} must be a function of (drafter, depth): {error}"
                ) from error
            given = [as_scalar(value, f"use of {self.name}") for value in used]
            return np.array(given) - self.limit, 0.0
        listed = as_vector(self.use, f"use of {self.name}", real=True)
        if listed.size != arms.size:
            raise InvalidInputError(
                f"use of {self.name} must have {arms.size} entries, one for each of "
                f"{', '.join(arms.names[:4])} …, got {listed.size}"
            )
        return listed - self.limit, 0.0

    def worth(self, price: float, total: float) -> tuple[float, float]:
        """dT/dh = π s, and the step."""
        return price * total, 1.0

    def __str__(self) -> str:
        return f"mean {self.name} ≤ {self.limit:g}"


@dataclass(frozen=True)
class RegionFloor:
    """A region gets at least this throughput: Σ x_aL_ra ≥ f Σ x_aC_a.

    Parameters
    ----------
    region : str
        Its name.
    throughput : float
        f ≥ 0, units per cost and stream.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> print(scheduling.RegionFloor("chat", 1.1))
    throughput of chat ≥ 1.1
    """

    region: str
    throughput: float

    def __post_init__(self) -> None:
        floor = as_scalar(self.throughput, "throughput", at_least=0.0)
        object.__setattr__(self, "throughput", floor)

    def row(self, arms: Arms) -> tuple[Array, float]:
        """−L_r·y ≤ −f."""
        if self.region not in arms.regions:
            raise InvalidInputError(
                f"no region {self.region!r}; regions are {', '.join(arms.regions)}"
            )
        return -arms.lengths[arms.regions.index(self.region)], -self.throughput

    def worth(self, price: float, total: float) -> tuple[float, float]:
        """dT/df = −π, and the step."""
        return -price, 0.01

    def __str__(self) -> str:
        return f"throughput of {self.region} ≥ {self.throughput:g}"


Constraint = ShareFloor | TimeShareFloor | MeanCycleCap | MeanBudget | RegionFloor


def rows_of(constraints: tuple[Constraint, ...], arms: Arms) -> tuple[Array, Array]:
    """A (q, n) and b (q,) of A y ≤ b, one row for each constraint."""
    for i, constraint in enumerate(constraints):
        if not isinstance(constraint, Constraint):
            raise InvalidInputError(
                f"constraints[{i}] must be a ShareFloor, TimeShareFloor, MeanCycleCap, MeanBudget "
                f"or RegionFloor, got {type(constraint).__name__}"
            )
    pairs = [constraint.row(arms) for constraint in constraints]
    rows = np.array([row for row, _ in pairs]).reshape(len(pairs), arms.size)
    return rows, np.array([limit for _, limit in pairs])
