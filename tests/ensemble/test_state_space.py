"""The bridge to python-control, both ways: same transfer function, same bits where copied."""

from __future__ import annotations

from typing import Any

import control
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensctl as ec
from ensctl.ensemble.diagonalization import diagonalize
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.state_space import to_state_space

_POINTS = np.array([1.7 + 0.3j, -1.4 + 1.1j, 0.2 - 2.3j, 1.1, -3.0])


@st.composite
def populations(draw: st.DrawFn) -> Ensemble:
    """Real members, conjugate pairs and lone complex members in any order, any channels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pairs, real, lone = (draw(st.integers(0, 3)) for _ in range(3))
    channels, outputs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    count = pairs + real + lone or 1

    def numbers(*shape: int) -> np.ndarray:
        return rng.uniform(-0.9, 0.9, shape) + 1j * rng.uniform(-0.9, 0.9, shape)

    lam, b, c = numbers(count), numbers(count, channels), numbers(outputs, count)
    lam[:real], b[:real] = lam[:real].real, b[:real].real
    if not lone and draw(st.booleans()):
        c[:, :real] = c[:, :real].real
    paired = slice(real, real + pairs)
    lam = np.concatenate([lam, lam[paired].conj()])
    b, c = np.vstack([b, b[paired].conj()]), np.hstack([c, c[:, paired].conj()])
    order = rng.permutation(lam.size)
    d = rng.uniform(-1, 1, (outputs, channels))
    return Ensemble(lam[order], b[order], c[:, order], d, dt=0.25)


def _transfer(A: Any, B: Any, C: Any, D: Any, z: complex) -> np.ndarray:
    return C @ np.linalg.solve(z * np.eye(len(A)) - A, B) + D


def _response(ens: Ensemble, z: complex) -> np.ndarray:
    return (ens.output_weights / (z - ens.lam)) @ ens.gains + ens.feedthrough


@settings(max_examples=60)
@given(populations())
def test_the_real_system_has_the_transfer_function_of_the_ensemble(ens: Ensemble) -> None:
    form = to_state_space(ens)
    sys = form.sys
    assert all(np.isrealobj(matrix) for matrix in (sys.A, sys.B, sys.C, sys.D))
    for z in _POINTS:
        got = form.output_transform @ _transfer(sys.A, sys.B, sys.C, sys.D, z)
        assert got == pytest.approx(_response(ens, z), rel=1e-12, abs=1e-12)


@settings(max_examples=60)
@given(populations())
def test_the_transforms_intertwine_exactly(ens: Ensemble) -> None:
    # x = T ξ and y = S η for every real input: T A = Λ T, T B = b, S C = c T, S D = d.
    form = to_state_space(ens)
    T, S, sys = form.transform, form.output_transform, form.sys
    assert np.array_equal(T @ sys.A, ens.lam[:, np.newaxis] * T)
    assert np.array_equal(T @ sys.B, ens.gains)
    assert pytest.approx(ens.output_weights @ T, rel=1e-15, abs=0) == S @ sys.C
    assert np.array_equal(S @ sys.D, ens.feedthrough)


@settings(max_examples=60)
@given(populations())
def test_no_more_states_than_needed(ens: Ensemble) -> None:
    members = np.column_stack([ens.lam, ens.gains])
    real = int(np.sum(np.all(np.imag(members) == 0, axis=1)))
    rows = {tuple(row) for row in members.tolist() if any(np.imag(value) for value in row)}
    pairs = sum(tuple(np.conj(row).tolist()) in rows for row in rows)
    assert to_state_space(ens).sys.nstates == real + pairs + 2 * (len(rows) - pairs)


def test_simulation_agrees_with_the_members() -> None:
    ens = ec.families.oscillators(3, damping=0.05, dt=0.5)
    form = ens.to_state_space()
    u = np.random.default_rng(1).normal(size=40)
    result = control.forced_response(form.sys, U=u, X0=0.0)
    x = np.zeros(ens.size, dtype=complex)
    for t, value in enumerate(u):
        assert form.transform @ result.states[:, t] == pytest.approx(x, abs=1e-13)
        assert result.outputs[t] == pytest.approx((ens.c @ x).real, abs=1e-13)
        x = ens.lam * x + ens.b * value


def test_real_members_keep_their_order() -> None:
    ens = Ensemble([0.3, 0.1, 0.2], b=[1.0, 2.0, 3.0], c=[4.0, 5.0, 6.0], d=7.0, dt=0.1)
    form = ens.to_state_space()
    assert np.array_equal(form.sys.A, np.diag([0.3, 0.1, 0.2]))
    assert form.sys.B.ravel().tolist() == [1.0, 2.0, 3.0]
    assert form.sys.C.ravel().tolist() == [4.0, 5.0, 6.0]
    assert form.sys.D.tolist() == [[7.0]]
    assert form.sys.dt == 0.1
    assert np.array_equal(form.transform, np.eye(3))
    assert np.array_equal(form.output_transform, [[1.0]])


@pytest.mark.parametrize("dt", [0.1, 1.0, 30.0])
def test_dt_is_always_passed(dt: float) -> None:
    for lam in ([0.5], [0.5 + 0.1j, 0.5 - 0.1j], [0.5j]):
        assert Ensemble(lam, dt=dt).to_ss().dt == dt
        assert Ensemble.from_ss(Ensemble(lam, dt=dt).to_ss()).dt == dt


def test_a_member_that_nothing_moves_stays() -> None:
    sys = Ensemble([0.0, 0.5], b=[0.0, 1.0], c=[0.0, 1.0]).to_ss()
    assert sys.nstates == 2


def test_conjugate_members_with_other_weights_give_two_outputs() -> None:
    form = Ensemble([0.6 + 0.3j, 0.6 - 0.3j], c=[1.0, 0.0]).to_state_space()
    assert (form.sys.nstates, form.sys.noutputs) == (2, 2)
    assert form.output_transform.tolist() == [[1.0, 1j]]


def test_equal_pairs_are_matched_by_their_weights() -> None:
    lam, c = 0.5 + 0.2j, 3.0 + 1.0j
    ens = Ensemble([lam, lam, lam.conjugate(), lam.conjugate()], c=[c, 1.0, 1.0, c.conjugate()])
    form = ens.to_state_space()
    assert (form.sys.nstates, form.sys.noutputs) == (4, 1)


def test_a_dense_system_of_many_members_is_refused() -> None:
    with pytest.raises(ec.InvalidInputError, match=r"lam must make at most \d+ states .* 6000"):
        Ensemble(np.linspace(0.0, 1.0, 6000)).to_ss()
    with pytest.raises(ec.InvalidInputError, match=r"lam must make at most \d+ states .* 7999"):
        Ensemble(np.linspace(0.0, 1.0, 4000) * 1j + 0.1).to_ss()


@settings(max_examples=40)
@given(st.lists(st.floats(-2.0, 2.0), min_size=1, max_size=6), st.integers(1, 3), st.data())
def test_real_ensembles_come_back_bit_for_bit(
    lam: list[float], channels: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    b, c = rng.normal(size=(len(lam), channels)), rng.normal(size=(2, len(lam)))
    ens = Ensemble(lam, b[:, 0] if channels == 1 else b, c, rng.normal(size=(2, channels)), dt=0.5)
    assert Ensemble.from_ss(ens.to_ss()) == ens


def test_conjugate_pairs_come_back_bit_for_bit() -> None:
    ens = ec.families.oscillators(5, damping=0.03, dt=0.2)
    back = Ensemble.from_ss(ens.to_ss())
    assert back == Ensemble(ens.lam, ens.b, ens.c, ens.d, dt=ens.dt)


def test_repeated_eigenvalues_of_a_diagonal_system_stay_equal() -> None:
    ens = Ensemble.from_ss(Ensemble([0.3, 0.3, 0.9]).to_ss())
    assert ens.lam.tolist() == [0.3, 0.3, 0.9]
    assert not ec.controllability(ens).reachable


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 3), st.integers(1, 3))
def test_modes_have_the_transfer_function_of_the_system(
    seed: int, n: int, inputs: int, outputs: int
) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)) / np.sqrt(n)
    B, C = rng.normal(size=(n, inputs)), rng.normal(size=(outputs, n))
    D = rng.normal(size=(outputs, inputs))
    modes = diagonalize(control.ss(A, B, C, D, 0.5))
    ens, V = modes.ensemble, modes.transform
    scale = modes.condition * 1e-13
    assert V * ens.lam == pytest.approx(A @ V, abs=scale)
    assert V @ ens.gains == pytest.approx(B, abs=10 * scale)
    for z in _POINTS * 3.0:
        assert _response(ens, z) == pytest.approx(_transfer(A, B, C, D, z), abs=10 * scale)
    assert ens.is_conjugate_closed
    assert ens.is_real is bool(np.all(np.isreal(ens.lam)))
    assert modes.condition == pytest.approx(np.linalg.cond(V), rel=1e-6)
    assert np.linalg.norm(V, axis=0) == pytest.approx(np.ones(n), rel=1e-12)


def test_single_input_and_output_give_flat_arrays() -> None:
    ens = Ensemble.from_ss(control.ss([[0.5, 1.0], [0.0, 0.2]], [[1], [1]], [[1, 0]], 3.0, True))
    assert (ens.b.shape, ens.c.shape, ens.d, ens.dt) == ((2,), (2,), 3.0, 1.0)
    assert ens.is_real


def test_the_eigenvalue_bound_holds() -> None:
    # Companion matrix of Π (z − k/10), k = 1 … 6: eigenvalues known, κ(V) large.
    exact = np.arange(1, 7) / 10
    A = np.diag(np.ones(5), -1)
    A[0] = -np.poly(exact)[1:]
    modes = diagonalize(control.ss(A, np.eye(6)[:, :1], np.ones((1, 6)), 0, 1.0))
    errors = np.abs(np.sort(modes.ensemble.lam) - exact)
    assert 0 < errors.max() <= modes.lam_error_bound + 1e-15 * modes.condition
    assert modes.condition > 1e3


@pytest.mark.parametrize(
    "A",
    [
        [[1.0, 1.0], [0.0, 1.0]],
        [[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]],
        [[0.0, 1.0], [0.0, 0.0]],
        [[0.5, 1.0], [1e-18, 0.5]],
    ],
)
def test_defective_systems_are_refused_with_the_number(A: list[list[float]]) -> None:
    sys = control.ss(A, np.ones((len(A), 1)), np.ones((1, len(A))), 0, 1.0)
    with pytest.raises(ec.InvalidInputError, match=r"≤ 1e\+08, got (\d\S*e\+\d+|inf)") as caught:
        Ensemble.from_ss(sys)
    assert "\n" not in str(caught.value)
    assert "defective" in str(caught.value)


def test_the_limit_is_an_argument() -> None:
    # κ₂(V) of [[0.5, 1], [0, 0.5 + δ]] is 2/δ to first order.
    sys = control.ss([[0.5, 1.0], [0.0, 0.5 + 1e-4]], [[0], [1]], [[1, 0]], 0, 1.0)
    assert diagonalize(sys).condition == pytest.approx(2e4, rel=1e-3)
    with pytest.raises(ec.InvalidInputError, match=r"≤ 1e\+03, got 2e\+04"):
        diagonalize(sys, max_condition=1e3)
    with pytest.raises(ec.InvalidInputError, match="max_condition must be ≥ 1"):
        diagonalize(sys, max_condition=0.5)


@pytest.mark.parametrize(
    ("sys", "message"),
    [
        (control.ss([[-1.0]], [[1]], [[1]], 0), "got continuous time .*control.sample_system"),
        (control.ss([[-1.0]], [[1]], [[1]], 0, None), "sys must be discrete-time, got no dt"),
        (control.tf([1.0], [1.0, 0.5], 1.0), "sys must be a control.StateSpace, got Transfer"),
        (control.ss([], [], [], [[1.0]], 1.0), "sys must have states"),
        (np.eye(2), "sys must be a control.StateSpace, got ndarray; convert it by control.ss"),
        (control.ss([[float("nan")]], [[1]], [[1]], 0, 1.0), "sys.A must be finite"),
    ],
)
def test_a_wrong_system_is_refused_with_advice(sys: Any, message: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=message) as caught:
        Ensemble.from_ss(sys)
    assert "\n" not in str(caught.value)


def test_continuous_systems_go_through_sampling() -> None:
    rates = [-1.0, -0.2]
    sys = control.ss(np.diag(rates), np.ones((2, 1)), np.ones((1, 2)), 0)
    sampled = Ensemble.from_ss(control.sample_system(sys, 0.5))
    held = Ensemble.from_continuous(rates, 1.0, 0.5, c=1.0)
    assert sampled.lam == pytest.approx(held.lam, rel=1e-14)
    assert sampled.b == pytest.approx(held.b, rel=1e-14)
