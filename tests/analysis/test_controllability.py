"""The exact controllability verdict: cases with a name, reasons, and properties."""

from __future__ import annotations

import json
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.analysis.controllability import controllability
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

_DYADIC = st.integers(-4, 4).map(lambda k: k / 4)
_MEMBERS = st.lists(st.tuples(_DYADIC, _DYADIC), min_size=1, max_size=8)


@pytest.mark.parametrize(
    "lam",
    [
        np.linspace(0.5, 0.99, 14),
        np.linspace(0, 1, 19),
        np.linspace(-1, 1, 32),
        [0.3, 0.1 + 0.2],
        np.linspace(0.1, 0.9, 200),
    ],
    ids=["14 in [.5,.99]", "19 in [0,1]", "32 in [-1,1]", "one ulp apart", "200 in [.1,.9]"],
)
def test_distinct_members_are_reachable(lam: list[float]) -> None:
    verdict = controllability(Ensemble(lam))
    assert verdict.reachable and verdict.rank == len(lam) == verdict.min_horizon
    assert verdict.reasons == () and verdict.locked == () and verdict.dead == ()


@pytest.mark.parametrize(
    ("lam", "b", "numerical_rank"),
    [
        (np.linspace(0.5, 0.99, 14), 1.0, 13),
        (np.linspace(0, 1, 19), 1.0, 18),
        (np.linspace(-1, 1, 32), 1.0, 31),
        ([0.5, -0.5], [1.0, 1e-17], 1),
    ],
)
def test_where_the_rank_of_ctrb_is_wrong(
    lam: list[float], b: float | list[float], numerical_rank: int
) -> None:
    ens = Ensemble(lam, b)
    matrix = np.vander(ens.lam, increasing=True) * ens.gains
    # The rank of the same matrix in floating point; allow one more or less between BLAS builds.
    assert abs(np.linalg.matrix_rank(matrix) - numerical_rank) <= (numerical_rank > 1)
    assert np.linalg.matrix_rank(matrix) < ens.size
    assert controllability(ens).reachable


def test_two_members_with_equal_lam_are_named() -> None:
    verdict = controllability(Ensemble([0.3, 0.3, 0.9]))
    assert not verdict.reachable and verdict.stabilizable and not verdict.null_controllable
    assert verdict.locked == ((0, 1),) and verdict.rank == 2 and verdict.min_horizon is None
    (reason,) = verdict.reasons
    assert reason.startswith("members 0 and 1 share λ = 0.3: one input moves only their b-weighted")
    np.testing.assert_array_equal(verdict.groups[0].directions, [[1.0, -1.0]])


def test_names_are_used_in_reasons() -> None:
    verdict = controllability(Ensemble([0.3, 0.3, 0.9], [1, 1, 0], names=("hall", "attic", "shed")))
    assert verdict.reasons[0].startswith("hall and attic share λ = 0.3")
    assert verdict.reasons[1] == "shed has b = 0: no input reaches it"


def test_a_dead_member_is_named() -> None:
    verdict = controllability(Ensemble([0.3, 0.5, 0.9], [1.0, 1.0, 0.0]))
    assert verdict.dead == (2,) and verdict.rank == 2 and verdict.locked == ()
    assert verdict.reasons == ("member 2 has b = 0: no input reaches it",)


def test_a_dead_member_does_not_lock_the_one_that_shares_its_lam() -> None:
    verdict = controllability(Ensemble([0.3, 0.3], [0.0, 1.0]))
    assert verdict.dead == (0,) and verdict.locked == () and verdict.rank == 1


@pytest.mark.parametrize(
    ("lam", "b", "null_controllable", "stabilizable"),
    [
        ([0.0, 0.0, 0.5], 1.0, True, True),
        ([0.0, 0.5], [0.0, 1.0], True, True),
        ([0.5, 0.5], 1.0, False, True),
        ([1.2, 1.2, 0.9], 1.0, False, False),
        ([1.0, 0.5], [0.0, 1.0], False, False),
        ([np.nextafter(1.0, 0.0), 0.5], [0.0, 1.0], False, True),
        ([-1.0, -1.0], 1.0, False, False),
    ],
)
def test_three_notions(
    lam: list[float], b: float | list[float], null_controllable: bool, stabilizable: bool
) -> None:
    verdict = controllability(Ensemble(lam, b))
    assert not verdict.reachable
    assert verdict.null_controllable == null_controllable
    assert verdict.stabilizable == stabilizable


@pytest.mark.parametrize("turn", range(20))
def test_the_unit_circle_is_decided_exactly(turn: int) -> None:
    # Rounded points of the unit circle: hypot says 1.0 for most, the rational square decides.
    z = complex(np.exp(1j * turn))
    exact = Fraction(z.real) ** 2 + Fraction(z.imag) ** 2
    verdict = controllability(Ensemble([z, 0.5], [0.0, 1.0]))
    assert verdict.stabilizable == (exact < 1)


def test_horizon_affects_reachable_and_rank_only() -> None:
    ens = Ensemble([0.2, 0.5, 0.8])
    short = controllability(ens, 2)
    assert not short.reachable and short.rank == 2 and short.total_rank == 3
    assert short.null_controllable and short.stabilizable and short.min_horizon == 3
    assert short.reasons == ("2 steps are too few: rank 2 of 3; take a horizon of at least 3",)
    assert controllability(ens, 3).reachable and controllability(ens, 50).rank == 3


def test_several_channels_unlock_a_group() -> None:
    lam = [0.3, 0.3, 0.9]
    assert controllability(Ensemble(lam, [[1, 0], [0, 1], [1, 1]])).reachable
    verdict = controllability(Ensemble(lam, [[1, 2], [2, 4], [1, 1]]))
    assert not verdict.reachable and verdict.locked == ((0, 1),)
    assert "2 inputs move only 1 of their 2 directions" in verdict.reasons[0]


def test_several_channels_shorten_the_horizon() -> None:
    ens = Ensemble([0.2, 0.5, 0.8, 0.9], [[1, 0], [2, 0], [0, 1], [0, 3]])
    assert controllability(ens).min_horizon == 2
    assert controllability(ens, 1).rank == 2 and controllability(ens, 2).reachable


def test_matlab_page_on_ctrb() -> None:
    # A = [1 1; 4 −2] has eigenvalues 2 and −3; B = [1 −1; 1 −1] excites only the first of its
    # modes: one uncontrollable state (documentation of ctrb and ctrbf).
    state, entry = np.array([[1.0, 1.0], [4.0, -2.0]]), np.array([[1.0, -1.0], [1.0, -1.0]])
    left = np.array([[4.0, 1.0], [1.0, -1.0]])
    np.testing.assert_array_equal(left @ state, np.diag([2.0, -3.0]) @ left)
    verdict = controllability(Ensemble([2.0, -3.0], left @ entry))
    assert verdict.dead == (1,) and verdict.rank == 1


def test_str_is_short_and_has_the_verdict_first() -> None:
    ens = Ensemble(np.repeat(np.linspace(0.1, 1.2, 400), 2), np.arange(800) > 0)
    text = str(controllability(ens, 3))
    lines = text.splitlines()
    assert len(lines) <= 12 and max(map(len, lines)) < 200
    assert lines[0] == "not reachable in 3 steps: rank 3 of 800 (exact)"


def test_long_lists_of_members_are_cut() -> None:
    (reason,) = controllability(Ensemble(np.full(1000, 0.5))).reasons
    assert "members 0, 1, 2, 3, 4, 5, … (994 more) share λ = 0.5" in reason


def test_to_dict_is_json() -> None:
    verdict = controllability(Ensemble([0.3j, 0.3j, 0.5]), 2)
    data = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))
    assert data["schema"] == 1 and data["kind"] == "controllability"
    assert data["locked"] == [[0, 1]] and data["groups"][0]["value"] == {"re": 0.0, "im": 0.3}


@pytest.mark.parametrize("horizon", [0, -1, 2.5, "3", True])
def test_a_wrong_horizon_is_named(horizon: object) -> None:
    with pytest.raises(InvalidInputError, match="horizon must be an integer ≥ 1"):
        controllability(Ensemble([0.5]), horizon)  # type: ignore[arg-type]


def test_real_inputs_must_be_a_choice() -> None:
    with pytest.raises(InvalidInputError, match="real_inputs must be True, False or None"):
        controllability(Ensemble([0.5]), real_inputs="yes")  # type: ignore[arg-type]


def test_a_short_horizon_of_many_members_and_channels_is_refused() -> None:
    rng = np.random.default_rng(3)
    ens = Ensemble(rng.uniform(size=20_000), rng.normal(size=(20_000, 2)))
    verdict = controllability(ens)
    assert verdict.reachable and verdict.min_horizon is None
    assert controllability(ens, 20_000).reachable
    with pytest.raises(InvalidInputError, match="horizon must be at least 20000 or None"):
        controllability(ens, 19_999)


def test_a_million_members_take_a_second() -> None:
    lam = np.random.default_rng(4).uniform(size=1_000_000)
    lam[-1] = lam[0]
    ens = Ensemble(lam)
    start = time.perf_counter()
    verdict = controllability(ens)
    # Sorting takes .1 s; the limit only tells O(N log N) from O(N²).
    assert time.perf_counter() - start < 5.0
    assert verdict.locked == ((0, 999_999),) and verdict.rank == 999_999


@given(_MEMBERS)
def test_permuting_members_permutes_the_verdict(members: list[tuple[float, float]]) -> None:
    lam, b = np.array(members).T
    order = np.random.default_rng(len(members)).permutation(lam.size)
    before = controllability(Ensemble(lam, b))
    after = controllability(Ensemble(lam[order], b[order]))
    assert (before.rank, before.null_controllable, before.stabilizable) == (
        after.rank,
        after.null_controllable,
        after.stabilizable,
    )
    moved = {frozenset(int(order[i]) for i in group) for group in after.locked}
    assert moved == {frozenset(group) for group in before.locked}
    assert {int(order[i]) for i in after.dead} == set(before.dead)


@given(_MEMBERS, st.integers(1, 8))
def test_scaling_the_gains_changes_nothing(
    members: list[tuple[float, float]], horizon: int
) -> None:
    lam, b = np.array(members).T
    scale = np.where(np.arange(lam.size) % 2, 2.0**-40, -3.0)
    before = controllability(Ensemble(lam, b), horizon)
    after = controllability(Ensemble(lam, b * scale), horizon)
    assert before == after


@given(_MEMBERS)
def test_reachable_implies_the_weaker_notions(members: list[tuple[float, float]]) -> None:
    lam, b = np.array(members).T
    verdict = controllability(Ensemble(lam, b))
    assert verdict.null_controllable or not verdict.reachable
    assert verdict.stabilizable or not verdict.null_controllable
    assert verdict.reachable == (not verdict.reasons)
