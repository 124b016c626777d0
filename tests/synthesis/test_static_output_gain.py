"""The window of k against its closed form, and against eigenvalues on both sides of each edge."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.synthesis.static_output_gain import StaticOutputGain, static_output_gain


def _radius(ens: Ensemble, k: float) -> float:
    d = float(np.real(ens.feedthrough[0, 0]))
    loop = np.outer(ens.gains[:, 0], ens.output_weights[0])
    return float(np.max(np.abs(np.linalg.eigvals(np.diag(ens.lam) - k / (1 + k * d) * loop))))


def _assert_windows_are_right(found: StaticOutputGain) -> None:
    ens = found.ensemble
    for low, high in found.windows:
        width = min(high - low, 1.0) if math.isfinite(high - low) else 1e-2
        for edge, inward in ((low, 1.0), (high, -1.0)):
            if math.isfinite(edge):
                step = 1e-4 * width * inward
                assert _radius(ens, edge + step) < 1
                assert _radius(ens, edge - step) > 1
                assert found.spectral_radius(edge + step) == pytest.approx(
                    _radius(ens, edge + step), rel=1e-6
                )


def test_stable_members_have_the_closed_form() -> None:
    found = static_output_gain(Ensemble([0.2, 0.5, 0.8], [1.0, 2.0, 0.5], 1.0))
    k_max = 1.0 / (1.0 / 1.2 + 2.0 / 1.5 + 0.5 / 1.8)
    assert found.windows[0][1] == pytest.approx(k_max, rel=1e-15)
    assert found.windows[0][0] == pytest.approx(-1.0 / (1 / 0.8 + 2 / 0.5 + 0.5 / 0.2), rel=1e-15)
    assert round(found.spectral_radius(0.999 * k_max), 5) == 0.99859
    assert round(found.spectral_radius(1.001 * k_max), 5) == 1.00141
    _assert_windows_are_right(found)


def test_one_unstable_member() -> None:
    found = static_output_gain(Ensemble([0.2, 0.5, 1.1], [1.0, 2.0, 2.0], 1.0))
    assert found.windows[0] == pytest.approx((0.067797, 0.320611), abs=5e-7)
    assert found.stabilizable and found.best_radius < 1 and found.method == "closed form"
    low, high = found.windows[0]
    assert low < found.best_gain < high and found.window == (low, high)
    _assert_windows_are_right(found)


@pytest.mark.parametrize(("b", "radius"), [((1.0, 2.0, 0.5), 1.0905), ((1.0, 2.0, 2.0), 1.07559)])
def test_two_unstable_members_cannot_be_stabilised(b: tuple[float, ...], radius: float) -> None:
    found = static_output_gain(Ensemble([0.2, 1.05, 1.1], b, 1.0))
    assert not found.stabilizable and found.window is None and found.best_is_global
    assert found.best_radius == pytest.approx(radius, abs=5e-5)
    around = found.best_gain * np.linspace(0.5, 1.5, 101)
    assert min(_radius(found.ensemble, k) for k in around) >= found.best_radius - 1e-12
    assert "2 moved members have |λ| ≥ 1" in str(found)


@pytest.mark.parametrize(
    ("lam", "b", "window"),
    [
        ([1.0, 0.2], [2.0, 1.0], (0.0, 1.0 / (2 / 2 + 1 / 1.2))),
        ([-1.0, 0.2], [2.0, 1.0], (-1.0 / (2 / 2 + 1 / 0.8), 0.0)),
        ([-1.1, 0.2], [2.0, 1.0], (-1.0 / (2 / 2.1 + 1 / 0.8), 1.0 / (-2 / 0.1 + 1 / 1.2))),
        ([0.2, 0.5], [-1.0, -2.0], (-1.0 / (1 / 1.2 + 2 / 1.5), 1.0 / (1 / 0.8 + 2 / 0.5))),
    ],
)
def test_members_on_the_circle_below_it_and_negative_weights(
    lam: list[float], b: list[float], window: tuple[float, float]
) -> None:
    found = static_output_gain(Ensemble(lam, b, 1.0))
    assert found.windows[0] == pytest.approx(window, rel=1e-14)
    _assert_windows_are_right(found)


def test_g1_that_is_not_negative_is_the_reason() -> None:
    found = static_output_gain(Ensemble([2.0, 0.5], 1.0, 1.0))
    assert not found.stabilizable and "Σ c b/(1 − λ) is not negative" in found.reason
    # Exactly on the border: 1/(1 − 1.5) + 1/(1 − .5) = 0.
    assert not static_output_gain(Ensemble([1.5, 0.5], 1.0, 1.0)).stabilizable


@st.composite
def _general(draw: st.DrawFn) -> Ensemble:
    size = draw(st.integers(2, 5))
    lam = draw(st.lists(st.integers(-11, 11), min_size=size, max_size=size, unique=True))
    b = draw(st.lists(st.sampled_from([-2.0, -0.5, 0.5, 1.0]), min_size=size, max_size=size))
    values, weights = np.array(lam) / 10.3, np.array(b, dtype=complex)
    if draw(st.booleans()):
        z, w = complex(draw(st.sampled_from([0.6 + 0.7j, 0.2 + 1.01j, -0.5 + 0.3j]))), 0.5 + 0.25j
        values = np.append(values, [z, z.conjugate()])
        weights = np.append(weights, [w, w.conjugate()])
    return Ensemble(values, weights, 1.0)


@settings(max_examples=15)
@given(_general(), st.integers(0, 1000))
def test_windows_are_exactly_where_eigenvalues_are_inside(ens: Ensemble, seed: int) -> None:
    found = static_output_gain(ens)
    rng = np.random.default_rng(seed)
    for k in np.concatenate([rng.uniform(-3, 3, 40), rng.uniform(-0.3, 0.3, 40)]):
        radius = _radius(ens, float(k))
        if abs(radius - 1) > 1e-6:
            inside = any(low < k < high for low, high in found.windows)
            assert inside == (radius < 1), (k, radius, found.windows)
    assert (found.best_radius < 1) == found.stabilizable


def test_feed_through_maps_the_window() -> None:
    plain = static_output_gain(Ensemble([0.2, 0.5, 0.8], [1.0, 2.0, 0.5], 1.0))
    low, high = plain.windows[0]
    found = static_output_gain(Ensemble([0.2, 0.5, 0.8], [1.0, 2.0, 0.5], 1.0, 1.0))
    assert found.windows[0] == pytest.approx((low / (1 - low), high / (1 - high)), rel=1e-14)
    assert found.best_radius == pytest.approx(plain.best_radius, rel=1e-14)
    _assert_windows_are_right(found)
    wide = static_output_gain(Ensemble([0.2, 0.5, 0.8], [1.0, 2.0, 0.5], 1.0, 3.0))
    assert len(wide.windows) == 2 and wide.windows[0][0] == -math.inf
    _assert_windows_are_right(wide)
    with pytest.raises(InvalidInputError, match="−1/d"):
        static_output_gain(Ensemble([0.5], 1.0, 1.0, 2.0)).spectral_radius(-0.5)


def test_members_that_no_gain_moves() -> None:
    found = static_output_gain(Ensemble([1.3, 1.3, 0.9], 1.0, 1.0))
    assert not found.stabilizable and found.fixed == (1,) and "member 1" in found.reason
    assert found.best_radius >= 1.3
    silent = static_output_gain(Ensemble([0.3, 0.3], [1.0, -1.0], 1.0))
    assert silent.windows == ((-math.inf, math.inf),) and silent.fixed == (0, 1)
    assert silent.spectral_radius(5.0) == 0.3


def test_a_thousand_members() -> None:
    found = static_output_gain(Ensemble(np.linspace(-0.9, 0.9, 1000), 1.0))
    exact = 1.0 / math.fsum(1e-3 / (1.0 + x) for x in np.linspace(-0.9, 0.9, 1000))
    assert found.windows[0][1] == pytest.approx(exact, rel=1e-14)


def test_refusals() -> None:
    with pytest.raises(InvalidInputError, match="one input and one output"):
        static_output_gain(Ensemble([0.2, 0.5], np.eye(2)))
    with pytest.raises(InvalidInputError, match="closed under conjugation"):
        static_output_gain(Ensemble([0.2, 0.5j]))
    with pytest.raises(InvalidInputError, match="real feed-through"):
        static_output_gain(Ensemble([0.2], d=1j))
    with pytest.raises(PrecisionError, match="rescale"):
        static_output_gain(Ensemble([0.5], 1e-300, 1e-300))
    with pytest.raises(InvalidInputError, match="at most 80"):
        static_output_gain(Ensemble(np.linspace(-0.9, 0.9, 81), np.r_[-1.0, np.ones(80)]))


def test_content_is_json() -> None:
    found = static_output_gain(Ensemble([0.2, 0.5]))
    assert json.loads(json.dumps(found.to_dict()))["kind"] == "static_output_gain"
