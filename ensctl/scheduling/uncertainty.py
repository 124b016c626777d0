"""Sets of lengths or acceptances to be ready for, and the mix that is best at worst."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_scalar, read_only
from ensctl.convex.ratio_program import RatioProgram, RatioSolution, RowConflict
from ensctl.convex.ratio_solver import solve_ratio
from ensctl.drafting.acceptance import IID, AcceptanceModel, as_acceptance
from ensctl.drafting.drafter import Drafter
from ensctl.errors import InvalidInputError, SolverError
from ensctl.scheduling.arms import Arms
from ensctl.scheduling.worst_acceptance import lengths_at, worst_acceptance

Array = NDArray[Any]

_PLANES = 200
_CLOSED = 1e-10


@dataclass(frozen=True)
class LowerAcceptance:
    """Acceptances in intervals: lengths rise with acceptance, so the lower ends are the worst case.

    Parameters
    ----------
    lower : mapping of str to AcceptanceModel or float
        Lower end by drafter name; drafters that are not named keep their estimate.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> print(scheduling.LowerAcceptance({"E": 0.55}))
    guaranteed for acceptances down to their lower ends
    """

    lower: Mapping[str, AcceptanceModel]

    def __init__(self, lower: Mapping[str, Any]) -> None:
        models = {
            str(name): as_acceptance(value, f"lower end of {name!r}")
            for name, value in _mapping(lower, "lower").items()
        }
        object.__setattr__(self, "lower", MappingProxyType(models))

    def __str__(self) -> str:
        return "guaranteed for acceptances down to their lower ends"


@dataclass(frozen=True, eq=False)
class LengthEllipsoid:
    """Lengths L with (L − L̂)ᵀΣ⁻¹(L − L̂) ≤ κ²: maximises L̂·y − κ‖Σ^{½}y‖₂.

    Parameters
    ----------
    std : array_like, (n,) or (n, n)
        Standard deviations of the lengths in the order of the arms, or their covariance Σ.
    kappa : float
        κ ≥ 0 standard deviations.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> arms = scheduling.arms_from_arrays([3, 3], [1.5, 1.5])
    >>> plan = scheduling.allocate(
    ...     arms, uncertainty=scheduling.LengthEllipsoid([0.3, 0.4], kappa=2)
    ... )
    >>> round(plan.throughput, 9), plan.shares.round(9)
    (1.68, array([0.64, 0.36]))
    """

    std: ArrayLike
    kappa: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "kappa", as_scalar(self.kappa, "kappa", at_least=0.0))

    def factor(self, size: int) -> Array:
        """F with FᵀF = Σ."""
        spread = as_array(self.std, "std", real=True)
        if spread.shape == (size,):
            if spread.min() < 0:
                raise InvalidInputError(f"std must be ≥ 0, got {spread.min():g}")
            return np.diag(spread)
        if spread.shape != (size, size):
            raise InvalidInputError(
                f"std must be ({size},) or a covariance ({size}, {size}), got shape {spread.shape}"
            )
        if not np.allclose(spread, spread.T, rtol=1e-10, atol=0.0):
            raise InvalidInputError("std as a covariance must be symmetric")
        values, vectors = np.linalg.eigh(spread)
        if values[0] < -1e-12 * max(values[-1], 0.0):
            raise InvalidInputError("std as a covariance must be positive semidefinite")
        root: Array = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return root

    def __str__(self) -> str:
        return f"guaranteed for lengths within {self.kappa:g} standard deviations together"


@dataclass(frozen=True)
class AcceptanceEllipsoid:
    """Acceptances α with Σ_d ((α_d − α̂_d)/σ_d)² ≤ κ²: a saddle point found by cutting planes.

    Parameters
    ----------
    std : mapping of str to float
        σ > 0 by drafter name; drafters that are not named are certain.
    kappa : float
        κ ≥ 0 standard deviations.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> print(scheduling.AcceptanceEllipsoid({"E": 0.08, "N": 0.02}, kappa=1))
    guaranteed for acceptances within 1 standard deviations together
    """

    std: Mapping[str, float]
    kappa: float

    def __post_init__(self) -> None:
        spread = {
            str(name): as_scalar(value, f"std of {name!r}", above=0.0)
            for name, value in _mapping(self.std, "std").items()
        }
        object.__setattr__(self, "std", MappingProxyType(spread))
        object.__setattr__(self, "kappa", as_scalar(self.kappa, "kappa", at_least=0.0))

    def __str__(self) -> str:
        return f"guaranteed for acceptances within {self.kappa:g} standard deviations together"


Uncertainty = LowerAcceptance | LengthEllipsoid | AcceptanceEllipsoid


def worst_drafters(drafters: list[Drafter], uncertainty: Uncertainty | None) -> list[Drafter]:
    """The drafters at their lower ends where intervals are given, unchanged otherwise."""
    if not isinstance(uncertainty, LowerAcceptance):
        return drafters
    return [Drafter(d.name, uncertainty.lower.get(d.name, d.acceptance), d.cost) for d in drafters]


def solve_uncertain(
    arms: Arms,
    drafters: list[Drafter] | None,
    rewards: Array,
    rows: Array,
    limits: Array,
    uncertainty: Uncertainty | None,
) -> RatioSolution | RowConflict:
    """The best guaranteed mix; ``rewards`` (k, n) are the lengths whose worst row is maximised."""
    program = RatioProgram(rewards, arms.cycles, rows, limits, np.zeros((0, arms.size)))
    if isinstance(uncertainty, LengthEllipsoid):
        program = replace(program, factor=uncertainty.factor(arms.size), kappa=uncertainty.kappa)
    elif isinstance(uncertainty, AcceptanceEllipsoid):
        return _saddle(program, arms, drafters, uncertainty)
    elif isinstance(uncertainty, LowerAcceptance):
        if drafters is None:
            raise InvalidInputError("LowerAcceptance needs drafters; a table of arms has no α")
    elif uncertainty is not None:
        raise InvalidInputError(
            "uncertainty must be LowerAcceptance, LengthEllipsoid or AcceptanceEllipsoid, got "
            f"{type(uncertainty).__name__}"
        )
    return solve_ratio(program)


def _saddle(
    program: RatioProgram,
    arms: Arms,
    drafters: list[Drafter] | None,
    ellipsoid: AcceptanceEllipsoid,
) -> RatioSolution | RowConflict:
    """max_y min_α L(α)·y: the worst α of the last mix becomes a row, until nothing changes."""
    if drafters is None or program.rewards.shape[0] > 1 or len(arms.regions) > 1:
        raise InvalidInputError("AcceptanceEllipsoid needs drafters and one region")
    alphas = {}
    for drafter in drafters:
        if not isinstance(drafter.acceptance, IID):
            raise InvalidInputError(
                f"AcceptanceEllipsoid needs a number α for {drafter.name!r}, got "
                f"{type(drafter.acceptance).__name__}"
            )
        alphas[drafter.name] = drafter.acceptance.alpha
    unknown = sorted(set(ellipsoid.std) - set(alphas))
    if unknown:
        raise InvalidInputError(f"std names {unknown[0]!r}, which is no drafter")
    constant = program.rewards[0] - lengths_at(arms, alphas)
    for _ in range(_PLANES):
        found = solve_ratio(program)
        if isinstance(found, RowConflict):
            return found
        worst, guaranteed = worst_acceptance(arms, alphas, ellipsoid.std, ellipsoid.kappa, found.y)
        guaranteed += float(constant @ found.y)
        if found.upper_bound - guaranteed <= _CLOSED * abs(found.upper_bound):
            return replace(found, value=guaranteed, reward_prices=read_only(found.reward_prices))
        row = lengths_at(arms, worst) + constant
        program = replace(program, rewards=np.vstack([program.rewards, row]))
    raise SolverError(f"the worst acceptances did not settle in {_PLANES} planes")


def _mapping(value: Any, name: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInputError(
            f"{name} must map drafter names to numbers, got {type(value).__name__}"
        )
    return value
