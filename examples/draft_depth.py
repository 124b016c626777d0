"""From a server's log to the depth it should draft, at three loads.

The log is examples/data/server.log (make_server_log.py wrote it), measured at K = 5.  The cycle
times in examples/data/cycle_costs.csv are rounded from the public spec-bench-vllm benchmark
(vLLM 0.6.6, one A100, a 7B model with a .5B drafter), where a cycle of depth K takes 1.18 + .214 K
steps without drafts at concurrency 1, 1.66 + .46 K at 32 and 2.05 + .83 K at 128.

α is the same at every load; the cost is not.

Run: python examples/draft_depth.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ensctl import drafting

DATA = Path(__file__).resolve().parent / "data"


class Choice(NamedTuple):
    """The depth for one load."""

    batch: int
    alpha: float
    alpha_low: float
    alpha_high: float
    model: str
    depth: int
    speedup: float
    speedup_measured_depth: float


def main(batches: Sequence[int] = (1, 8, 32, 128)) -> list[Choice]:
    """Read the log once, then choose K for every load."""
    windows = drafting.read_counters(DATA / "server.log")
    cost = drafting.read_cost_table(DATA / "cycle_costs.csv", line=True).cost
    choices = []
    for batch in batches:
        found = drafting.measured_depths(windows, cost, batch=batch)[0]
        at_five = drafting.speedup(found.fit.model, cost, 5, batch=batch)
        choices.append(
            Choice(
                batch=batch,
                alpha=found.alpha.value,
                alpha_low=found.alpha.low,
                alpha_high=found.alpha.high,
                model=found.fit.kind,
                depth=found.optimum.depth,
                speedup=found.optimum.speedup,
                speedup_measured_depth=at_five,
            )
        )
    return choices


def _print(choices: list[Choice]) -> None:
    first = choices[0]
    print(f"α = {first.alpha:.3f} ({first.alpha_low:.3f} to {first.alpha_high:.3f}), {first.model}")
    print("batch  best K  times plain decoding  at K = 5")
    for choice in choices:
        print(
            f"{choice.batch:5d}  {choice.depth:6d}  {choice.speedup:20.2f}  "
            f"{choice.speedup_measured_depth:8.2f}"
        )


if __name__ == "__main__":
    _print(main())
