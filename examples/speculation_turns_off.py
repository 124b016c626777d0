"""Acceptance stays, cost moves: a plan that turns speculation off at the right load.

A public demonstration serves one model with and without drafts at growing concurrency.  The mean
acceptance length stays between 2.85 and 2.89 all the way, while the speedup falls from 2.14 to
0.97.  A controller that watches acceptance sees nothing and keeps drafting.  Length over speedup
is what a drafted cycle costs in plain ones, and with that cost the plan knows where to stop.

Run: python examples/speculation_turns_off.py
"""

from __future__ import annotations

from typing import NamedTuple

from ensctl.drafting import TableCost, alpha_from_length
from ensctl.scheduling import LOADED_OFF_OVERHEAD, PlanTable, plan_table

# Concurrency → speedup, and the range of the acceptance length (bonus included) over all of them:
# the figures published with the demonstration.
SPEEDUPS = {1: 2.14, 8: 1.75, 32: 1.22, 64: 0.97}
LENGTHS = (2.85, 2.89)
# Only length and cycle cost enter the decision, so any depth that reaches the length will do.
DEPTH = 5


class Demonstration(NamedTuple):
    """What the published figures say, and what follows."""

    alphas: tuple[float, float]
    costs: dict[int, float]
    plan: PlanTable
    last_drafting: int
    loss_if_on: float
    gain_of_table: float
    last_drafting_loaded: int


def main() -> Demonstration:
    """From length and speedup to cost, and from cost to a plan."""
    low, high = (float(alpha_from_length(length, DEPTH)) for length in LENGTHS)
    length = sum(LENGTHS) / 2
    costs = {batch: length / speedup for batch, speedup in SPEEDUPS.items()}
    table = TableCost([0, DEPTH], [[1.0, cost] for cost in costs.values()], list(costs))
    alpha = float(alpha_from_length(length, DEPTH))
    plan = plan_table(alpha, table, max(costs), max_depth=DEPTH, depths=[DEPTH])
    # The same where a K = 0 entry pays for the drafter that stays loaded.
    loaded = plan_table(
        alpha,
        table,
        max(costs),
        max_depth=DEPTH,
        depths=[DEPTH],
        loaded_off_overhead=LOADED_OFF_OVERHEAD,
    )
    always_on = plan.curves[0, -1, -1] / plan.throughput[0, -1]
    return Demonstration(
        alphas=(low, high),
        costs=costs,
        plan=plan,
        last_drafting=_last_drafting(plan),
        loss_if_on=1.0 - float(always_on),
        gain_of_table=plan.best_single[1],
        last_drafting_loaded=_last_drafting(loaded),
    )


def _last_drafting(plan: PlanTable) -> int:
    return max(part.last for part in plan.ranges() if part.depth > 0)


def _print(shown: Demonstration) -> None:
    low, high = shown.alphas
    print(
        f"acceptance length {LENGTHS[0]} to {LENGTHS[1]}: "
        f"α = {low:.3f} to {high:.3f} at K = {DEPTH}"
    )
    print("concurrency  speedup  cost of a drafted cycle (plain ones)  planned")
    for batch, cost in shown.costs.items():
        depth = shown.plan.depth(batch)
        planned = f"K = {depth}" if depth else "off"
        print(f"{batch:11d}  {SPEEDUPS[batch]:7.2f}  {cost:36.2f}  {planned}")
    print(f"off from batch {shown.last_drafting + 1}: there a drafted cycle costs what it yields")
    print(f"drafting on at 64 would lose {100 * shown.loss_if_on:.1f} %")
    print(
        f"with the drafter loaded, off costs more too: drafting up to {shown.last_drafting_loaded}"
    )
    print(shown.plan.to_vllm(), end="")


if __name__ == "__main__":
    _print(main())
