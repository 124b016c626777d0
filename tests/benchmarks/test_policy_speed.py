"""Policies in a server loop, and replays, against the filter as it is written in matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ensctl import scheduling
from ensctl.scheduling import policies


def _totals(cycles: int, arms: policies.ArmSet) -> Any:
    """Totals of 16 streams for every cycle and depth: geometric at .7 and .3."""
    rng = np.random.default_rng(0)
    kept = [rng.geometric(1.0 - rate, (cycles, 16)) - 1 for rate in (0.7, 0.3)]
    columns = [
        np.full(cycles, 16) if owner < 0 else 16 + np.minimum(kept[owner], depth).sum(axis=1)
        for owner, depth in zip(arms.owner, arms.depths, strict=True)
    ]
    return np.array(columns).T.tolist()


def _loop(policy: policies.Policy[Any], totals: Any) -> Any:
    state = policy.init()
    for i, row in enumerate(totals):
        context = 200.0 + i % 300
        action = policy.select(state, batch=16, context=context)
        state = policy.update(state, action, row[action], batch=16, context=context, cycle_time=9.0)
    return state


class _Matrices:
    """Mean and covariance of ten increments for each drafter; an index for every arm."""

    def __init__(self, arms: policies.ArmSet) -> None:
        order = np.arange(1, 11)
        slope = order * 0.6 ** (order - 1)
        own = 0.075 * 0.6 ** (order / 2)
        own[0] /= 2
        self.arms = arms
        self.theta = [0.6**order for _ in arms.pool]
        self.cov = [0.04 * np.outer(slope, slope) + np.diag(own**2) for _ in arms.pool]
        self.ones = [(order <= depth).astype(float) for depth in arms.depths]
        self.costs = arms.costs(16, 320.0)

    def cycle(self, row: list[int]) -> None:
        indices = []
        for owner, h, cost in zip(self.arms.owner, self.ones, self.costs, strict=True):
            if owner < 0:
                indices.append(1.0 / cost)
                continue
            bound = 1 + h @ self.theta[owner] + 2 * np.sqrt(h @ self.cov[owner] @ h)
            indices.append(bound / cost)
        arm = int(np.argmax(indices))
        owner, h = self.arms.owner[arm], self.ones[arm]
        if owner >= 0:
            cov = self.cov[owner]
            variance = h @ cov @ h + 0.3
            gain = cov @ h / variance
            self.theta[owner] = self.theta[owner] + gain * (
                row[arm] / 16 - 1 - h @ self.theta[owner]
            )
            self.cov[owner] = cov - np.outer(gain, h @ cov)


def test_guarded_filter_in_a_loop(
    ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]
) -> None:
    """The row is per cycle of select and update; 50 µs are asked for."""
    cycles = sized(4000, smoke=100)
    arms = scheduling.fixture_arms()
    totals = _totals(cycles, arms)

    def matrices() -> None:
        rival = _Matrices(arms)
        for row in totals:
            rival.cycle(row)

    for name, policy in (
        ("guarded KF-UCB", policies.KFUCB(arms)),
        ("AHS", policies.HysteresisSwitch(arms)),
        ("KL-UCB", policies.KLUCB(arms)),
    ):
        state = _loop(policy, totals)
        assert policy.select(state, batch=16) != arms.index("off", 0)
        ours = timed(lambda policy=policy: _loop(policy, totals))
        ratio_table.add(
            f"{name}, 17 arms, select + update: {1e6 * ours / cycles:.3g} µs a cycle",
            ours,
            timed(matrices),
            at_most=1.0,
        )


def test_replay_of_many_cycles(
    ratio_table: Any, timed: Callable[..., float], sized: Callable[..., int]
) -> None:
    """Every fixed arm in lockstep against one after the other."""
    cycles = sized(5000, smoke=100)
    traces, arms = scheduling.token_chain("code"), scheduling.fixture_arms()
    options: dict[str, Any] = {"batch": 16, "cycles": cycles, "seed": [0, 1]}
    oracles = scheduling.replay_oracles(traces, arms, foresight=False, **options)

    def together() -> Any:
        return scheduling.replay_oracles(traces, arms, foresight=False, **options)

    def one_by_one() -> list[Any]:
        return [
            scheduling.replay(traces, policies.Fixed(arms, arm), oracles=oracles, **options)
            for arm in range(arms.size)
        ]

    rows = one_by_one()
    assert all(np.array_equal(row.tokens, oracles.tokens[i]) for i, row in enumerate(rows))
    ratio_table.add(
        f"{arms.size} fixed arms, {cycles} cycles: one after the other",
        timed(together, repeat=1),
        timed(one_by_one, repeat=1),
        at_most=0.5,
    )
