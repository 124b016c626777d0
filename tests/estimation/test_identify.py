"""Identification from the aggregate: exact data, coverage, refusals, complex members."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import ensctl as ec
from ensctl import (
    Ensemble,
    Identification,
    InvalidInputError,
    NotIdentifiableError,
    aggregate_output,
    identify,
)

_LAM = np.array([0.2, 0.5, 0.8])


def _input(samples: int, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).choice([-1.0, 1.0], samples)


def _measured(
    ens: Ensemble, u: NDArray[np.float64], noise: float, seed: int, x0: object = 0.0
) -> NDArray[np.float64]:
    y = np.real(aggregate_output(ens, u, x0))  # type: ignore[arg-type]
    return np.asarray(y + noise * np.random.default_rng(seed).standard_normal(y.size))


@pytest.mark.parametrize("start", ["free", "zero"])
def test_exact_data_give_members_back(start: str) -> None:
    u = _input(1000, 0)
    y = aggregate_output(Ensemble(_LAM, c=1.0), u)
    found = identify(y, u, initial_state=start)  # type: ignore[arg-type]
    assert found.order == 3 and found.gap > 1e10
    np.testing.assert_allclose(found.lam, _LAM, atol=1e-12, rtol=0)
    np.testing.assert_allclose(found.residues, 1.0, atol=1e-12, rtol=0)
    assert np.all(np.abs(found.lam - _LAM) < 10 * found.lam_std) and found.lam_std.max() < 1e-12
    assert any("rounding" in note for note in found.notes)


def test_fewest_samples_and_units() -> None:
    u = 1e5 * _input(11, 3)
    y = aggregate_output(Ensemble(_LAM, b=1e-9, c=1e3), u)[:-1]
    found = identify(y, u, 3)
    np.testing.assert_allclose(found.lam, _LAM, atol=1e-10)
    np.testing.assert_allclose(found.residues, 1e-6, rtol=1e-9)
    assert found.residual.shape == (11,)


def test_initial_state_and_feedthrough() -> None:
    ens = Ensemble([0.6, 0.9], b=[1.0, -2.0], c=[1.0, 0.5], d=3.0)
    u = _input(200, 1)
    found = identify(aggregate_output(ens, u, [2.0, 4.0]), u, 2, feedthrough=True)
    np.testing.assert_allclose(found.residues, [1.0, -1.0], atol=1e-11)
    np.testing.assert_allclose(found.initial, [2.0, 2.0], atol=1e-11)
    assert found.feedthrough == pytest.approx(3.0, abs=1e-12)
    again = aggregate_output(found.to_ensemble(), u)
    np.testing.assert_allclose(again, aggregate_output(ens, u), atol=1e-10)


@given(
    st.lists(st.integers(-8, 8), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from([-2.0, -0.5, 1.0, 3.0]), min_size=3, max_size=3),
    st.integers(0, 10),
)
@settings(max_examples=40)
def test_exact_data_of_any_spread_members(tens: list[int], gains: list[float], seed: int) -> None:
    lam = np.sort(np.array(tens) / 10)
    residues = np.array(gains[: lam.size])
    u = _input(300, seed)
    found = identify(aggregate_output(Ensemble(lam, residues, 1.0), u), u, lam.size)
    np.testing.assert_allclose(found.lam, lam, atol=1e-9)
    np.testing.assert_allclose(found.residues, residues, atol=1e-8)


def test_conjugate_pairs_of_real_data() -> None:
    lam = np.array([0.6 - 0.5j, 0.6 + 0.5j, 0.9])
    ens = Ensemble(lam, b=[1 - 2j, 1 + 2j, 1.0], c=1.0)
    u = _input(600, 4)
    found = identify(_measured(ens, u, 0.01, 5), u)
    assert found.order == 3
    assert found.lam[0] == found.lam[1].conjugate() and found.lam[2].imag == 0
    bars = found.interval(0.999)
    for part in (np.real, np.imag):
        assert np.all(part(bars.lam_low) <= part(lam)) and np.all(part(lam) <= part(bars.lam_high))
        assert np.all(part(bars.residue_low) <= part(ens.b))
        assert np.all(part(ens.b) <= part(bars.residue_high))


def test_complex_data_need_no_conjugates() -> None:
    ens = Ensemble([0.3 - 0.5j, 0.6 + 0.5j], b=[1.0, 1j], c=1.0)
    u = _input(300, 6)
    found = identify(aggregate_output(ens, u), u)
    np.testing.assert_allclose(found.lam, ens.lam, atol=1e-12)
    np.testing.assert_allclose(found.residues, ens.b, atol=1e-12)


def test_unstable_members() -> None:
    ens = Ensemble([0.6, 1.05], c=1.0)
    u = _input(100, 2)
    found = identify(_measured(ens, u, 0.01, 3), u, 2)
    assert np.all(np.abs(found.lam - ens.lam) < 4 * found.lam_std)


def test_order_is_raised_while_the_residual_depends_on_the_input() -> None:
    u = _input(1000, 8)
    y = aggregate_output(Ensemble(_LAM, c=1.0), u)
    noise = np.sqrt(np.mean(y**2) * 1e-4)
    found = identify(_measured(Ensemble(_LAM, c=1.0), u, noise, 9), u)
    assert found.order == 3 and "residual still depended" in found.notes[0]
    assert found.singular_values[2] < 2 * noise
    assert found.noise_std == pytest.approx(noise, rel=0.1)


def test_intervals_grow_with_the_level_and_hold_the_estimate() -> None:
    u = _input(500, 1)
    found = identify(_measured(Ensemble(_LAM, c=1.0), u, 0.002, 2), u, 3)
    wide, narrow = found.interval(0.99), found.interval(0.5)
    assert np.all(wide.lam_low < narrow.lam_low) and np.all(narrow.lam_high < wide.lam_high)
    assert np.all(narrow.residue_low < found.residues)
    assert found.interval() is found.interval(0.95)
    assert found.to_dict()["intervals"]["level"] == 0.95
    assert len(str(found).splitlines()) <= 12 and "95 %" in str(found.interval())
    with pytest.raises(InvalidInputError, match="level"):
        found.interval(1.0)


def test_bootstrap_agrees_with_cramer_rao() -> None:
    u = _input(400, 1)
    y = _measured(Ensemble([0.2, 0.8], c=1.0), u, 0.01, 2)
    theory, drawn = identify(y, u, 2), identify(y, u, 2, errors="bootstrap", resamples=200)
    np.testing.assert_allclose(drawn.lam_std, theory.lam_std, rtol=0.25)
    np.testing.assert_allclose(drawn.residue_std, theory.residue_std, rtol=0.25)
    assert drawn.method == "bootstrap" and np.all(drawn.interval().lam_low < drawn.lam)
    again = identify(y, u, 2, errors="bootstrap", resamples=200)
    np.testing.assert_array_equal(again.lam_std, drawn.lam_std)
    with pytest.raises(InvalidInputError, match="resamples ≥"):
        drawn.interval(0.999)


def test_coloured_noise_enlarges_the_errors() -> None:
    from scipy.signal import lfilter

    u = np.repeat(_input(75, 4), 8)
    y = aggregate_output(Ensemble([0.5, 0.9], c=1.0), u)[:-1]
    e = np.random.default_rng(5).standard_normal(u.size)
    white, coloured = (
        identify(y + 0.02 * e, u, 2),
        identify(y + lfilter([0.01], [1.0, -0.9], e), u, 2),
    )
    assert any("not white" in note for note in coloured.notes)
    relative = coloured.lam_std / coloured.noise_std
    assert np.all(relative > 1.2 * white.lam_std / white.noise_std)


def _covered(found: Identification) -> NDArray[np.bool_]:
    bars = found.interval()
    if np.iscomplexobj(found.lam):
        return np.zeros(6, dtype=bool)
    return np.concatenate(
        [
            (bars.lam_low <= _LAM) & (bars.lam_high >= _LAM),
            (bars.residue_low <= 1.0) & (bars.residue_high >= 1.0),
        ]
    )


@pytest.mark.slow
def test_impulse_at_forty_decibel_is_widened_or_refused() -> None:
    # Cramér–Rao intervals cover 55–80 % here.
    u = np.eye(1, 100)[0]
    clean = aggregate_output(Ensemble(_LAM, c=1.0), u)[:-1]
    noise = np.sqrt(np.mean(clean**2) * 1e-4)
    held, refused = [], 0
    for seed in range(16):
        y = clean + noise * np.random.default_rng(seed).standard_normal(u.size)
        try:
            found = identify(y, u, 3, initial_state="zero")
        except NotIdentifiableError:
            refused += 1
            continue
        assert found.method == "profile"
        held.append(_covered(found))
    assert refused > 0 and held
    assert np.all(np.sum(~np.array(held), axis=0) <= 0.07 * 16)


def test_profile_interval_is_wider_and_lopsided() -> None:
    u = _input(1000, 3)
    y = aggregate_output(Ensemble(_LAM, c=1.0), u)
    noise = np.sqrt(np.mean(y**2) * 1e-4)
    found = identify(_measured(Ensemble(_LAM, c=1.0), u, noise, 3), u, 3)
    assert found.method == "profile" and any("profile likelihood" in n for n in found.notes)
    bars = found.interval()
    below, above = found.lam - bars.lam_low, bars.lam_high - found.lam
    assert np.abs(below / above - 1).max() > 0.05
    assert np.all(bars.lam_high[:-1] < bars.lam_low[1:])


@pytest.mark.parametrize(
    ("match", "lam", "b", "samples", "order", "noise"),
    [
        ("larger than the rank", [0.2, 0.8], 1.0, 100, 3, 0.0),
        ("larger than the rank", [0.5, 0.5, 0.8], 1.0, 100, 3, 0.0),
        ("larger than the rank", [0.2, 0.5, 0.8], [1.0, 0.0, 1.0], 100, 3, 0.0),
        ("fewer than the 11", [0.2, 0.5, 0.8], 1.0, 9, 3, 0.0),
        ("does not close|explain|zero", [0.2, 0.8], 1.0, 300, 3, 0.01),
        ("does not close|explain|zero", [0.5, 0.5001, 0.8], 1.0, 300, 3, 0.001),
        ("does not close|zero", [0.2, 0.8], 0.0, 300, 1, 1.0),
        ("stands out of the noise", [0.2, 0.8], 0.0, 300, None, 1.0),
    ],
)
def test_refusals(
    match: str, lam: list[float], b: object, samples: int, order: int | None, noise: float
) -> None:
    u = _input(samples, 7)
    y = _measured(Ensemble(lam, b, 1.0), u, noise, 8)  # type: ignore[arg-type]
    with pytest.raises(NotIdentifiableError, match=match):
        identify(y, u, order)


def test_inputs_that_do_not_excite_are_refused() -> None:
    ens = Ensemble([0.2, 0.8], c=1.0)
    for u in (np.eye(1, 60)[0], np.ones(60)):
        y = aggregate_output(ens, u)
        with pytest.raises(NotIdentifiableError, match='initial_state="zero"'):
            identify(y, u, 2)
        np.testing.assert_allclose(identify(y, u, 2, initial_state="zero").lam, ens.lam, atol=1e-12)
    with pytest.raises(NotIdentifiableError, match="inputs are zero"):
        identify(aggregate_output(ens, np.zeros(60), 1.0), np.zeros(60), 2)
    with pytest.raises(NotIdentifiableError, match="outputs are zero"):
        identify(np.zeros(60), np.ones(60), 2)


def test_a_wrong_model_has_no_intervals() -> None:
    u = _input(600, 2)
    y = aggregate_output(Ensemble([0.2, 0.8], c=1.0), u)
    e = 0.001 * np.random.default_rng(3).standard_normal(y.size)
    bent = identify(np.tanh(y / 4) + e, u, 2)
    assert "powers of the fitted output" in bent.distrust
    missing = identify(_measured(Ensemble(_LAM, c=1.0), u, 0.001, 4), u, 2)
    assert "depends on the input" in missing.distrust and "refused" in str(missing)
    for found in (bent, missing):
        assert found.to_dict()["intervals"] is None
        with pytest.raises(NotIdentifiableError, match="honest"):
            found.interval()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"outputs": [1.0, np.nan] * 10}, "outputs must be finite"),
        ({"inputs": [1.0, np.inf] * 10}, "inputs must be finite"),
        ({"outputs": np.ones((2, 20))}, "one signal"),
        ({"outputs": np.ones(22)}, "as many samples"),
        ({"order": 0}, "order"),
        ({"order": 1.5}, "order"),
        ({"initial_state": "maybe"}, "initial_state"),
        ({"errors": "guess"}, "errors"),
        ({"level": 0.0}, "level"),
        ({"errors": "bootstrap", "resamples": 10}, "resamples"),
        ({"max_order": 0}, "max_order"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_arguments(change: dict[str, object], match: str) -> None:
    u = _input(20, 0)
    arguments = {"outputs": aggregate_output(Ensemble([0.5]), u)[:-1], "inputs": u} | change
    with pytest.raises(InvalidInputError, match=match):
        identify(**arguments)  # type: ignore[arg-type]


def test_names_are_public() -> None:
    assert ec.identify is identify and ec.Identification is Identification
