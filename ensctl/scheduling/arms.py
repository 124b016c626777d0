"""Arms: what can be broadcast in one cycle, with its mean length and its cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_scalar, as_vector, read_only
from ensctl.drafting.convention import Convention, as_convention, as_depth
from ensctl.drafting.drafter import Drafter, as_drafters
from ensctl.errors import InvalidInputError
from ensctl.scheduling.regions import Region

Array = NDArray[Any]

OFF = "off"


@dataclass(frozen=True, eq=False)
class Arms:
    """A table of arms; made by :func:`make_arms` or :func:`arms_from_arrays`.

    Attributes
    ----------
    drafters : tuple of str
        Drafter of each arm; "off" for the arm without one.
    depths : tuple of int
        Depth K of each arm; 0 for off.
    lengths : (r, n) array, read-only
        Mean length of a cycle per stream, one row for each region.
    cycles : (n,) array, read-only
        Cost of a cycle.
    regions : tuple of str
        Names of the regions; one of them, "all", where none are told apart.
    weights : (r,) array, read-only
        Share of cycles in each region, summing to one.
    unit : str
        Unit of the costs.
    """

    drafters: tuple[str, ...]
    depths: tuple[int, ...]
    lengths: Array
    cycles: Array
    regions: tuple[str, ...]
    weights: Array
    unit: str

    @property
    def size(self) -> int:
        """Number of arms n."""
        return len(self.depths)

    @property
    def names(self) -> tuple[str, ...]:
        """What each arm is called: "off", or drafter and depth."""
        pairs = zip(self.drafters, self.depths, strict=True)
        return tuple(OFF if not depth else f"{name} K={depth}" for name, depth in pairs)

    @property
    def mean_lengths(self) -> Array:
        """Mean length over the regions by weight, (n,)."""
        return np.asarray(self.weights @ self.lengths)

    def of(self, drafter: str) -> Array:
        """Which arms belong to a drafter, (n,) of bool; "off" is one."""
        found = np.array([name == drafter for name in self.drafters])
        if not found.any():
            known = ", ".join(dict.fromkeys(self.drafters))
            raise InvalidInputError(f"no arm of drafter {drafter!r}; arms belong to {known}")
        return found

    def only(self, keep: Array) -> Arms:
        """The arms marked in ``keep``, (n,) of bool."""
        chosen = np.flatnonzero(keep)
        return Arms(
            tuple(self.drafters[i] for i in chosen),
            tuple(self.depths[i] for i in chosen),
            read_only(self.lengths[:, chosen]),
            read_only(self.cycles[chosen]),
            self.regions,
            self.weights,
            self.unit,
        )


def make_arms(
    drafters: Sequence[Drafter],
    depths: int | Iterable[int] | Mapping[str, Iterable[int]],
    *,
    off: bool = True,
    off_cost: float | None = None,
    regions: Sequence[Region] = (),
    batch: float = 1,
    context: float = 0.0,
    convention: Convention | str = Convention.WITH_BONUS,
) -> Arms:
    """Every drafter at every depth, and off, at one load.

    Parameters
    ----------
    drafters : sequence of Drafter
        With different names, none of them "off", and costs in one unit.
    depths : int, iterable of int, or mapping
        The depths K ≥ 1: all up to a number, those listed, or those listed for each drafter by
        name.  A 0 in a list is off.
    off : bool
        Whether to add the arm without drafts: one unit per pass, whatever the convention.
    off_cost : float, optional
        Cost > 0 of a cycle without drafts; the least ``cost.cycle(0)`` when not given.
    regions : sequence of Region, optional
        Kinds of traffic with their own acceptance.
    batch, context : float
        Load at which costs are taken.
    convention : Convention
        What lengths count.

    Returns
    -------
    Arms

    Raises
    ------
    InvalidInputError
        No drafter, equal names, no depth, or costs in different units or missing for the load.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> arms = scheduling.make_arms([scheduling.Drafter("E", 0.5, 0.1)], 2)
    >>> arms.names
    ('off', 'E K=1', 'E K=2')
    >>> arms.mean_lengths, arms.cycles
    (array([1.  , 1.5 , 1.75]), array([1. , 1.1, 1.2]))
    """
    pool = drafters_with_names(drafters)
    rule = as_convention(convention)
    given = listed_as(regions, "regions")
    _check_names(pool, depths, given)
    cases = given or (Region("all", 1.0, {}),)
    if isinstance(depths, Iterable) and not isinstance(depths, Mapping):
        depths = list(depths)
    wanted = {drafter.name: _depths_of(drafter.name, depths) for drafter in pool}
    pairs = [(drafter, depth) for drafter in pool for depth in wanted[drafter.name]]
    names, numbers, lengths, cycles = [], [], [], []
    if off:
        cost = min(drafter.cost.cycle(0, batch, context) for drafter in pool)
        names, numbers = [OFF], [0]
        lengths = [[1.0] * len(cases)]
        cycles = [cost if off_cost is None else as_scalar(off_cost, "off_cost", above=0.0)]
    elif off_cost is not None:
        raise InvalidInputError("off_cost goes with off=True; leave it out")
    for drafter, depth in pairs:
        models = [case.acceptance.get(drafter.name, drafter.acceptance) for case in cases]
        names.append(drafter.name)
        numbers.append(depth)
        lengths.append([model.expected_length(depth, convention=rule) for model in models])
        cycles.append(drafter.cost.cycle(depth, batch, context))
    if not names:
        raise InvalidInputError("depths must name at least one depth ≥ 1, or allow off")
    weights = np.array([case.weight for case in cases])
    return Arms(
        tuple(names),
        tuple(numbers),
        read_only(np.array(lengths).T.copy()),
        read_only(_positive(np.array(cycles))),
        tuple(case.name for case in cases),
        read_only(weights / weights.sum()),
        pool[0].cost.unit,
    )


def arms_from_arrays(
    lengths: ArrayLike,
    cycles: ArrayLike,
    *,
    drafters: Sequence[str] | None = None,
    depths: Sequence[int] | None = None,
    regions: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
    unit: str = "ms",
) -> Arms:
    """A table of measured arms.

    Parameters
    ----------
    lengths : array_like, (n,) or (r, n)
        Mean length ≥ 0 of a cycle of each arm, in each region.
    cycles : array_like, (n,)
        Cost > 0 of a cycle of each arm.
    drafters : sequence of str, optional
        Drafter of each arm; "arm 0", "arm 1", … when not given.
    depths : sequence of int, optional
        Depth of each arm; 1 when not given.  Depth 0 is off.
    regions : sequence of str, optional
        Names of the rows of ``lengths``.
    weights : array_like, (r,), optional
        Share of cycles in each region; equal when not given.
    unit : str
        Unit of ``cycles``.

    Returns
    -------
    Arms

    Raises
    ------
    InvalidInputError
        Shapes that do not fit, or numbers out of range.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> scheduling.arms_from_arrays([[3, 2], [2, 3]], [1, 1.25]).size
    2
    """
    table = np.atleast_2d(as_array(lengths, "lengths", real=True))
    costs = as_vector(cycles, "cycles", real=True)
    if table.ndim != 2 or table.shape[1] != costs.size:
        raise InvalidInputError(
            f"lengths must have one column for each of {costs.size} cycles, got shape {table.shape}"
        )
    if table.min() < 0:
        raise InvalidInputError(f"lengths must be ≥ 0, got {table.min():g}")
    size, count = costs.size, table.shape[0]
    number = [1] * size if depths is None else [as_depth(depth, "depths") for depth in depths]
    names = [f"arm {i}" for i in range(size)] if drafters is None else [str(d) for d in drafters]
    if len(number) != size or len(names) != size:
        raise InvalidInputError(f"drafters and depths must have {size} entries, one for each arm")
    names = [OFF if not depth else name for name, depth in zip(names, number, strict=True)]
    if len(set(zip(names, number, strict=True))) < size:
        raise InvalidInputError("arms must differ in drafter or depth; two of them are equal")
    cases = _region_names(regions, count)
    share = np.ones(count) if weights is None else as_vector(weights, "weights", size=count)
    if share.min() < 0 or share.sum() <= 0:
        raise InvalidInputError("weights must be ≥ 0 and not all zero")
    return Arms(
        tuple(names),
        tuple(number),
        read_only(table),
        read_only(_positive(costs)),
        cases,
        read_only(share / share.sum()),
        unit,
    )


def drafters_with_names(drafters: Sequence[Drafter]) -> list[Drafter]:
    """Check a list of drafters, of which none may be called like the arm without one."""
    pool = as_drafters(drafters)
    if any(drafter.name == OFF for drafter in pool):
        raise InvalidInputError(f"a drafter must not be called {OFF!r}: that is the arm without")
    return pool


def listed_as(value: Any, name: str) -> tuple[Any, ...]:
    """Several of something as a tuple; one alone is refused."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInputError(f"{name} must be a list, got {type(value).__name__}; put it in []")
    return tuple(value)


def _depths_of(name: str, depths: Any) -> list[int]:
    if isinstance(depths, Mapping):
        depths = depths.get(name, ())
    if isinstance(depths, Iterable):
        listed = sorted({as_depth(depth, "depths") for depth in depths} - {0})
    else:
        listed = list(range(1, as_depth(depths, "depths") + 1))
    return listed


def _check_names(pool: list[Drafter], depths: Any, regions: Sequence[Region]) -> None:
    """Check that depths and regions name drafters of the pool, and that regions differ."""
    for i, region in enumerate(regions):
        if not isinstance(region, Region):
            raise InvalidInputError(f"regions[{i}] must be a Region, got {type(region).__name__}")
    known = {drafter.name for drafter in pool}
    if isinstance(depths, str):
        raise InvalidInputError(f"depths must be integers, got {depths!r}")
    if isinstance(depths, Mapping):
        for name in depths:
            if name not in known:
                raise InvalidInputError(f"depths names {name!r}, which is no drafter")
    names = [region.name for region in regions]
    for region in regions:
        if names.count(region.name) > 1:
            raise InvalidInputError(f"regions must have different names, got {region.name!r} twice")
        for name in region.acceptance:
            if name not in known:
                raise InvalidInputError(
                    f"region {region.name!r} names {name!r}, which is no drafter"
                )
    if regions and sum(region.weight for region in regions) <= 0:
        raise InvalidInputError("regions must have weights that are not all zero")


def _region_names(regions: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if regions is None:
        return ("all",) if count == 1 else tuple(f"region {i}" for i in range(count))
    names = tuple(str(name) for name in regions)
    if len(names) != count or len(set(names)) != count:
        raise InvalidInputError(f"regions must be {count} different names, one for each row")
    return names


def _positive(cycles: Array) -> Array:
    if cycles.min() <= 0:
        raise InvalidInputError(f"cycles must cost more than 0, got {cycles.min():g}")
    return cycles
