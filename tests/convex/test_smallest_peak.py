"""How small limits may be: worked numbers, closed forms, both bounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensctl.convex import (
    box,
    box_phase_one,
    discs,
    lq,
    moduli,
    smallest_peak,
    stack_matrix,
    stack_vector,
)
from ensctl.errors import InvalidInputError


@pytest.mark.parametrize(
    ("horizon", "peak"), [(3, 10.833333), (4, 5.443886), (6, 2.468502), (10, 1.525033)]
)
def test_worked_example(horizon, peak):
    """λ = (.3, .6, .9), b = 1, x_f = (1, 0, .5): least max|u|."""
    lam = np.array([0.3, 0.6, 0.9])
    system = lq(lam[:, None] ** np.arange(horizon)[::-1])
    found = smallest_peak(system.basis, system.coordinates(np.array([1.0, 0.0, 0.5])))
    assert found.value == pytest.approx(peak, abs=5e-7)
    assert abs(found.gap) < 1e-12


@given(st.integers(0, 2**32 - 1))
def test_one_row_closed_form(seed):
    """min peak of Σ a_k u_k = d is |d|/Σ|a_k|, real and complex."""
    rng = np.random.default_rng(seed)
    row = rng.standard_normal((1, int(rng.integers(1, 12))))
    system = lq(row)
    found = smallest_peak(system.basis, system.coordinates(np.array([2.0])))
    assert found.value == pytest.approx(2.0 / np.abs(row).sum(), rel=1e-12)
    assert found.inputs == pytest.approx(found.value * np.sign(row[0]))


def test_one_complex_row_closed_form():
    rng = np.random.default_rng(3)
    row = rng.standard_normal((1, 7)) + 1j * rng.standard_normal((1, 7))
    radius = rng.uniform(0.5, 2.0, 7)
    system = lq(stack_matrix(row))
    target = system.coordinates(stack_vector(np.array([3.0 - 4.0j])))
    found = smallest_peak(system.basis, target, discs(radius, 7))
    assert found.verified
    assert found.value == pytest.approx(5.0 / (np.abs(row) @ radius)[0], rel=1e-7)
    assert (moduli(found.inputs) <= found.value * radius * (1 + 1e-9)).all()


@given(st.integers(0, 2**32 - 1))
def test_bounds_enclose_and_inputs_attain(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 8))
    size = count + int(rng.integers(1, 20))
    system = lq(rng.standard_normal((count, size)))
    target = 10.0 ** rng.uniform(-8, 8) * rng.standard_normal(count)
    shape = box(-rng.uniform(0.01, 1, size), rng.uniform(0.01, 1, size), size)
    found = smallest_peak(system.basis, target, shape)
    assert abs(found.gap) < 1e-9
    assert shape.scaled(1 / found.value / (1 + 1e-12)).contains(found.inputs)
    miss = np.linalg.norm(system.basis.T @ found.inputs - target)
    assert miss < 1e-14 * (np.linalg.norm(target) + 9 * np.linalg.norm(found.inputs))


def test_no_scale_suffices():
    found = smallest_peak(np.full((4, 1), 0.5), np.array([-1.0]), box(0.0, 1.0, 4))
    assert (found.value, found.lower_bound, found.inputs) == (math.inf, math.inf, None)
    assert found.gap == 0.0


def test_zero_target_needs_nothing():
    found = smallest_peak(np.full((4, 1), 0.5), np.zeros(1))
    assert found.value == found.lower_bound == found.gap == 0.0


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (box(0.1, 1.0, 4), "must contain zero"),
        (box(-np.inf, 1.0, 4), "must have finite limits"),
        (box(-1.0, 1.0, 3), "must have 4 real entries, got 3"),
    ],
)
def test_bad_shapes(shape, message):
    with pytest.raises(InvalidInputError, match=message):
        smallest_peak(np.full((4, 1), 0.5), np.ones(1), shape)


def test_phase_one_distance_is_its_own_proof():
    """Strong duality: cᵀη − Σ max(l g, h g) equals the distance in the 1-norm."""
    rng = np.random.default_rng(5)
    system = lq(rng.standard_normal((5, 20)))
    target = rng.standard_normal(5)
    limits = box(-0.01, 0.02, 20)
    found = box_phase_one(system.basis, target, limits)
    assert found.distance > 0.1
    assert np.abs(found.multipliers).max() <= 1.0
    gradient = system.basis @ found.multipliers
    margin = target @ found.multipliers - limits.support(gradient)
    assert margin == pytest.approx(found.distance, rel=1e-9)
    assert box_phase_one(system.basis, target, box(-9.0, 9.0, 20)).distance < 1e-9
