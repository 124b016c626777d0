"""The best mix of drafters and depths under side constraints, with prices and a proof."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from ensctl.arguments import as_scalar, read_only
from ensctl.convex.ratio_program import RatioSolution, RowConflict
from ensctl.drafting.convention import Convention
from ensctl.drafting.cost import one_of
from ensctl.drafting.drafter import Drafter
from ensctl.errors import InfeasibleError, InvalidInputError
from ensctl.scheduling.allocation import Allocation, ConstraintPrice, SingleArm
from ensctl.scheduling.allocation_conflict import explain_conflict
from ensctl.scheduling.allocation_switching import Switching, mix_with_switching
from ensctl.scheduling.arms import OFF, Arms, check_names, drafters_with_names, make_arms
from ensctl.scheduling.constraints import Constraint, MeanCycleCap, rows_of
from ensctl.scheduling.regions import Region
from ensctl.scheduling.uncertainty import (
    LowerAcceptance,
    Uncertainty,
    solve_uncertain,
    worst_drafters,
)

_FEASIBLE = 1e-12
_MOST_DRAFTERS_IN_MEMORY = 15


def allocate(
    drafters: Sequence[Drafter] | Arms,
    depths: int | Iterable[int] | Mapping[str, Iterable[int]] = 8,
    *,
    constraints: Sequence[Constraint] = (),
    regions: Sequence[Region] = (),
    objective: str = "mean",
    off: bool = True,
    off_cost: float | None = None,
    cycle_cap: float | None = None,
    memory: Mapping[str, float] | None = None,
    memory_limit: float | None = None,
    switching: Switching | None = None,
    uncertainty: Uncertainty | None = None,
    batch: float = 1,
    context: float = 0.0,
    convention: Convention | str = Convention.WITH_BONUS,
) -> Allocation:
    """Shares of cycles for every drafter and depth that give the most units per cost.

    maximise Σ x_aL_a / Σ x_aC_a over shares x ≥ 0, Σ x_a = 1, within the constraints: a
    linear-fractional program, solved as a linear one in y = x/(C·x).

    Parameters
    ----------
    drafters : sequence of Drafter, or Arms
        What can be broadcast; a table of arms made beforehand goes without ``depths`` and load.
    depths : int, iterable of int, or mapping
        Depths K ≥ 1, see :func:`make_arms`.
    constraints : sequence
        :class:`ShareFloor`, :class:`TimeShareFloor`, :class:`MeanCycleCap`, :class:`MeanBudget`,
        :class:`RegionFloor`.
    regions : sequence of Region, optional
        Kinds of traffic with their own acceptance.
    objective : {"mean", "worst region"}
        The mean over regions by weight, or the least of them: then the weights do not matter.
    off : bool
        Whether cycles without drafts are allowed.
    off_cost : float, optional
        Cost of those.
    cycle_cap : float, optional
        Largest cost of any one cycle; arms above it are left out.
    memory : mapping of str to float, optional
        Memory each drafter takes while it is resident; drafters that are not named take none.
    memory_limit : float, optional
        What all resident drafters may take together: every subset that fits is tried.
    switching : Switching, optional
        Cost of going from one arm to another; the shares are then played in blocks.
    uncertainty : LowerAcceptance, LengthEllipsoid or AcceptanceEllipsoid, optional
        Guarantee against everything in a set instead of the estimate.
    batch, context : float
        Load at which costs are taken.
    convention : Convention
        What lengths count.

    Returns
    -------
    Allocation
        With a vertex of the feasible set: at most 1 + (active constraints) arms are in use.

    Raises
    ------
    InvalidInputError
        A wrong argument.
    InfeasibleError
        The constraints contradict each other: the message names a smallest set of them that does,
        and ``certificate`` holds multipliers that prove it.
    SolverError
        No solver came within 1e-7 of its own bound.

    Notes
    -----
    Without side constraints one arm is best.  The linear program's vertex is solved again as
    linear equations, so throughput is exact to rounding; ``upper_bound`` is recomputed from the
    multipliers.  A few ms once the program of this size is compiled.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> from ensctl.drafting import LinearCost
    >>> drafter = scheduling.Drafter("E", 0.6, LinearCost(0.2, 1.2, off=1.0, unit="ms"))
    >>> plan = scheduling.allocate(
    ...     [drafter], 4, constraints=[scheduling.MeanCycleCap(1.5)]
    ... )
    >>> print(plan)
    1.2 units per ms and stream (mean; bound 1.2)
    mix of cycles: off 16.67 %, E K=2 83.33 %; mean cycle 1.5 ms
    best single arm E K=1: 1.14286 (+5.00 % by mixing)
    mean cycle ≤ 1.5: one ms more is worth 0.266667 units per ms
    """
    if objective not in ("mean", "worst region"):
        raise InvalidInputError(f'objective must be "mean" or "worst region", got {objective!r}')
    if isinstance(drafters, Arms):
        if memory_limit is not None or regions or off_cost is not None:
            raise InvalidInputError(
                "a table of arms already holds regions and off; memory, regions and off_cost "
                "go with drafters"
            )
        return _allocate_arms(
            drafters, None, tuple(constraints), objective, cycle_cap, switching, uncertainty, batch
        )
    pool = drafters_with_names(drafters)
    check_names(pool, depths, regions)
    best: Allocation | None = None
    failures: list[InfeasibleError] = []
    for resident in _resident_subsets(pool, memory, memory_limit):
        if not resident and not off:
            failures.append(InfeasibleError("memory_limit leaves room for no drafter; allow off"))
            continue
        planned = [drafter for drafter in pool if drafter.name in resident]
        counted = worst_drafters(planned, uncertainty)
        cases = [_within(region, resident) for region in regions]
        arms = make_arms(
            counted or pool,
            _depths_within(depths, resident) if planned else {pool[0].name: []},
            off=off,
            off_cost=off_cost,
            regions=cases if planned else [Region(case.name, case.weight, {}) for case in cases],
            batch=batch,
            context=context,
            convention=convention,
        )
        try:
            found = _allocate_arms(
                arms,
                planned,
                tuple(constraints),
                objective,
                cycle_cap,
                switching,
                uncertainty,
                batch,
            )
        except InfeasibleError as error:
            failures.append(error)
            continue
        if best is None or found.throughput > best.throughput:
            best = found
    if best is None:
        raise failures[-1]
    return best


def _allocate_arms(
    arms: Arms,
    drafters: list[Drafter] | None,
    constraints: tuple[Constraint, ...],
    objective: str,
    cycle_cap: float | None,
    switching: Switching | None,
    uncertainty: Uncertainty | None,
    batch: float,
) -> Allocation:
    kept = arms if cycle_cap is None else _within_cap(arms, cycle_cap)
    rows, limits = rows_of(constraints, kept)
    rewards = kept.mean_lengths[None] if objective == "mean" else kept.lengths
    words = "mean" if objective == "mean" else "worst region"
    if uncertainty is not None:
        words += f", {uncertainty}"
    found = solve_uncertain(kept, drafters, rewards, rows, limits, uncertainty)
    if isinstance(found, RowConflict):
        raise explain_conflict(kept, constraints, rows, limits, found)
    feasible = rows <= limits[:, None] * kept.cycles + _FEASIBLE * np.abs(rows)
    alone = np.where(feasible.all(axis=0), rewards.min(axis=0) / kept.cycles, -np.inf)
    prices = _prices(constraints, found, kept)
    y, throughput, bound = found.y, found.value, found.upper_bound
    if switching is not None:
        if uncertainty is not None and not isinstance(uncertainty, LowerAcceptance):
            raise InvalidInputError(
                "switching goes with no uncertainty or with LowerAcceptance, not with an ellipsoid"
            )
        y, throughput, bound = mix_with_switching(kept, rewards, rows, limits, switching, alone)
        prices = ()
    free = int(np.argmax(rewards.min(axis=0) / kept.cycles))
    lone = int(np.argmax(alone))
    total = float(y.sum())
    return Allocation(
        arms=kept,
        shares=read_only(y / total),
        throughput=throughput,
        upper_bound=bound,
        region_throughputs=read_only(kept.lengths @ y),
        mean_cycle=1.0 / total,
        prices=prices,
        best_single=_single(kept, rewards, lone) if np.isfinite(alone[lone]) else None,
        unconstrained=_single(kept, rewards, free),
        resident=tuple(dict.fromkeys(name for name in arms.drafters if name != OFF)),
        objective=words,
        batch=as_scalar(batch, "batch", at_least=1),
    )


def _prices(
    constraints: tuple[Constraint, ...], found: RatioSolution, arms: Arms
) -> tuple[ConstraintPrice, ...]:
    total = float(found.y.sum())
    prices = []
    for constraint, multiplier in zip(constraints, found.row_prices.tolist(), strict=True):
        worth, step = constraint.worth(multiplier, total)
        amount = "one" if step == 1.0 else f"{step:g}"
        if isinstance(constraint, MeanCycleCap):
            amount += f" {arms.unit}"
        effect = f"{'is worth' if worth > 0 else 'costs'} {abs(worth * step):.6g}"
        sentence = f"{constraint}: not active"
        if worth:
            sentence = f"{constraint}: {amount} more {effect} units per {one_of(arms.unit)}"
        prices.append(ConstraintPrice(str(constraint), worth + 0.0, sentence))
    return tuple(prices)


def _single(arms: Arms, rewards: np.ndarray, arm: int) -> SingleArm:
    return SingleArm(arms.names[arm], float(rewards[:, arm].min() / arms.cycles[arm]))


def _within_cap(arms: Arms, cycle_cap: float) -> Arms:
    cap = as_scalar(cycle_cap, "cycle_cap", above=0.0)
    keep = arms.cycles <= cap
    if not keep.any():
        raise InfeasibleError(
            f"cycle_cap = {cap:g} {arms.unit} leaves no arm; the cheapest costs "
            f"{arms.cycles.min():g} {arms.unit}"
        )
    return arms.only(keep)


def _resident_subsets(
    pool: list[Drafter], memory: Mapping[str, float] | None, limit: float | None
) -> list[set[str]]:
    """Every largest set of drafters that fits into memory; smaller ones are never better."""
    names = [drafter.name for drafter in pool]
    if limit is None:
        if memory is not None:
            raise InvalidInputError("memory goes with memory_limit; give both")
        return [set(names)]
    room = as_scalar(limit, "memory_limit", at_least=0.0)
    sizes = {
        str(name): as_scalar(size, f"memory of {name!r}", at_least=0.0)
        for name, size in (memory or {}).items()
    }
    unknown = sorted(set(sizes) - set(names))
    if unknown:
        raise InvalidInputError(f"memory names {unknown[0]!r}, which is no drafter")
    if len(pool) > _MOST_DRAFTERS_IN_MEMORY:
        raise InvalidInputError(
            f"memory_limit goes with at most {_MOST_DRAFTERS_IN_MEMORY} drafters, got {len(pool)}"
        )
    fitting: list[set[str]] = []
    for count in range(len(names), -1, -1):
        for subset in combinations(names, count):
            chosen = set(subset)
            if sum(sizes.get(name, 0.0) for name in subset) > room:
                continue
            if not any(chosen <= larger for larger in fitting):
                fitting.append(chosen)
    return fitting


def _depths_within(
    depths: int | Iterable[int] | Mapping[str, Iterable[int]], resident: set[str]
) -> int | Iterable[int] | Mapping[str, Iterable[int]]:
    if isinstance(depths, Mapping):
        return {name: listed for name, listed in depths.items() if name in resident}
    return list(depths) if isinstance(depths, Iterable) else depths


def _within(region: Region, resident: set[str]) -> Region:
    kept = {name: model for name, model in region.acceptance.items() if name in resident}
    return Region(region.name, region.weight, kept)
