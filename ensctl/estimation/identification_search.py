"""The best output-error fit of a given order, from pencil starts of several window lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.estimation.output_error import Fit, fit_output_error
from ensctl.estimation.output_error_checks import UNLIKELY, residual_tests
from ensctl.estimation.output_error_model import Data, Model, model_at
from ensctl.estimation.pencil import ResponseSpace, pencil_poles, response_space

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Windows tried when the first one leads to a fit that does not explain the outputs.
_OTHER_ROWS = (8, 40, 12)
# Imaginary parts within so many standard errors of 0 may as well be two real λ.
_NEARLY_REAL = 5.0


def best_fit(data: Data, space: ResponseSpace, order: int) -> Fit | None:
    """The lowest minimum found, or None where no start gives finite outputs."""
    best = _fit_from(data, pencil_poles(space.vectors, order))
    if best is not None and (is_exact(best) or residual_tests(best).driven > UNLIKELY):
        return best
    longest = (data.outputs.size + 1) // 3
    for rows in _OTHER_ROWS:
        if order < rows <= longest and rows != space.values.size:
            other = response_space(data.outputs, data.inputs, rows)
            best = _lower(best, _fit_from(data, pencil_poles(other.vectors, order)))
    return best


def is_exact(fit: Fit) -> bool:
    """Whether the residual is no more than rounding of the outputs."""
    largest = float(np.abs(fit.model.data.outputs).max())
    return fit.cost <= fit.residual.size * (100 * _EPS * largest) ** 2


def _fit_from(data: Data, poles: Array) -> Fit | None:
    outside = np.abs(poles) > 1
    found = _polished(model_at(data, poles))
    # Noise throws poles out of the unit circle, where no small step brings them back.
    if outside.any() and (found is None or not is_exact(found)):
        inside = np.where(outside, 1 / np.where(outside, poles, 1.0).conj(), poles)
        found = _lower(found, _polished(model_at(data, inside)))
    return found


def _polished(start: Model) -> Fit | None:
    found = fit_output_error(start)
    if found is None:
        return None
    return _lower(found, _split_pair(found))


def _split_pair(fit: Fit) -> Fit | None:
    """The fit with two real λ where a conjugate pair is hardly off the real line."""
    model = fit.model
    if not model.pair.any():
        return None
    first = np.cumsum(1 + model.pair) - 1 - model.pair
    std = np.sqrt(np.diag(fit.inverse_information()) * fit.variance)
    split = fit.model.modes
    doubtful = model.pair & (np.abs(split.imag) <= _NEARLY_REAL * std[first + model.pair])
    if not doubtful.any():
        return None
    centre = split[doubtful].real
    apart = np.maximum(np.abs(split[doubtful].imag), 1e-3)
    kept = split[~doubtful]
    pairs = split[model.pair & ~doubtful].conj()
    return fit_output_error(
        model_at(model.data, np.concatenate([kept, pairs, centre - apart, centre + apart]))
    )


def _lower(one: Fit | None, other: Fit | None) -> Fit | None:
    if one is None or other is None:
        return other if one is None else one
    return other if other.cost < one.cost else one
