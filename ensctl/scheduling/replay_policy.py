"""Replay of a policy on position traces, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import as_count, as_scalar, read_only
from ensctl.display import Plotted
from ensctl.drafting.cost import CostModel
from ensctl.errors import InvalidInputError
from ensctl.progress import Progress, progress_of
from ensctl.scheduling.load_walk import LoadWalk
from ensctl.scheduling.policies.policy import Policy
from ensctl.scheduling.position_traces import PositionTraces
from ensctl.scheduling.replay_oracles import Oracles, as_plan, replay_oracles
from ensctl.scheduling.replay_requests import replay_tables
from ensctl.scheduling.replay_run import Run, run_once
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True)
class Gain:
    """Relative gain over the best fixed arm in hindsight.

    Attributes
    ----------
    value : float
        Mean over seeds; .1 is ten per cent more tokens in the same time.
    std_error : float
        Standard error over seeds; NaN with one seed.
    """

    value: float
    std_error: float

    def __str__(self) -> str:
        spread = "" if np.isnan(self.std_error) else f" ± {100 * self.std_error:.2f}"
        return f"{100 * self.value:+.2f}{spread} %"


@dataclass(frozen=True, eq=False)
class ReplayResult(Plotted):
    """What a policy did on position traces.

    Attributes
    ----------
    policy : str
        The policy.
    oracles : Oracles
        Every fixed arm, and foresight if asked for, on the same requests.
    tokens, time : (seeds, marks, batches) arrays, read-only
        Tokens and time up to each of ``marks``, by batch size.
    plays : (batches, arms) array, read-only
        Cycles of each arm, over all seeds.
    switches : (seeds,) array, read-only
        Changes of drafter.
    states : tuple
        Last state of the policy, for each seed.
    """

    policy: str
    oracles: Oracles
    tokens: Array
    time: Array
    plays: Array
    switches: Array
    states: tuple[Any, ...]

    _plot_function: ClassVar[str] = "regret_curves"

    @property
    def marks(self) -> Array:
        """Cycles at which totals were kept."""
        return self.oracles.marks

    @property
    def throughput(self) -> Array:
        """Tokens per unit of time over the whole run, for each seed."""
        return np.asarray(self.tokens[:, -1].sum(axis=1) / self.time[:, -1].sum(axis=1))

    def gains(self, cycles: int | None = None) -> Array:
        """Gain over the best fixed arm in the first ``cycles``, for each seed.

        Σ tokens/Σ_B T_B·time_B − 1, where T_B is the throughput of the best fixed arm at batch B
        in as many cycles.
        """
        mark = self._mark(cycles)
        par = (self.oracles.prices(mark) * self.time[:, mark]).sum(axis=1)
        return np.asarray(self.tokens[:, mark].sum(axis=1) / par - 1.0)

    def gain(self, cycles: int | None = None) -> Gain:
        """Mean of :meth:`gains` with its standard error."""
        return _mean(self.gains(cycles))

    def regret(self) -> tuple[Array, Array]:
        """Tokens lost to the best fixed arm, T_best·time − tokens: mean and standard error.

        Two (marks,) arrays; the best arm is that of the whole run.
        """
        prices = self.oracles.prices()[:, None, :]
        lost = (prices * self.time - self.tokens).sum(axis=2)
        count = lost.shape[0]
        error = (
            lost.std(axis=0, ddof=1) / np.sqrt(count)
            if count > 1
            else np.full(lost[0].shape, np.nan)
        )
        return lost.mean(axis=0), error

    def shares(self) -> dict[str, float]:
        """Share of cycles of each arm that was played, greatest first."""
        counts = self.plays.sum(axis=0)
        order = [i for i in np.argsort(-counts, kind="stable") if counts[i]]
        return {self.oracles.arms[i]: float(counts[i] / counts.sum()) for i in order}

    def to_dict(self) -> dict[str, Any]:
        """Gains, regret, shares of arms and oracle rows as JSON-safe data."""
        regret, error = self.regret()
        gain, ahead = self.gain(), self.oracles.foresight_gain()
        content = {
            "policy": self.policy,
            "batches": self.oracles.batches,
            "seeds": self.oracles.seeds,
            "unit": self.oracles.unit,
            "throughput": self.throughput,
            "gain": gain.value,
            "gain_std_error": gain.std_error,
            "best_arms": self.oracles.best_names(),
            "best_throughput": self.oracles.prices().mean(axis=0),
            "foresight_gain": None if ahead is None else float(ahead.mean()),
            "shares": self.shares(),
            "switches": self.switches,
            "marks": self.marks,
            "regret": regret,
            "regret_std_error": error,
        }
        return versioned("replay_result", content)

    def __str__(self) -> str:
        rate = self.throughput.mean()
        top = list(self.shares().items())[:4]
        lines = [
            f"{self.gain()} against the best fixed arm; {rate:.4g} tokens per {self.oracles.unit}",
            f"policy {self.policy}",
            "arms: " + ", ".join(f"{name} {share:.1%}" for name, share in top),
            f"changes of drafter: {self.switches.mean():.4g} a run",
        ]
        return "\n".join([*lines, *str(self.oracles).splitlines()[:6]])

    def _mark(self, cycles: int | None) -> int:
        if cycles is None:
            return self.marks.size - 1
        wanted = as_count(cycles, "cycles")
        if wanted not in self.marks:
            near = self.marks[np.argmin(abs(self.marks - wanted))]
            raise InvalidInputError(f"cycles must be one of .marks; the nearest is {near}")
        return int(np.searchsorted(self.marks, wanted))


def replay(
    traces: PositionTraces,
    policy: Policy[Any],
    cost: Mapping[str, CostModel] | None = None,
    batch: int | LoadWalk = 16,
    cycles: int | None = 20_000,
    seed: int | Sequence[int] = 0,
    *,
    switch_cost: float = 0.0,
    oracles: Oracles | None = None,
    foresight: bool = False,
    progress: Progress | bool | None = None,
) -> ReplayResult:
    """Play a policy against position traces.

    B streams play requests token by token: a stream at position p of its request emits
    x = min(accepted + 1, K + 1) tokens of the trace and goes on at p + x; at the end of the request
    it takes the next one.  The policy is told the total, the positions if it uses them, and the
    time of the cycle.

    Parameters
    ----------
    traces : PositionTraces
        The requests.
    policy : Policy
        What chooses the arms.
    cost : mapping, optional
        What cycles really cost, by drafter; as the arms of the policy say when not given.
    batch : int or LoadWalk
        Streams B ≥ 1, or how they vary.
    cycles : int or None
        Number of cycles; None: until a stream finds no request that has not been begun.
    seed : int or sequence of int
        Of the order of requests and of the policy; one run for each.
    switch_cost : float
        Time ≥ 0 added to a cycle with another drafter than the one before, off included.
    oracles : Oracles, optional
        From an earlier :func:`replay_oracles` or result with the same requests, arms, load,
        cycles and seeds; computed when not given.
    foresight : bool
        Whether oracles that are computed include foresight.
    progress : callable or bool, optional
        Called with runs done and all runs; True draws a bar on a terminal.

    Returns
    -------
    ReplayResult

    Raises
    ------
    InvalidInputError
        Drafters without traces or costs, or numbers out of range.

    Notes
    -----
    10⁶ cycles of 16 streams take one to two minutes of one core.

    Examples
    --------
    >>> from ensctl import scheduling
    >>> policy = scheduling.policies.KFUCB(scheduling.fixture_arms())
    >>> traces = scheduling.token_chain("iid", requests=50)
    >>> result = scheduling.replay(traces, policy, batch=16, cycles=300, seed=[0, 1])
    >>> int(result.plays.sum())
    600
    """
    if not isinstance(policy, Policy):
        raise InvalidInputError(
            f"policy must be one of scheduling.policies, got {type(policy).__name__}"
        )
    seeds, batches, marks = as_plan(traces, batch, cycles, seed)
    price = as_scalar(switch_cost, "switch_cost", at_least=0.0)
    tables = replay_tables(traces, policy.arms, cost, batches)
    if oracles is None:
        oracles = replay_oracles(
            traces,
            policy.arms,
            cost=cost,
            batch=batch,
            cycles=cycles,
            seed=seeds,
            foresight=foresight,
        )
    same = (policy.arms.names, batches, tuple(seeds), marks.tolist())
    if same != (oracles.arms, oracles.batches, oracles.seeds, oracles.marks.tolist()):
        raise InvalidInputError("oracles are of other arms, load, cycles or seeds; leave them out")
    runs: list[Run] = []
    with progress_of(progress, len(seeds), "replay") as report:
        for number in seeds:
            runs.append(
                run_once(traces, tables, policy, batch, marks, number, price, cycles is None)
            )
            report(len(runs))
    return ReplayResult(
        str(policy),
        oracles,
        read_only(np.array([run.tokens for run in runs])),
        read_only(np.array([run.time for run in runs])),
        read_only(np.array([run.plays for run in runs]).sum(axis=0)),
        read_only(np.array([run.switches for run in runs])),
        tuple(run.state for run in runs),
    )


def _mean(values: Array) -> Gain:
    count = values.size
    error = values.std(ddof=1) / np.sqrt(count) if count > 1 else np.nan
    return Gain(float(values.mean()), float(error))
