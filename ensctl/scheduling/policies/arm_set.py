"""The arms a policy chooses from, and what each costs at a load: mean drafted depth included."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ensctl.arguments import as_count, as_scalar
from ensctl.drafting.convention import as_depth
from ensctl.drafting.cost import CostModel, as_cost
from ensctl.drafting.drafter import Drafter
from ensctl.errors import InvalidInputError
from ensctl.scheduling.arms import OFF

DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10)
# Loads seen by one server differ in batch and in rounded context: a few thousand in all.
_KEPT_LOADS = 4096
_CONTEXT_BITS = 5


@dataclass(frozen=True, eq=False)
class ArmSet:
    """Arms in a fixed order, with the cost model behind each; made by :func:`arm_set`.

    Attributes
    ----------
    pool : tuple of str
        Names of the drafters.
    models : tuple of CostModel
        Cost model of each drafter.
    owner : tuple of int
        For each arm the number of its drafter, −1 for off.
    depths : tuple of int
        For each arm its depth K, 0 for off.
    off_model : CostModel
        Whose ``cycle(0)`` off costs.
    """

    pool: tuple[str, ...]
    models: tuple[CostModel, ...]
    owner: tuple[int, ...]
    depths: tuple[int, ...]
    off_model: CostModel

    @property
    def size(self) -> int:
        """Number of arms."""
        return len(self.depths)

    @property
    def names(self) -> tuple[str, ...]:
        """What each arm is called: "off", or drafter and depth."""
        pairs = zip(self.owner, self.depths, strict=True)
        return tuple(OFF if d < 0 else f"{self.pool[d]} K={depth}" for d, depth in pairs)

    @property
    def unit(self) -> str:
        """Unit of the costs."""
        return self.off_model.unit

    def index(self, drafter: str, depth: int) -> int:
        """Number of an arm by drafter and depth; depth 0 or the name "off" is off."""
        if drafter == OFF or depth == 0:
            wanted = (-1, 0)
        elif drafter in self.pool:
            wanted = (self.pool.index(drafter), depth)
        else:
            raise InvalidInputError(f"no drafter {drafter!r}; there are {', '.join(self.pool)}")
        for number, arm in enumerate(zip(self.owner, self.depths, strict=True)):
            if arm == wanted:
                return number
        raise InvalidInputError(f"no arm {drafter} K={depth}; arms are {', '.join(self.names)}")

    def of(self, drafter: int) -> tuple[int, ...]:
        """Numbers of the arms of a drafter, by depth; −1 is off."""
        return tuple(i for i, owner in enumerate(self.owner) if owner == drafter)

    def lines(self, batch: int, context: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Cost of each arm as a line in the share of streams that draft: c = base + share·slope.

        A stream without a draft is verified as one token, so the cost follows the mean drafted
        depth: exactly where the model is linear in K, along the chord from depth 1 elsewhere.
        """
        try:
            return _lines(self, batch, context)
        except TypeError:
            raise InvalidInputError(
                f"batch and context must be numbers, got {batch!r} and {context!r}"
            ) from None

    def costs(self, batch: int = 1, context: float = 0.0) -> tuple[float, ...]:
        """Cost of a cycle of each arm when every stream drafts."""
        bases, slopes = self.lines(as_count(batch, "batch"), as_scalar(context, "context"))
        return tuple(base + slope for base, slope in zip(bases, slopes, strict=True))


def arm_set(
    drafters: Mapping[str, CostModel | float] | Sequence[Drafter],
    depths: Iterable[int] | Mapping[str, Iterable[int]] = DEPTHS,
    *,
    off: bool = True,
    off_cost: CostModel | float | None = None,
) -> ArmSet:
    """Arms for policies: every drafter at every depth, and off.

    Parameters
    ----------
    drafters : mapping or sequence of Drafter
        Cost model of each drafter by name, or drafters (whose acceptance is not looked at).
    depths : iterable of int, or mapping
        Depths K ≥ 1, for all or for each drafter by name.
    off : bool
        Whether drafting can be turned off.
    off_cost : CostModel or float, optional
        Its ``cycle(0)``, or a number, is what off costs; the first drafter's when not given.

    Returns
    -------
    ArmSet

    Raises
    ------
    InvalidInputError
        No drafter, equal names, no depth ≥ 1, or costs in different units.

    Examples
    --------
    >>> from ensctl.scheduling import policies
    >>> arms = policies.arm_set({"E": 0.1, "N": 0.01}, [1, 3])
    >>> arms.names
    ('off', 'E K=1', 'E K=3', 'N K=1', 'N K=3')
    >>> arms.costs()
    (1.0, 1.1, 1.3, 1.01, 1.03)
    """
    models = _models(drafters)
    pool = tuple(models)
    if isinstance(depths, Mapping):
        unknown = sorted(set(depths) - set(pool))
        if unknown:
            raise InvalidInputError(f"depths names {unknown[0]!r}; drafters are {', '.join(pool)}")
    listed = None if isinstance(depths, Mapping) else tuple(depths)
    owner, numbers = ([-1], [0]) if off else ([], [])
    for position, name in enumerate(pool):
        wanted = depths.get(name, ()) if isinstance(depths, Mapping) else listed or ()
        checked = sorted({as_depth(depth, "depths", minimum=1) for depth in wanted})
        if not checked:
            raise InvalidInputError(f"depths must list at least one K ≥ 1 for {name!r}")
        owner += [position] * len(checked)
        numbers += checked
    plain: CostModel = models[pool[0]]
    if isinstance(off_cost, CostModel):
        plain = off_cost
    elif off_cost is not None:
        plain = _constant(as_scalar(off_cost, "off_cost", above=0.0), plain.unit)
    units = {model.unit for model in (*models.values(), plain)}
    if len(units) > 1:
        raise InvalidInputError(f"costs must be in one unit, got {', '.join(sorted(units))}")
    return ArmSet(pool, tuple(models.values()), tuple(owner), tuple(numbers), plain)


def load_bucket(batch: int) -> int:
    """⌊log2 B⌋."""
    return batch.bit_length() - 1


def rounded_context(context: float) -> float:
    """A context to 5 binary digits, so that few different loads are priced: within 3 %."""
    if context <= 0.0:
        return 0.0
    fraction, power = math.frexp(context)
    return math.ldexp(round(fraction * 2**_CONTEXT_BITS), power - _CONTEXT_BITS)


@lru_cache(maxsize=_KEPT_LOADS)
def _lines(arms: ArmSet, batch: int, context: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    bases, slopes = [], []
    for owner, depth in zip(arms.owner, arms.depths, strict=True):
        if owner < 0:
            bases.append(arms.off_model.cycle(0, batch, context))
            slopes.append(0.0)
            continue
        far = max(depth, 2)
        first, last = arms.models[owner].cycles([1, far], batch, context).tolist()
        per_unit = (last - first) / (far - 1)
        bases.append(first - per_unit)
        slopes.append(per_unit * depth)
    if min(base + slope for base, slope in zip(bases, slopes, strict=True)) <= 0:
        raise InvalidInputError("every cycle must cost more than 0; check the cost models")
    return tuple(bases), tuple(slopes)


def _models(drafters: Mapping[str, CostModel | float] | Sequence[Drafter]) -> dict[str, CostModel]:
    if isinstance(drafters, Mapping):
        models = {str(name): as_cost(cost, f"cost of {name}") for name, cost in drafters.items()}
    else:
        pool = list(drafters) if isinstance(drafters, Iterable) else [drafters]
        if any(not isinstance(drafter, Drafter) for drafter in pool):
            raise InvalidInputError("drafters must be costs by name, or drafters")
        models = {drafter.name: drafter.cost for drafter in pool}
        if len(models) < len(pool):
            raise InvalidInputError("drafters must have different names; rename one")
    if not models:
        raise InvalidInputError("drafters must have at least one entry, got none")
    if OFF in models:
        raise InvalidInputError(f"no drafter may be called {OFF!r}; that arm is always there")
    return models


def _constant(cost: float, unit: str) -> CostModel:
    from ensctl.drafting.cost import LinearCost

    return LinearCost(0.0, cost, unit=unit)
