"""The public fixture: its chain, its runs, its fault, and what policies reach on it."""

from __future__ import annotations

import numpy as np
import pytest

from ensctl import scheduling
from ensctl.errors import InvalidInputError
from ensctl.scheduling import policies, replay


def _rates(kind: str) -> tuple[float, float]:
    traces = scheduling.token_chain(kind)
    return tuple(float((traces.emitted[name] > 1).mean()) for name in "EN")  # type: ignore[return-value]


def test_hit_rates_are_those_of_the_chain() -> None:
    for kind, copied in (("code", 0.02 / 0.05), ("chat", 0.004 / 0.054)):
        neural, ngram = _rates(kind)
        assert neural == pytest.approx(0.66 + 0.09 * copied, abs=0.005)
        assert ngram == pytest.approx(0.05 + 0.90 * copied, abs=0.01)
    assert _rates("iid") == pytest.approx((0.66, 0.15), abs=0.005)


def test_shape_and_runs() -> None:
    traces = scheduling.token_chain("code")
    assert (traces.requests, traces.tokens) == (1500, 450_000)
    assert set(traces.prompts.tolist()) == {200}
    for name in "EN":
        rows = traces.emitted[name].reshape(1500, 300).astype(int)
        assert rows.min() == 1 and rows.max() == 21
        # A run goes on by one less at the next token, unless it was cut at 20; none leaves its
        # request.
        inside = (rows[:, :-1] > 1) & (rows[:, :-1] < 21)
        assert np.array_equal(rows[:, 1:][inside], rows[:, :-1][inside] - 1)
        assert (rows <= 1 + np.arange(300, 0, -1)).all()
    unmatched = traces.emitted["N"] == 1
    assert traces.drafts["N"][unmatched].mean() == pytest.approx(0.3, abs=0.01)
    assert traces.drafts["N"][~unmatched].all() and "E" not in traces.drafts


def test_fault_cuts_the_neural_drafter_in_the_middle() -> None:
    sound, faulty = (scheduling.token_chain("code", fault=fault) for fault in (False, True))
    rows = [t.emitted["E"].reshape(1500, 300) for t in (sound, faulty)]
    assert np.array_equal(rows[0][:600], rows[1][:600])
    assert np.array_equal(rows[0][1050:], rows[1][1050:])
    assert rows[1][600:1050].max() == 2
    hits = rows[0][600:1050] > 1
    assert (rows[1][600:1050][hits] == 2).mean() == pytest.approx(0.21, abs=0.01)
    assert faulty.segments == ((0, 600), (600, 1050), (1050, 1500))


def test_seeds_and_refusals() -> None:
    first, same, other = (scheduling.token_chain("chat", requests=5, seed=s) for s in (0, 0, 1))
    assert np.array_equal(first.emitted["E"], same.emitted["E"])
    assert not np.array_equal(first.emitted["E"], other.emitted["E"])
    with pytest.raises(InvalidInputError, match="kind"):
        scheduling.token_chain("prose")
    with pytest.raises(InvalidInputError, match="requests"):
        scheduling.token_chain("code", requests=0)


@pytest.mark.slow
def test_switching_pays_on_code_and_the_filter_is_near_the_best_arm() -> None:
    traces = scheduling.token_chain("code", requests=600)
    arms = policies.arm_set(scheduling.fixture_costs(), [2, 3, 4, 10])
    plain = replay(traces, policies.KFUCB(arms), batch=16, cycles=2000, seed=[0, 1])
    assert plain.gain().value > -0.006
    switch = policies.HysteresisSwitch(arms)
    switching = replay(traces, switch, batch=16, cycles=2000, seed=[0, 1], oracles=plain.oracles)
    assert switching.gain().value > 0.025


@pytest.mark.slow
def test_guard_pays_under_the_fault() -> None:
    traces = scheduling.token_chain("chat", fault=True, requests=400)
    arms = policies.arm_set(scheduling.fixture_costs(), [1, 2, 3])
    guarded = replay(traces, policies.KFUCB(arms), batch=16, cycles=None)
    trusting = policies.KFUCB(arms, guard=False)
    blind = replay(traces, trusting, batch=16, cycles=None, oracles=guarded.oracles)
    assert guarded.gain().value > 0.05
    assert blind.gain().value < 0.0
