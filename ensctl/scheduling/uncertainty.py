"""Sets of lengths or acceptances to be ready for, and the mix that is best at worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_scalar, read_only
from ensctl.convex.ratio_program import RatioProgram, RatioSolution, RowConflict
from ensctl.convex.ratio_solver import solve_ratio
from ensctl.drafting.acceptance import IID, AcceptanceModel, as_acceptance
from ensctl.drafting.convention import Convention
from ensctl.drafting.drafter import Drafter
from ensctl.errors import InvalidInputError, SolverError
from ensctl.scheduling.arms import Arms
from ensctl.scheduling.regions import Region
from ensctl.scheduling.worst_acceptance import lengths_at, worst_acceptance

Array = NDArray[Any]

_PLANES = 200
_CLOSED = 1e-10
_ROUNDING = 1e-12


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
        # What rounding leaves of a zero variance would be √ε as a standard deviation.
        known = np.where(values > size * np.finfo(float).eps * values[-1], values, 0.0)
        root: Array = np.sqrt(known)[:, None] * vectors.T
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


def worst_drafters(
    drafters: list[Drafter], uncertainty: Uncertainty | None, regions: Sequence[Region] = ()
) -> list[Drafter]:
    """The drafters at their lower ends where intervals are given, unchanged otherwise."""
    if not isinstance(uncertainty, LowerAcceptance):
        return drafters
    known = {drafter.name: drafter.acceptance for drafter in drafters}
    for name, model in uncertainty.lower.items():
        if name not in known:
            raise InvalidInputError(f"lower names {name!r}, which is no drafter")
        if model.expected_length(1) > known[name].expected_length(1) * (1 + _ROUNDING):
            raise InvalidInputError(f"lower must not be above the estimate of {name!r}")
        for region in regions:
            if name in getattr(region, "acceptance", ()):
                raise InvalidInputError(
                    f"lower names {name!r}, which has its own acceptance in region "
                    f"{region.name!r}; give the region the lower end instead"
                )
    return [Drafter(d.name, uncertainty.lower.get(d.name, d.acceptance), d.cost) for d in drafters]


def guaranteed_lengths(
    arms: Arms,
    drafters: list[Drafter] | None,
    rewards: Array,
    uncertainty: Uncertainty | None,
    rule: Convention,
) -> Array:
    """What each arm yields at worst when it is used on its own, (n,)."""
    least = np.asarray(rewards.min(axis=0))
    if isinstance(uncertainty, LengthEllipsoid):
        factor = uncertainty.factor(arms.size)
        return np.asarray(least - uncertainty.kappa * np.linalg.norm(factor, axis=0))
    if isinstance(uncertainty, AcceptanceEllipsoid):
        alphas = _alphas(arms, drafters, rewards, uncertainty)
        lower = {
            name: max(alpha - uncertainty.kappa * uncertainty.std[name], 0.0)
            for name, alpha in alphas.items()
        }
        counted = _counted(arms, rule)
        return np.asarray(least + lengths_at(counted, lower) - lengths_at(counted, alphas))
    return least


def solve_uncertain(
    table: Arms,
    keep: Array,
    drafters: list[Drafter] | None,
    rewards: Array,
    rows: Array,
    limits: Array,
    uncertainty: Uncertainty | None,
    rule: Convention,
) -> RatioSolution | RowConflict:
    """The best guaranteed mix of the arms in ``keep``, (n,) of bool.

    ``rewards`` (k, ·) are the lengths of those arms whose worst row is maximised.
    """
    arms = table.only(keep)
    program = RatioProgram(rewards, arms.cycles, rows, limits, np.zeros((0, arms.size)))
    if isinstance(uncertainty, LengthEllipsoid):
        factor = uncertainty.factor(table.size)[:, keep]
        program = replace(program, factor=factor, kappa=uncertainty.kappa)
    elif isinstance(uncertainty, AcceptanceEllipsoid):
        alphas = _alphas(arms, drafters, rewards, uncertainty)
        return _saddle(program, _counted(arms, rule), alphas, uncertainty)
    elif isinstance(uncertainty, LowerAcceptance):
        if drafters is None:
            raise InvalidInputError("LowerAcceptance needs drafters; a table of arms has no α")
    elif uncertainty is not None:
        raise InvalidInputError(
            "uncertainty must be LowerAcceptance, LengthEllipsoid or AcceptanceEllipsoid, got "
            f"{type(uncertainty).__name__}"
        )
    return solve_ratio(program)


def _counted(arms: Arms, rule: Convention) -> Arms:
    """Arms whose Σ_{j=0..K} α^j differs from the length counted by a constant."""
    if rule is not Convention.COMMITTED:
        return arms
    return replace(arms, depths=tuple(max(depth - 1, 0) for depth in arms.depths))


def _alphas(
    arms: Arms, drafters: list[Drafter] | None, rewards: Array, ellipsoid: AcceptanceEllipsoid
) -> dict[str, float]:
    """α of the drafters that are uncertain."""
    if drafters is None or rewards.shape[0] > 1 or len(arms.regions) > 1:
        raise InvalidInputError("AcceptanceEllipsoid needs drafters and one region")
    known = {drafter.name: drafter.acceptance for drafter in drafters}
    alphas = {}
    for name in ellipsoid.std:
        if name not in known:
            raise InvalidInputError(f"std names {name!r}, which is no drafter")
        model = known[name]
        if not isinstance(model, IID):
            raise InvalidInputError(
                f"AcceptanceEllipsoid needs a number α for {name!r}, got {type(model).__name__}"
            )
        alphas[name] = model.alpha
    return alphas


def _saddle(
    program: RatioProgram, arms: Arms, alphas: dict[str, float], ellipsoid: AcceptanceEllipsoid
) -> RatioSolution | RowConflict:
    """max_y min_α L(α)·y: the worst α of the last mix becomes a row, until nothing changes."""
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
