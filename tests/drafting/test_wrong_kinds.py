"""Arguments of another kind, numbers without bound, and fits that renewal cannot make."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ensctl import drafting
from ensctl.drafting import DelayedGeometric, MarkovRenewal, PerPosition, ServingRow
from ensctl.errors import InvalidInputError

WINDOW = drafting.Counters(1000, 3000, 1650, accepted_per_position=(750, 540, 360))

# Deliberately of types that the signatures forbid.
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "rows": (lambda: drafting.calibrate(7), "rows must be ServingRow"),  # type: ignore[arg-type]
    "clean": (lambda: drafting.clean_benchmark(7), "rows must be"),  # type: ignore[arg-type]
    "depths": (lambda: drafting.fit_lengths(7, [1.5]), "depths must be"),  # type: ignore[arg-type]
    "lengths": (lambda: drafting.fit_lengths([1], "x"), "lengths must be"),
    "alphas": (lambda: drafting.resynchronised(7), "alphas must be"),  # type: ignore[arg-type]
    "model": (lambda: drafting.alpha_estimate(WINDOW, model=np.ones(2)), "model must be"),  # type: ignore[arg-type]
    "fit": (lambda: drafting.fit_acceptance(WINDOW, np.ones(2)), "model must be"),  # type: ignore[arg-type]
    "format": (lambda: drafting.read_counters("a\n", np.ones(2)), "format must be"),  # type: ignore[arg-type]
    "method": (
        lambda: drafting.optimal_pooled_acceptance([1.0], [1.0], method=np.ones(2)),  # type: ignore[arg-type]
        "method must be",
    ),
    "huge depth": (lambda: drafting.alpha_from_length(2.0, 1e308), "depth must be ≤"),
    "huge trials": (lambda: drafting.block_variance([1, 1], [1e308, 1e308]), "trials must be ≤"),
    "many pools": (
        lambda: drafting.choose_pool([drafting.Drafter(f"d{i}", 0.5, 0.1) for i in range(400)]),
        "set max_size",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_kinds_are_named(case: str) -> None:
    call, match = WRONG[case]
    with pytest.raises(InvalidInputError, match=match):
        call()


def test_rows_hold_plain_numbers() -> None:
    row = ServingRow("qa", np.int64(3), 1, np.float64(20), 8)
    assert type(row.depth) is int
    assert type(row.mean_itl) is type(row.mean_tpot) is float


@pytest.mark.parametrize("truth", [DelayedGeometric(1, 0.6), PerPosition((0.95,), tail=0.4)])
def test_first_units_that_are_surer_than_later_ones(truth: drafting.AcceptanceModel) -> None:
    model, reason = drafting.fit_lengths([1, 3], [truth.expected_length(k) for k in (1, 3)])
    assert "first units" in reason
    for depth in (2, 4, 8):
        assert model.expected_length(depth) == pytest.approx(truth.expected_length(depth), rel=1e-6)


def test_noise_does_not_give_renewal_up() -> None:
    truth = MarkovRenewal(0.8, 0.4)
    lengths = np.array([truth.expected_length(k) for k in (1, 2, 3)]) * (1.01, 0.99, 1.01)
    assert isinstance(drafting.fit_lengths([1, 2, 3], lengths)[0], MarkovRenewal)


def test_tokens_of_the_optimum_are_in_order() -> None:
    rng = np.random.default_rng(5)
    p, q = rng.dirichlet(np.ones(50)), rng.dirichlet(np.ones(50))
    best = drafting.optimal_pooled_acceptance(p, q, count=2)
    assert np.all(np.diff(best.tokens) > 0)
    lost = q[best.tokens].sum() ** 2 - p[best.tokens].sum()
    assert best.acceptance == pytest.approx(1 - lost, abs=1e-14)


@pytest.mark.parametrize("kind", ["per_position", "auto", "beta"])
def test_depths_that_no_cycle_reached(kind: str) -> None:
    """Nothing is kept beyond three of five units: the measured depth is still five."""
    window = drafting.Counters(100, 500, 29, accepted_per_position=(20, 8, 1, 0, 0))
    fit = drafting.fit_acceptance(window, kind)
    assert fit.depth == 5
    assert fit.expected_length(5).value == pytest.approx(1.29, abs=0.05)
    [found] = drafting.measured_depths([window], 0.01, 16, model=kind)
    assert found.optimum.curve.size >= 6


def test_readers_name_their_source_alike() -> None:
    text = ["llamacpp:spec_decode_num_drafts 10", "llamacpp:spec_decode_num_draft_tokens 30"]
    text.append("llamacpp:spec_decode_num_accepted_tokens 15")
    found = list(drafting.iter_counters(source=text))
    assert [w.accepted for w in found] == [w.accepted for w in drafting.read_counters(source=text)]


@pytest.mark.parametrize(("tpot", "kept"), [(20 / 4.3, True), (20 / 4.8, False), (20 / 0.8, False)])
def test_tokens_of_a_cycle_have_a_range(tpot: float, kept: bool) -> None:
    benchmark = drafting.clean_benchmark([ServingRow("qa", 3, 1, 20.0, tpot)])
    assert bool(benchmark.rows) is kept
    assert len(benchmark.dropped) == (not kept)


def test_equal_blocks_have_the_variance_of_their_means() -> None:
    kept = np.array([61.0, 75.0, 66.0, 81.0, 58.0])
    share = kept.sum() / 500
    found = drafting.block_variance(kept, [100] * 5, independent=True)
    own = np.var(kept / 100, ddof=1) / 5
    assert found.inflation == pytest.approx(own / (share * (1 - share) / 500), rel=1e-12)
    assert found.freedom == pytest.approx(4)
