"""LQ preconditioning: identities, worked numbers, numerical rank."""

from fractions import Fraction

import numpy as np
import pytest

from ensctl.convex import lq, moduli, stack_matrix, stack_rows, stack_vector, unstack
from ensctl.errors import InvalidInputError, PrecisionError

LAM = np.array([0.3, 0.6, 0.9])
TARGET = np.array([1.0, 0.0, 0.5])


def reach(lam, horizon):
    return lam[:, None] ** np.arange(horizon)[::-1]


@pytest.mark.parametrize("seed", range(5))
def test_factors(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 12))
    size = count + int(rng.integers(0, 20))
    matrix = rng.standard_normal((count, size)) * 10.0 ** rng.uniform(-6, 6, (count, 1))
    system = lq(matrix)
    norms = np.linalg.norm(matrix, axis=1)[:, None]
    assert np.abs(system.basis.T @ system.basis - np.eye(count)).max() < 1e-14
    assert (np.abs(system.factor @ system.basis.T - matrix) / norms).max() < 1e-14
    assert np.abs(system.inverse @ system.factor - np.eye(count)).max() < 1e-10
    target = rng.standard_normal(count)
    inputs = system.least_norm(target)
    assert inputs == pytest.approx(np.linalg.pinv(matrix / norms) @ (target / norms[:, 0]))
    assert inputs @ inputs == pytest.approx(np.sum(system.coordinates(target) ** 2))
    eta = rng.standard_normal(count)
    assert matrix.T @ system.multipliers(eta) == pytest.approx(system.basis @ eta, abs=1e-9)


@pytest.mark.parametrize(
    ("horizon", "energy"),
    [
        (3, Fraction(3583, 18)),
        (4, Fraction(794350475, 11804274)),
        (6, Fraction(467661026686812500, 17741854345908249)),
    ],
)
def test_minimum_energy_of_the_worked_example(horizon, energy):
    """Closed forms for λ = (.3, .6, .9), b = 1, x_f = (1, 0, .5)."""
    coordinates = lq(reach(LAM, horizon)).coordinates(TARGET)
    assert coordinates @ coordinates == pytest.approx(float(energy), rel=1e-13)


@pytest.mark.parametrize("order", [4, 8, 10, 12, 15])
def test_alternating_targets_are_met_at_the_float_floor(order):
    """λ = linspace(.1, .9, N), H = 2N: κ reaches 1e10 and raw solvers call this infeasible."""
    matrix = reach(np.linspace(0.1, 0.9, order), 2 * order)
    target = (-1.0) ** np.arange(order)
    inputs = lq(matrix).least_norm(target)
    floor = 2.0**-52 * (np.abs(matrix) @ np.abs(inputs)).max()
    assert np.abs(matrix @ inputs - target).max() < 10 * floor


def test_easy_targets_are_met_too():
    """d = R e_H costs 1 at most although κ is 1e10; R u − d stays at rounding level."""
    matrix = reach(np.linspace(0.1, 0.9, 15), 30)
    system = lq(matrix)
    inputs = system.least_norm(np.ones(15))
    assert np.linalg.norm(inputs) <= 1.0 + 1e-12
    assert np.abs(matrix @ inputs - 1.0).max() < 1e-14


def test_dependent_rows_are_refused():
    with pytest.raises(PrecisionError, match="1 of 3 depend on the others"):
        lq(np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0], [1.0, 3.0, 4.0]]))
    with pytest.raises(PrecisionError, match="a row is zero"):
        lq(np.array([[1.0, 2.0], [0.0, 0.0]]))


def test_wrong_shapes_are_refused():
    with pytest.raises(InvalidInputError, match="lengthen the horizon"):
        lq(np.ones((3, 2)))
    with pytest.raises(InvalidInputError, match="stack complex data"):
        lq(np.ones((1, 2)) * 1j)
    with pytest.raises(InvalidInputError, match="two dimensions"):
        lq(np.ones(3))


def test_stacking_is_the_complex_product():
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((3, 5)) + 1j * rng.standard_normal((3, 5))
    vector = rng.standard_normal(5) + 1j * rng.standard_normal(5)
    assert unstack(stack_matrix(matrix) @ stack_vector(vector)) == pytest.approx(matrix @ vector)
    assert stack_rows(matrix) @ vector.real == pytest.approx(stack_vector(matrix @ vector.real))
    assert moduli(stack_vector(vector)) == pytest.approx(np.abs(vector))
