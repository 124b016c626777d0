"""What comes back from a population: its aggregate output over time, from moments alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import read_only
from ensctl.display import Summarised
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.process_noise import ProcessNoise, quantised
from ensctl.ensemble.propagation_arguments import (
    as_initial_state,
    as_inputs,
    check_powers_in_range,
    moving_steps,
)
from ensctl.ensemble.recursion import state_dtype, states_by_recursion
from ensctl.ensemble.require import require_ensemble
from ensctl.ensemble.summation_methods import Method, choose_method, sum_moments
from ensctl.errors import PrecisionError
from ensctl.serialization import versioned

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
# Up to this many steps the recursion costs no more than any other way.
_SHORT = 32
# Impulse responses that grow by more than this are convolved term by term: an FFT would drown
# their beginning.
_GROWTH = 1e3


@dataclass(frozen=True, eq=False)
class AggregateOutput(Summarised):
    """The aggregate output over time with what is known about it.

    Attributes
    ----------
    values : (H+1,) or (p, H+1) float64 or complex128
        y_0 … y_H; y_H without feed-through.
    error_bound : float
        No value is further than this from y_t in exact arithmetic (noise, if any, is taken as
        drawn).
    method : Method
        How the moments were computed.
    """

    values: Array
    error_bound: float
    method: Method

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        content = {"values": self.values, "error_bound": self.error_bound, "method": self.method}
        return versioned("aggregate_output", content)

    def __str__(self) -> str:
        return (
            f"aggregate output over {self.values.shape[-1] - 1} steps, last value "
            f"{np.atleast_2d(self.values)[0, -1]:.6g}, error ≤ {self.error_bound:.2g}\n"
            f"computed by {self.method}"
        )


def aggregate_output(
    ens: Ensemble,
    inputs: ArrayLike,
    x0: ArrayLike = 0.0,
    *,
    noise: ProcessNoise | None = None,
    resolution: float | None = None,
) -> Array:
    """y_t = Σ_i c_i x_{i,t} + d u_t for t = 0 … H, without stepping through time.

    Parameters
    ----------
    ens : Ensemble
        The population, N members, m channels and p outputs.
    inputs : array_like, (H,) or (m, H)
        u_0 … u_{H−1}.
    x0 : scalar or array_like, (N,)
        Initial state.
    noise : ProcessNoise, optional
        Noise on the states; the recursion is then followed step by step, O(N H).
    resolution : float, optional
        Inputs are rounded to multiples of this first.

    Returns
    -------
    (H+1,) float64 or complex128, read-only
        (p, H+1) where the ensemble's c is two-dimensional.  The last value has no feed-through,
        because there is no u_H.

    Raises
    ------
    InvalidInputError
        An argument is not finite or has the wrong shape; H = 0.
    PrecisionError
        Powers of an unstable λ, or outputs, leave the float64 range.

    See Also
    --------
    aggregate_response : the same with an error bound and the method.

    Notes
    -----
    The impulse response g_k = Σ c_i λ_i^k b_i, k < H, is a set of moments: weights c b are moved
    to a few hundred points with the same moments (for real λ and on the unit circle), and one FFT
    convolves g with u.  O(20 N + H log H) operations; error ≤ 1e-12 Σ|c b| Σ|u| at N = 10⁶,
    H = 10⁴ plus the same fraction of Σ|c x_0|.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.aggregate_output(ec.Ensemble([0.5, -1.0], c=[1.0, 1.0]), [1.0, 1.0, 1.0])
    array([0.  , 2.  , 1.5 , 2.75])
    """
    return aggregate_response(ens, inputs, x0, noise=noise, resolution=resolution).values


def aggregate_response(
    ens: Ensemble,
    inputs: ArrayLike,
    x0: ArrayLike = 0.0,
    *,
    noise: ProcessNoise | None = None,
    resolution: float | None = None,
) -> AggregateOutput:
    """The output of :func:`aggregate_output`, with its error bound and how it was computed.

    Parameters
    ----------
    ens, inputs, x0, noise, resolution
        As for :func:`aggregate_output`.

    Returns
    -------
    AggregateOutput

    Raises
    ------
    InvalidInputError, PrecisionError
        As for :func:`aggregate_output`.

    Examples
    --------
    >>> import ensctl as ec
    >>> found = ec.aggregate_response(ec.families.equispaced(1000, -1.0, 1.0), [1.0] * 500)
    >>> found.values.shape, bool(found.error_bound < 1e-9)
    ((501,), True)
    """
    require_ensemble(ens)
    sequence = quantised(as_inputs(inputs, ens.channels), resolution)
    start = as_initial_state(x0, ens.size)
    if noise is not None:
        noise.check(ens.size)
    check_powers_in_range(ens, moving_steps(sequence, start))
    with np.errstate(over="ignore", invalid="ignore"):
        if noise is not None or sequence.shape[1] <= _SHORT:
            values, bound = _by_recursion(ens, sequence, start, noise)
            method = Method.RECURSION
        else:
            method = choose_method(ens.lam, sequence.shape[1])
            values, bound = _by_moments(ens, sequence, start, method)
        values[:, :-1] += ens.feedthrough @ sequence
    if not np.all(np.isfinite(values)):
        raise PrecisionError(
            "the aggregate output leaves the float64 range (1.8e308); scale the inputs down or "
            "shorten the horizon"
        )
    bound += 4.0 * _EPS * float((np.abs(ens.feedthrough) @ np.abs(sequence)).max())
    shaped = values[0] if ens.c.ndim == 1 else values
    return AggregateOutput(read_only(shaped), bound, method)


def _by_moments(ens: Ensemble, inputs: Array, start: Array, method: Method) -> tuple[Array, float]:
    """Outputs (p, H+1) without feed-through, and their error bound."""
    horizon = inputs.shape[1]
    outputs, channels = ens.outputs, ens.channels
    free = bool(np.any(start))
    weights = ens.output_weights.T
    columns = [weights[:, q] * ens.gains[:, c] for q in range(outputs) for c in range(channels)]
    if free:
        columns += [weights[:, q] * start for q in range(outputs)]
    found = sum_moments(ens.lam, np.stack(columns, axis=1), horizon + 1, method)

    dtype = np.result_type(found.values, inputs, ens.feedthrough, float)
    values = np.zeros((outputs, horizon + 1), dtype=dtype)
    errors = np.zeros(outputs)
    size_of_inputs = np.abs(inputs).sum(axis=1)
    for q in range(outputs):
        for c in range(channels):
            column = q * channels + c
            response = found.values[:horizon, column]
            part, error = _convolved(response, inputs[c])
            values[q, 1:] += part
            errors[q] += error + float(found.error_bound[column]) * size_of_inputs[c]
        if free:
            column = outputs * channels + q
            values[q] += found.values[:, column]
            errors[q] += float(found.error_bound[column])
    return values, float(errors.max()) + 2.0 * _EPS * float(np.abs(values).max())


def _convolved(response: Array, inputs: Array) -> tuple[Array, float]:
    """First H terms of the convolution of g and u, and a bound on the rounding."""
    horizon = inputs.size
    if np.abs(response).max() > _GROWTH * max(np.abs(response[0]), 1e-300):
        direct = np.convolve(response, inputs)[:horizon]
        return direct, 3.0 * _EPS * horizon * float(np.abs(response).max() * np.abs(inputs).sum())
    length = 1 << (2 * horizon - 1).bit_length()
    product: Array
    if np.iscomplexobj(response) or np.iscomplexobj(inputs):
        product = np.fft.ifft(np.fft.fft(response, length) * np.fft.fft(inputs, length))
    else:
        product = np.fft.irfft(np.fft.rfft(response, length) * np.fft.rfft(inputs, length), length)
    norms = float(np.linalg.norm(response) * np.linalg.norm(inputs))
    return product[:horizon], 8.0 * _EPS * math.log2(length) * norms


def _by_recursion(
    ens: Ensemble, inputs: Array, start: Array, noise: ProcessNoise | None
) -> tuple[Array, float]:
    horizon = inputs.shape[1]
    weights = ens.output_weights
    dtype = np.result_type(state_dtype(ens, inputs, start), ens.output_weights, ens.feedthrough)
    values = np.empty((ens.outputs, horizon + 1), dtype=dtype)
    radius = float(np.abs(ens.lam).max())
    reach = np.abs(ens.gains).max(axis=0)
    size, largest = float(np.abs(start).max()), 0.0
    for t, state in enumerate(states_by_recursion(ens, inputs, start, noise)):
        values[:, t] = weights @ state
        largest = max(largest, size)
        if t < horizon:
            size = radius * size + float(np.abs(inputs[:, t]) @ reach)
    step = 3.0 if np.issubdtype(dtype, np.complexfloating) else 1.0
    roundings = 2.0 * horizon + ens.channels + 0.5 * ens.size
    total = float(np.abs(weights).sum(axis=1).max())
    return values, step * _EPS * roundings * largest * total
