"""The best mix of drafters and depths under side constraints, with prices and a proof."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_scalar, read_only
from ensctl.convex.ratio_program import RatioSolution, RowConflict
from ensctl.drafting.convention import Convention, as_convention
from ensctl.drafting.cost import one_of
from ensctl.drafting.drafter import Drafter
from ensctl.errors import InfeasibleError, InvalidInputError
from ensctl.scheduling.allocation import Allocation, ConstraintPrice, SingleArm
from ensctl.scheduling.allocation_conflict import explain_conflict
from ensctl.scheduling.allocation_switching import Switching, mix_with_switching
from ensctl.scheduling.arms import OFF, Arms, drafters_with_names, listed_as, make_arms
from ensctl.scheduling.constraints import Constraint, MeanCycleCap, rows_of
from ensctl.scheduling.regions import Region
from ensctl.scheduling.uncertainty import (
    LowerAcceptance,
    Uncertainty,
    guaranteed_lengths,
    solve_uncertain,
    worst_drafters,
)

Array = NDArray[Any]

_FEASIBLE = 1e-12
_ACTIVE = 1e-7
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
    if not (switching is None or isinstance(switching, Switching)):
        raise InvalidInputError(
            f"switching must be a Switching, got {type(switching).__name__}; give "
            "Switching(cost, period)"
        )
    rules, cases = listed_as(constraints, "constraints"), listed_as(regions, "regions")
    pool: list[Drafter] | None = None
    subsets: list[set[str]] | None = None
    if isinstance(drafters, Arms):
        if memory is not None or memory_limit is not None or cases or off_cost is not None:
            raise InvalidInputError(
                "a table of arms already holds regions and off; memory, regions and off_cost "
                "go with drafters"
            )
        arms = drafters
    else:
        pool = drafters_with_names(drafters)
        subsets = _resident_subsets(pool, memory, memory_limit)
        arms = make_arms(
            worst_drafters(pool, uncertainty, cases),
            depths,
            off=off,
            off_cost=off_cost,
            regions=cases,
            batch=batch,
            context=context,
            convention=convention,
        )
    problem = _Problem.of(
        arms, pool, rules, objective, switching, uncertainty, as_convention(convention), batch
    )
    within = np.ones(arms.size, dtype=bool) if cycle_cap is None else _within_cap(arms, cycle_cap)
    best: Allocation | None = None
    failures: list[InfeasibleError] = []
    for resident in [set(arms.drafters)] if subsets is None else subsets:
        keep = within & np.array([name == OFF or name in resident for name in arms.drafters])
        if not keep.any():
            failures.append(
                InfeasibleError(
                    "memory_limit leaves room for no drafter; allow off"
                    if not resident
                    else "cycle_cap leaves no arm of the drafters in memory; raise it, or allow off"
                )
            )
            continue
        try:
            found = problem.solve(keep, resident)
        except InfeasibleError as error:
            failures.append(error)
            continue
        if best is None or found.throughput > best.throughput:
            best = found
    if best is None:
        raise failures[0]
    return best


@dataclass(frozen=True, eq=False)
class _Problem:
    """Rows and rewards of all arms, of which some are then kept."""

    arms: Arms
    drafters: list[Drafter] | None
    constraints: tuple[Constraint, ...]
    rows: Array
    limits: Array
    rewards: Array
    guaranteed: Array
    words: str
    switching: Switching | None
    uncertainty: Uncertainty | None
    rule: Convention
    batch: float

    @classmethod
    def of(
        cls,
        arms: Arms,
        drafters: list[Drafter] | None,
        constraints: tuple[Constraint, ...],
        objective: str,
        switching: Switching | None,
        uncertainty: Uncertainty | None,
        rule: Convention,
        batch: float,
    ) -> _Problem:
        rows, limits = rows_of(constraints, arms)
        mean = objective == "mean"
        rewards = arms.mean_lengths[None] if mean else arms.lengths
        words = "mean" if mean else "worst region"
        if uncertainty is not None:
            words += f", {uncertainty}"
        return cls(
            arms,
            drafters,
            constraints,
            rows,
            limits,
            rewards,
            guaranteed_lengths(arms, drafters, rewards, uncertainty, rule),
            words,
            switching,
            uncertainty,
            rule,
            as_scalar(batch, "batch", at_least=1),
        )

    def solve(self, keep: Array, resident: set[str]) -> Allocation:
        """The best mix of the arms marked in ``keep``."""
        arms, rows, limits = self.arms.only(keep), self.rows[:, keep], self.limits
        rewards = self.rewards[:, keep]
        found = solve_uncertain(
            self.arms, keep, self.drafters, rewards, rows, limits, self.uncertainty, self.rule
        )
        if isinstance(found, RowConflict):
            raise explain_conflict(arms, self.constraints, rows, limits, found)
        rates = self.guaranteed[keep] / arms.cycles
        feasible = rows <= limits[:, None] * arms.cycles + _FEASIBLE * np.abs(rows)
        alone = np.where(feasible.all(axis=0), rates, -np.inf)
        prices = _prices(self.constraints, found, arms, rows, limits)
        y, throughput, bound = found.y, found.value, found.upper_bound
        free, lone = int(np.argmax(rates)), int(np.argmax(alone))
        if alone[lone] > throughput:
            # Within the gap of an interior point one arm can be ahead of the mix.
            y = np.where(np.arange(arms.size) == lone, 1.0 / arms.cycles, 0.0)
            throughput = float(alone[lone])
            bound = max(bound, throughput)
        if self.switching is not None:
            if not isinstance(self.uncertainty, LowerAcceptance | None):
                raise InvalidInputError(
                    "switching goes with no uncertainty or with LowerAcceptance, not with an "
                    "ellipsoid"
                )
            y, throughput, bound = mix_with_switching(
                arms, rewards, rows, limits, self.switching, alone
            )
            prices = ()
        total = float(y.sum())
        names = dict.fromkeys(name for name in self.arms.drafters if name != OFF)
        return Allocation(
            arms=arms,
            shares=read_only(y / total),
            throughput=throughput,
            upper_bound=bound,
            region_throughputs=read_only(arms.lengths @ y),
            mean_cycle=1.0 / total,
            prices=prices,
            best_single=(
                SingleArm(arms.names[lone], float(alone[lone]))
                if np.isfinite(alone[lone])
                else None
            ),
            unconstrained=SingleArm(arms.names[free], float(rates[free])),
            resident=tuple(name for name in names if name in resident),
            objective=self.words,
            batch=self.batch,
        )


def _prices(
    constraints: tuple[Constraint, ...],
    found: RatioSolution,
    arms: Arms,
    rows: Array,
    limits: Array,
) -> tuple[ConstraintPrice, ...]:
    total = float(found.y.sum())
    size = np.abs(rows) @ found.y + np.abs(limits)
    # Interior points leave a trace of a price on rows that are slack.
    active = rows @ found.y - limits >= -_ACTIVE * size
    multipliers = np.where(active, found.row_prices, 0.0)
    prices = []
    for constraint, multiplier in zip(constraints, multipliers.tolist(), strict=True):
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


def _within_cap(arms: Arms, cycle_cap: float) -> Array:
    cap = as_scalar(cycle_cap, "cycle_cap", above=0.0)
    keep = np.asarray(arms.cycles <= cap)
    if not keep.any():
        raise InfeasibleError(
            f"cycle_cap = {cap:g} {arms.unit} leaves no arm; the cheapest costs "
            f"{arms.cycles.min():g} {arms.unit}"
        )
    return keep


def _resident_subsets(
    pool: list[Drafter], memory: Mapping[str, float] | None, limit: float | None
) -> list[set[str]]:
    """Every largest set of drafters that fits into memory; smaller ones are never better."""
    names = [drafter.name for drafter in pool]
    if limit is None:
        if memory is not None:
            raise InvalidInputError("memory goes with memory_limit; give both")
        return [set(names)]
    if not (memory is None or isinstance(memory, Mapping)):
        raise InvalidInputError(
            f"memory must map drafter names to sizes, got {type(memory).__name__}"
        )
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
