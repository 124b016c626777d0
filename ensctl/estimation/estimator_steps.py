"""One measurement and one step of the model, in whichever form the covariance is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.arguments import read_only
from ensctl.errors import InvalidInputError, PrecisionError
from ensctl.estimation.estimator_model import FilterModel, whitening
from ensctl.estimation.estimator_state import EstimatorState
from ensctl.estimation.kalman_covariance import is_safe, propagate_covariance, update_covariance
from ensctl.estimation.kalman_root import propagate_root, root_of_covariance, update_root
from ensctl.estimation.noise_adaptation import ScoreTerms, propagate_slopes

Array = NDArray[Any]

# Entries of a factor that die out are set to zero this often.
_FLUSH_EVERY = 8
# Their squares must stay in the float64 range.
_LARGEST_ROOT = 1e150


def initial_state(model: FilterModel) -> EstimatorState:
    """The prior as a state."""
    form, matrix = "square-root", root_of_covariance(model.covariance)
    if model.smallest > 0.0:
        smallest = min(model.smallest, float(np.linalg.eigvalsh(model.covariance)[0]))
        if is_safe(model.covariance, smallest, model.whitening.squared):
            form, matrix = "covariance", model.covariance
    unknown = np.full(model.ens.outputs, np.nan)
    return EstimatorState(
        t=0,
        mean=model.mean,
        form=form,
        matrix=read_only(matrix),
        measured=0,
        log_likelihood=0.0,
        innovation=read_only(unknown),
        innovation_std=read_only(unknown.copy()),
        adaptation=None if model.adapt is None else model.adapt.start(model.ens.size, model.dtype),
    )


def updated(model: FilterModel, state: EstimatorState, y: Array, u: Array) -> EstimatorState:
    """The state after the measurement y, (p,) with NaN where it is missing."""
    after = _measured(model, state, y, u)
    if not math.isfinite(abs(after.mean.sum()) + after.log_likelihood):
        raise PrecisionError(
            f"the estimate at step {state.t} leaves the float64 range (1.8e308); scale outputs, "
            f"weights and noise to moderate units"
        )
    return after


def _measured(model: FilterModel, state: EstimatorState, y: Array, u: Array) -> EstimatorState:
    innovation = y - model.weights @ state.mean
    if model.feedthrough is not None:
        innovation = innovation - model.feedthrough @ u
    innovation = innovation.real if model.real_outputs else innovation
    missing = np.isnan(y)
    stds = np.full(y.size, np.nan)
    if missing.all():
        return replace(state, innovation=read_only(innovation), innovation_std=read_only(stds))
    white, known = model.whitening, np.flatnonzero(~missing)
    if known.size < y.size:
        white = whitening(model.noise[np.ix_(known, known)], model.weights[known])
    scale = noise_factor(state, "measurement")
    root = math.sqrt(scale)
    update = update_covariance if state.form == "covariance" else update_root
    count = white.variances.size
    matrix, shift = state.matrix, np.zeros(model.ens.size, dtype=model.dtype)
    terms = None
    if state.adaptation is not None:
        terms = ScoreTerms(state.adaptation, real=model.real_outputs)
    density = 2.0 * white.log_determinant
    density -= count * math.log(scale * (2.0 if model.real_outputs else 1.0) * math.pi)
    for weights, error in zip(white.weights, white.transform @ innovation[known], strict=True):
        c = weights if scale == 1.0 else weights / root
        error = error / root
        if count > 1:
            error = error - c @ shift
            error = error.real if model.real_outputs else error
        matrix, gain, variance = update(matrix, c)
        if terms is not None:
            terms.measure(c, error, gain, variance)
        shift = shift + gain * error
        density -= math.log(variance) + abs(error) ** 2 / variance
    if count == 1:
        stds[known] = math.sqrt(variance * scale * white.variances[0])
    else:
        spread = _output_variances(state, model.weights[known])
        stds[known] = np.sqrt(spread + scale * white.variances)
    adaptation = state.adaptation
    if terms is not None and model.adapt is not None:
        adaptation = terms.finish(model.adapt)
    return EstimatorState(
        t=state.t,
        mean=read_only(state.mean + shift),
        form=state.form,
        matrix=read_only(matrix),
        measured=state.measured + count,
        log_likelihood=state.log_likelihood + density * (0.5 if model.real_outputs else 1.0),
        innovation=read_only(innovation),
        innovation_std=read_only(stds),
        adaptation=adaptation,
    )


def predicted(model: FilterModel, state: EstimatorState, u: Array) -> EstimatorState:
    """The state one step later, under the input u, (m,)."""
    lam = model.ens.lam
    scale = noise_factor(state, "process")
    form = state.form
    mean = lam * state.mean + model.ens.gains @ u
    if form == "covariance":
        matrix = propagate_covariance(state.matrix, model.factors, scale * model.process)
    else:
        columns = model.columns if scale == 1.0 else math.sqrt(scale) * model.columns
        matrix = propagate_root(state.matrix, lam, columns, flush=state.t % _FLUSH_EVERY == 0)
    total = abs(mean.sum()) + abs(matrix.sum())
    if not total < (math.inf if form == "covariance" else _LARGEST_ROOT):
        _refuse_overflow(model, state, np.abs(mean) + np.abs(matrix).sum(axis=1))
    if form == "covariance":
        squared = model.whitening.squared / noise_factor(state, "measurement")
        if not is_safe(matrix, scale * model.smallest, squared):
            form, matrix = "square-root", root_of_covariance(matrix)
    adaptation = state.adaptation
    if adaptation is not None:
        adaptation = propagate_slopes(adaptation, lam, model.factors, scale * model.process)
    return EstimatorState(
        t=state.t + 1,
        mean=read_only(mean),
        form=form,
        matrix=read_only(matrix),
        measured=state.measured,
        log_likelihood=state.log_likelihood,
        innovation=state.innovation,
        innovation_std=state.innovation_std,
        adaptation=adaptation,
    )


def noise_factor(state: EstimatorState, name: str) -> float:
    """The factor that has been learnt for the measurement or process variances; 1 if none."""
    if state.adaptation is None:
        return 1.0
    return state.adaptation.factors.get(name, 1.0)


def output_stds(model: FilterModel, state: EstimatorState) -> Array:
    """Standard deviation of each y_t before it is measured, its own noise included, (p,)."""
    own = noise_factor(state, "measurement") * model.whitening.variances
    return np.sqrt(_output_variances(state, model.weights) + own)


def require_state(model: FilterModel, state: Any) -> None:
    """Refuse what is not a state of this filter."""
    if not isinstance(state, EstimatorState):
        raise InvalidInputError(
            f"state must be an EstimatorState, got {type(state).__name__}; start with init()"
        )
    if state.mean.size != model.ens.size:
        raise InvalidInputError(
            f"state must be about {model.ens.size} members, got {state.mean.size}; it belongs to "
            f"another estimator"
        )
    if (state.adaptation is None) != (model.adapt is None):
        raise InvalidInputError("state must come from this estimator; its adapt= differs")


def _output_variances(state: EstimatorState, weights: Array) -> Array:
    """c P c* for each row c."""
    if state.form == "covariance":
        return np.asarray(np.sum((weights @ state.matrix) * weights.conj(), axis=1).real)
    return np.asarray(np.sum(np.abs(weights @ state.matrix) ** 2, axis=1))


def _refuse_overflow(model: FilterModel, state: EstimatorState, sizes: Array) -> None:
    member = int(np.argmax(np.where(np.isfinite(sizes), sizes, np.inf)))
    raise PrecisionError(
        f"the estimate of {model.ens.label(member)} leaves the float64 range at step "
        f"{state.t + 1}: |λ| = {abs(model.ens.lam[member]):.6g} and the measurements do not hold "
        f"it; stabilise it or leave it out with ens.subset"
    )
