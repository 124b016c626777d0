"""The observability verdict is the dual of the controllability verdict, in its own words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.analysis.controllability import controllability
from ensctl.analysis.matrices import obsv
from ensctl.analysis.observability import observability
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

_DYADIC = st.integers(-3, 3).map(lambda k: k / 2)


@st.composite
def _ensembles(draw: st.DrawFn) -> Ensemble:
    size, outputs = draw(st.integers(1, 6)), draw(st.integers(1, 2))
    lam = draw(st.lists(_DYADIC, min_size=size, max_size=size))
    c = draw(st.lists(_DYADIC, min_size=size * outputs, max_size=size * outputs))
    return Ensemble(lam, 1.0, np.array(c).reshape(outputs, size))


@given(_ensembles(), st.none() | st.integers(1, 7))
def test_observability_is_controllability_of_the_dual(ens: Ensemble, horizon: int | None) -> None:
    ours, dual = observability(ens, horizon), controllability(ens.dual(), horizon)
    assert ours.observable == dual.reachable
    assert ours.reconstructible == dual.null_controllable
    assert ours.detectable == dual.stabilizable
    assert (ours.rank, ours.total_rank, ours.min_horizon) == (
        dual.rank,
        dual.total_rank,
        dual.min_horizon,
    )
    assert (ours.locked, ours.silent) == (dual.locked, dual.dead)


@given(_ensembles())
def test_rank_is_the_rank_of_the_observability_matrix(ens: Ensemble) -> None:
    # Small dyadic numbers: the floating-point rank is beyond doubt.
    assert observability(ens).rank == np.linalg.matrix_rank(obsv(ens))


def test_the_mean_of_distinct_members_shows_them_all() -> None:
    verdict = observability(Ensemble([0.2, 0.5, 0.8]))
    assert verdict.observable and verdict.detectable and verdict.min_horizon == 3
    assert str(verdict).startswith("observable: rank 3 of 3, from 3 output samples or more (exact)")


def test_reasons_speak_of_outputs() -> None:
    verdict = observability(Ensemble([0.3, 0.3, 0.9], c=[1.0, 2.0, 0.0]), 1)
    assert verdict.locked == ((0, 1),) and verdict.silent == (2,) and verdict.rank == 1
    assert verdict.reasons == (
        "members 0 and 1 share λ = 0.3: the output shows only their c-weighted sum; give them "
        "different λ or measure another aggregate of them",
        "member 2 has c = 0: no output shows it",
    )
    np.testing.assert_array_equal(verdict.groups[0].directions, [[1.0, -0.5]])


def test_too_few_samples() -> None:
    verdict = observability(Ensemble([0.2, 0.5, 0.8]), 1)
    assert verdict.reasons == (
        "1 output sample is too few: rank 1 of 3; take a horizon of at least 3",
    )


def test_detectable_asks_for_unstable_members_only() -> None:
    assert observability(Ensemble([0.5, 1.5], c=[0.0, 1.0])).detectable
    assert not observability(Ensemble([0.5, 1.5], c=[1.0, 0.0])).detectable
    assert observability(Ensemble([0.0, 1.5], c=[0.0, 1.0])).reconstructible


def test_the_real_part_alone_needs_more() -> None:
    ens = Ensemble([0.5j, 0.3 + 0.1j], c=[1.0, 1.0])
    verdict = observability(ens, real_inputs=True)
    assert verdict.observable and verdict.dimension == 4 and verdict.min_horizon == 4


def test_to_dict_is_json() -> None:
    data = json.loads(json.dumps(observability(Ensemble([0.3, 0.3])).to_dict(), allow_nan=False))
    assert data["kind"] == "observability" and data["locked"] == [[0, 1]]


def test_a_wrong_horizon_is_named() -> None:
    with pytest.raises(InvalidInputError, match="horizon must be an integer ≥ 1, got 0"):
        observability(Ensemble([0.5]), 0)
