"""The regulator against scipy, closed forms and its own optimality; refusals that name members."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_discrete_are

from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError, NotReachableError, PrecisionError
from ensctl.synthesis.lqr import lqr


@st.composite
def _problems(draw: st.DrawFn) -> tuple[Ensemble, np.ndarray, np.ndarray]:
    size, channels = draw(st.integers(1, 6)), draw(st.integers(1, 2))
    lam = draw(st.lists(st.integers(-12, 12), min_size=size, max_size=size, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    root = rng.standard_normal((size, size))
    gains = rng.choice([-1.0, 0.5, 2.0], (size, channels))
    return Ensemble(np.array(lam) / 10.0, gains), root @ root.T + np.eye(size), np.eye(channels)


@given(_problems())
def test_agrees_with_scipy_where_it_is_well_conditioned(
    problem: tuple[Ensemble, np.ndarray, np.ndarray],
) -> None:
    ens, Q, R = problem
    found = lqr(ens, Q, R)
    theirs = solve_discrete_are(np.diag(ens.lam), ens.gains, Q, R)
    scale = np.linalg.norm(theirs)
    assert np.linalg.norm(found.cost_matrix - theirs) <= scale * (1e-8 + 10 * found.cost_error)
    assert found.residual < 1e-10 and found.spectral_radius < 1


@settings(max_examples=40)
@given(_problems(), st.integers(0, 1000))
def test_cost_is_what_a_simulation_costs_and_no_other_gain_is_cheaper(
    problem: tuple[Ensemble, np.ndarray, np.ndarray], seed: int
) -> None:
    ens, Q, R = problem
    found = lqr(ens, Q, R)
    rng = np.random.default_rng(seed)
    x0 = rng.standard_normal(ens.size)
    steps = int(40 / -np.log(found.spectral_radius)) + 10 if found.spectral_radius > 0 else 10
    assert _cost(ens, found.gain, Q, R, x0, steps) == pytest.approx(found.cost(x0), rel=1e-6)
    other = found.gain + 1e-3 * rng.standard_normal(found.gain.shape)
    assert _cost(ens, other, Q, R, x0, steps) >= found.cost(x0) * (1 - 1e-9)


def _cost(
    ens: Ensemble, K: np.ndarray, Q: np.ndarray, R: np.ndarray, x: np.ndarray, steps: int
) -> float:
    total = 0.0
    for _ in range(min(steps, 3000)):
        u = -K @ x
        total += float(x @ Q @ x + u @ R @ u)
        x = ens.lam * x + ens.gains @ u
    return total


def test_one_member_has_the_closed_form() -> None:
    # X = 1 + λ²X − (λX)²/(1 + X) with λ = 1: X² − X − 1 = 0, the golden ratio.
    found = lqr(Ensemble([1.0]))
    assert found.cost_matrix[0, 0] == pytest.approx((1 + 5**0.5) / 2, rel=1e-15)


def test_free_states_mirror_the_unstable_poles() -> None:
    found = lqr(Ensemble([2.0, -1.25, 0.5, 0.3]), Q=0.0)
    assert np.sort(found.poles.real) == pytest.approx([-0.8, 0.3, 0.5, 0.5], abs=1e-7)
    assert np.all(lqr(Ensemble([0.5, 0.3]), Q=0.0).gain == 0.0)


def test_complex_members() -> None:
    found = lqr(Ensemble([1.1 * np.exp(0.7j), 0.5 - 0.3j], [1.0, 1j]))
    theirs = solve_discrete_are(np.diag(found.ensemble.lam), found.ensemble.gains, np.eye(2), [[1]])
    assert np.allclose(found.cost_matrix, theirs, rtol=1e-11)
    pair = lqr(Ensemble([1.2 + 0.3j, 1.2 - 0.3j]))
    assert pair.gain[0, 0] == pytest.approx(np.conj(pair.gain[0, 1]), rel=1e-12)


def test_output_weight_with_feedthrough_is_a_cross_term() -> None:
    ens = Ensemble([1.05, 0.5], 1.0, [1.0, 2.0], 0.7)
    found = lqr(ens, output_weight=2.0)
    C, D = ens.output_weights, ens.feedthrough
    theirs = solve_discrete_are(
        np.diag(ens.lam), ens.gains, 2 * C.T @ C, 1 + 2 * D.T @ D, s=2 * C.T @ D
    )
    assert np.allclose(found.cost_matrix, theirs, rtol=1e-12)


def test_two_hundred_members() -> None:
    found = lqr(Ensemble(np.linspace(0.1, 1.0, 200)))
    assert found.residual < 1e-13 and found.spectral_radius < 1 and found.cost_error < 1e-8


def test_unstabilisable_members_are_named_where_python_control_says_nothing() -> None:
    import control

    with pytest.raises(NotReachableError, match=r"members 0 and 1 with \|λ\| ≥ 1") as caught:
        lqr(Ensemble([1.2, 1.2, 0.9]))
    assert caught.value.members == (0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            gain = control.dlqr(np.diag([1.2, 1.2, 0.9]), np.ones((3, 1)), np.eye(3), 1.0)[0]
        except np.linalg.LinAlgError:  # depends on the BLAS
            gain = np.zeros((1, 3))
    closed = np.diag([1.2, 1.2, 0.9]) - np.ones((3, 1)) @ gain
    assert np.max(np.abs(np.linalg.eigvals(closed))) > 1.19
    with pytest.raises(NotReachableError) as caught:
        lqr(Ensemble([1.0, 0.5], [0.0, 1.0]))
    assert caught.value.members == (0,)


def test_equal_stable_members_are_no_obstacle() -> None:
    assert lqr(Ensemble([0.3, 0.3, 1.2])).spectral_radius < 1
    assert lqr(Ensemble([1.2, 1.2], np.eye(2))).spectral_radius < 1


def test_a_cost_that_does_not_see_the_unit_circle_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="member 0"):
        lqr(Ensemble([1.0, 0.5]), Q=[0.0, 1.0])
    with pytest.raises(InvalidInputError, match="members 0 and 1"):
        lqr(Ensemble([-1.0, -1.0], np.eye(2)), Q=[[1.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"Q": -1.0}, "Q must be positive semidefinite"),
        ({"R": 0.0}, "R must be positive definite"),
        ({"Q": [[1.0, 2.0], [0.0, 1.0]]}, "Q must be symmetric"),
        ({"Q": [1.0, 2.0, 3.0]}, "Q must be a number or have shape"),
        ({"Q": [1.0, 1j]}, "real diagonal"),
        ({"output_weight": [1.0, 2.0]}, "output_weight must be a number or have shape"),
    ],
)
def test_bad_weights(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        lqr(Ensemble([0.5, 0.9]), **arguments)  # type: ignore[arg-type]


def test_hopeless_conditioning_is_an_error_of_precision() -> None:
    with pytest.raises(PrecisionError):
        lqr(Ensemble(np.linspace(1.1, 1.2, 12)))


def test_content_is_json() -> None:
    found = lqr(Ensemble([0.5, 0.9]))
    assert json.loads(json.dumps(found.to_dict()))["kind"] == "linear_quadratic"
    assert str(found).startswith("stable: spectral radius")
