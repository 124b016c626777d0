"""Output-error maximum likelihood: Levenberg–Marquardt on the poles, the rest by linear algebra.

min Σ_t |y_t − ŷ_t(λ, r, β, d)|², which is maximum likelihood for white Gaussian noise on the
output.  Given λ the problem is linear, and every trial of λ is judged after solving for the rest
(variable projection, Golub and Pereyra 1973), the step itself coming from the full Jacobian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.estimation.output_error_model import Model

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
_ITERATIONS = 60
_DAMPINGS = 12
# Share of the sum of squares that a step must promise to remove.
_PROMISING = 1e-14
# Responses beyond this overflow when squared.
_LARGEST = 1e120


@dataclass(frozen=True, eq=False)
class Fit:
    """A minimum of the sum of squares.

    Attributes
    ----------
    model : Model
        The modes.
    coefficients : (L,)
        Residues, initial states and feed-through as real numbers.
    jacobian : (rows, P)
        Of the fitted outputs by all real parameters.
    residual : (rows,)
        Outputs minus fitted outputs.
    cost : float
        Σ residual².
    """

    model: Model
    coefficients: Array
    jacobian: Array
    residual: Array
    cost: float

    @property
    def theta(self) -> Array:
        """All real parameters: modes, then coefficients."""
        return np.concatenate([self.model.pack(self.model.modes), self.coefficients])

    @property
    def freedom(self) -> int:
        """Rows minus parameters."""
        return int(self.residual.size - self.jacobian.shape[1])

    @property
    def variance(self) -> float:
        """Unbiased variance of one real residual; 0 where nothing is left over."""
        return self.cost / self.freedom if self.freedom > 0 else 0.0

    def unit_columns(self) -> Array:
        """The Jacobian with columns of length 1, or 0."""
        return np.asarray(self.jacobian / _lengths(self.jacobian))

    def scaled_singular_values(self) -> tuple[Array, Array]:
        """Singular values of the Jacobian with unit columns, and its right singular vectors."""
        _, values, right = np.linalg.svd(
            self.jacobian / _lengths(self.jacobian), full_matrices=False
        )
        return values, right

    def inverse_information(self) -> Array:
        """(JᵀJ)⁻¹; times the variance it is the Cramér–Rao bound."""
        lengths = _lengths(self.jacobian)
        triangle = np.linalg.qr(self.jacobian / lengths, mode="r")
        try:
            inverse = np.linalg.inv(triangle)
        except np.linalg.LinAlgError:
            return np.full((lengths.size, lengths.size), np.inf)
        inverse = inverse / lengths[:, None]
        return np.asarray(inverse @ inverse.T)


def _lengths(columns: Array) -> Array:
    lengths = np.linalg.norm(columns, axis=0)
    return np.where(lengths > 0, lengths, 1.0)


def fit_output_error(
    start: Model, *, held: tuple[int, float] | None = None, enough: float = 0.0
) -> Fit | None:
    """The minimum reached from these modes, or None where the start itself overflows.

    Parameters
    ----------
    start : Model
        Where to begin.
    held : (int, float), optional
        Position of one real parameter and the value it is held at.
    enough : float
        Stop when a step lowers the sum of squares by less.

    Returns
    -------
    Fit or None
    """
    size = start.slots
    moving = np.ones(size, dtype=bool)
    if held is not None and held[0] < size:
        moving[held[0]] = False
        packed = start.pack(start.modes)
        packed[held[0]] = held[1]
        start = start.with_modes(packed)
    point = _evaluate(start, held)
    if point is None:
        return None
    free = np.concatenate([moving, np.ones(point.coefficients.size, dtype=bool)])
    if held is not None:
        free[held[0]] = False
    damping = 0.0
    for _ in range(_ITERATIONS):
        after, damping = _improved(point, held, free, damping)
        if after is None:
            break
        gain = point.cost - after.cost
        step = np.abs(after.model.modes - point.model.modes).max()
        point = after
        if gain <= max(enough, 1e-15 * point.cost) or step <= 2 * _EPS:
            break
    return point


def _improved(
    point: Fit, held: tuple[int, float] | None, free: Array, damping: float
) -> tuple[Fit | None, float]:
    """One step that lowers the cost, with the damping that did it; None when there is none."""
    slots = point.model.slots
    columns = point.jacobian[:, free]
    lengths = _lengths(columns)
    left, values, right = np.linalg.svd(columns / lengths, full_matrices=False)
    aim = left.T @ point.residual
    if aim @ aim <= _PROMISING * point.cost:
        return None, damping
    packed = point.model.pack(point.model.modes)
    for _ in range(_DAMPINGS):
        weights = values / np.maximum(values**2 + damping, (_EPS * values[0]) ** 2)
        step = np.zeros(free.size)
        step[free] = (right.T @ (weights * aim)) / lengths
        if not np.any(step[:slots]):
            return None, damping
        after = _evaluate(point.model.with_modes(packed + step[:slots]), held)
        if after is not None and after.cost < point.cost:
            return after, damping / 10 if damping > 1e-9 else 0.0
        if np.abs(step[:slots]).max() <= 4 * _EPS:
            return None, damping
        damping = max(10 * damping, 1e-6)
    return None, damping


def _evaluate(model: Model, held: tuple[int, float] | None) -> Fit | None:
    """The best coefficients for these modes; None where the responses overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        forced, natural = model.responses()
        columns = model.linear(forced, natural)
        if not _bounded(columns):
            return None
        coefficients = _solve(columns, model.data.target, held, model.slots)
        residual = model.data.target - columns @ coefficients
        cost = float(residual @ residual)
        jacobian = model.jacobian(coefficients, forced, natural)
    if not np.isfinite(cost) or not _bounded(jacobian):
        return None
    return Fit(model, coefficients, jacobian, residual, cost)


def _solve(columns: Array, target: Array, held: tuple[int, float] | None, slots: int) -> Array:
    lengths = _lengths(columns)
    if held is None or held[0] < slots:
        return np.asarray(np.linalg.lstsq(columns / lengths, target, rcond=None)[0] / lengths)
    position = held[0] - slots
    others = np.arange(lengths.size) != position
    rest = target - columns[:, position] * held[1]
    result = np.full(lengths.size, held[1])
    scaled = columns[:, others] / lengths[others]
    result[others] = np.linalg.lstsq(scaled, rest, rcond=None)[0] / lengths[others]
    return result


def model_outputs(model: Model, coefficients: Array) -> Array | None:
    """The fitted outputs as real rows; None where they overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        columns = model.linear(*model.responses())
        if not _bounded(columns):
            return None
        outputs = columns @ coefficients
    return np.asarray(outputs) if _bounded(outputs) else None


def _bounded(numbers: Array) -> bool:
    # NaN fails the comparison too.
    return bool(np.abs(numbers).max() < _LARGEST)
