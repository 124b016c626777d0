"""Monte Carlo of N drafters under one broadcast schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_count, as_scalar, as_vector, read_only
from ensctl.drafting.acceptance import AcceptanceModel, as_acceptance, as_generator
from ensctl.drafting.convention import as_depth
from ensctl.drafting.drafter import Drafter
from ensctl.errors import InvalidInputError
from ensctl.simulation.monte_carlo_coupling import coupled_counts
from ensctl.simulation.monte_carlo_result import DraftingSimulation

Array = NDArray[Any]

_MOST_COUNTS = 1_000_000_000
_SUM_TOLERANCE = 1e-9


def simulate_drafting(
    drafters: Any,
    depth: int,
    *,
    cycles: int,
    count: int | None = None,
    schedule: ArrayLike | None = None,
    mix: ArrayLike | None = None,
    correlation: float = 0.0,
    coupling: str = "gaussian copula",
    seed: Any = None,
) -> DraftingSimulation:
    """Cycles of N drafters that all hear one broadcast decision a_t.

    Without a schedule every drafter drafts in every cycle, as a population.  With one, only
    drafter a_t does.  A cycle of drafter i keeps N units with P(N ≥ j) = S_i(j).

    Parameters
    ----------
    drafters : float, AcceptanceModel, Drafter, or a sequence of them
        One entry for each drafter; models with memory are carried from cycle to cycle.
    depth : int
        K ≥ 0, broadcast to all.
    cycles : int
        T ≥ 1.
    count : int, optional
        N, where one drafter is given for all.
    schedule : array_like of int, optional
        a_t: the number of the drafter of every cycle, counted from 0; repeated when it is shorter
        than T.
    mix : array_like, (N,), optional
        The distribution that a_t is drawn from in every cycle.
    correlation : float
        Of the drafters in one cycle, in [0, 1): of the normal variables of the copula, or r =
        1/(a + b + 1) of the shared beta.
    coupling : {"gaussian copula", "shared beta"}
        "gaussian copula": U_i = Φ(√ρ Z + √(1 − ρ) Z_i) decides N_i = #{j: U_i < S_i(j)}, so every
        drafter keeps its own law.  "shared beta": all units of all drafters in a cycle are kept
        with one α_t ~ Beta of mean α, for equal numbers α only; one drafter's law is then
        :class:`~ensctl.drafting.Beta`.
    seed : int, Generator or None
        Where the random numbers come from.

    Returns
    -------
    DraftingSimulation
        Accepted counts, mean lengths with intervals under each convention, throughput, histogram.

    Raises
    ------
    InvalidInputError
        A schedule that names no drafter, a mix that does not sum to one, or a correlation of models
        with memory.

    Notes
    -----
    O(N T) time and 2 N T bytes.  A drafter with memory remembers its own last cycle.

    Examples
    --------
    >>> from ensctl.simulation import simulate_drafting
    >>> run = simulate_drafting(0.7, 4, cycles=100_000, count=5, seed=0)
    >>> round(run.mean_length("committed").value, 2)
    2.53
    >>> run.throughput(0.1, convention="committed").covers(1.8093)
    True
    """
    pool = _as_pool(drafters, count)
    units, number = as_depth(depth), as_count(cycles, "cycles")
    if units > np.iinfo(np.int16).max:
        raise InvalidInputError(f"depth must be ≤ {np.iinfo(np.int16).max}, got {units}")
    r = as_scalar(correlation, "correlation", at_least=0.0, below=1.0)
    if coupling not in ("gaussian copula", "shared beta"):
        raise InvalidInputError(
            f'coupling must be "gaussian copula" or "shared beta", got {coupling!r}'
        )
    generator = as_generator(seed)
    chosen = _as_choices(schedule, mix, len(pool), number, generator)
    rows = 1 if chosen is not None else len(pool)
    if rows * number > _MOST_COUNTS:
        raise InvalidInputError(
            f"cycles must give at most {_MOST_COUNTS} counts, got {rows} × {number}; use fewer, or "
            "cycle_histogram where the cycles are independent"
        )
    models = [drafter.acceptance if isinstance(drafter, Drafter) else drafter for drafter in pool]
    if chosen is not None:
        # One drafter acts in a cycle, so nothing is there to be correlated with.
        accepted = np.zeros((1, number), dtype=np.int16)
        for i, model in enumerate(models):
            mine = np.flatnonzero(chosen == i)
            accepted[0, mine] = model.sample(mine.size, units, generator)
    elif r > 0.0:
        models, accepted = coupled_counts(models, units, number, r, coupling, generator)
    else:
        accepted = np.empty((len(models), number), dtype=np.int16)
        for i, model in enumerate(models):
            accepted[i] = model.sample(number, units, generator)
    costs = tuple(drafter.cost for drafter in pool if isinstance(drafter, Drafter))
    return DraftingSimulation(
        units,
        tuple(models),
        read_only(accepted),
        None if chosen is None else read_only(chosen),
        costs if len(costs) == len(pool) else (),
    )


def _as_pool(drafters: Any, count: int | None) -> list[AcceptanceModel | Drafter]:
    if isinstance(drafters, np.ndarray):
        drafters = np.atleast_1d(drafters)
    several = isinstance(drafters, Sequence | np.ndarray) and not isinstance(drafters, str)
    given = list(drafters) if several else [drafters]
    if not given:
        raise InvalidInputError("drafters must have at least one entry, got none")
    pool = [
        entry if isinstance(entry, Drafter) else as_acceptance(entry, "drafters") for entry in given
    ]
    if count is None:
        return pool
    number = as_count(count, "count")
    if len(pool) not in (1, number):
        raise InvalidInputError(
            f"count must be {len(pool)}, the drafters given, got {number}; leave it out"
        )
    return pool * number if len(pool) == 1 else pool


def _as_choices(
    schedule: Any, mix: Any, drafters: int, cycles: int, generator: np.random.Generator
) -> Array | None:
    """a_t for every cycle, or None where all draft."""
    if schedule is not None and mix is not None:
        raise InvalidInputError("give schedule or mix, not both: indices, or their distribution")
    if schedule is not None:
        table = as_vector(schedule, "schedule", real=True)
        whole = np.floor(table)
        wrong = (table != whole) | (table < 0) | (table >= drafters)
        if wrong.any():
            raise InvalidInputError(
                f"schedule must name drafters from 0 to {drafters - 1}, got "
                f"{float(table[wrong][0]):g}; a distribution goes into mix"
            )
        return np.resize(whole.astype(np.int64), cycles)
    if mix is None:
        return None
    shares = as_vector(mix, "mix", size=drafters, real=True)
    if shares.min() < 0 or abs(shares.sum() - 1.0) > _SUM_TOLERANCE:
        raise InvalidInputError(
            f"mix must be ≥ 0 and sum to one, got sum {shares.sum():.9g}; divide it by its sum"
        )
    return generator.choice(drafters, size=cycles, p=shares / shares.sum())
