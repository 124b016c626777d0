"""Markov parameters of the aggregate, and whole responses from them by fast convolution."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ensctl.arguments import Array, as_array, as_horizon, read_only
from ensctl.ensemble.compression import CompressedEnsemble, check_powers
from ensctl.ensemble.compression_nodes import choose_nodes_for, power_moments
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError

# Truncation of the intermediate compression, relative to Σ|m|.
_TOLERANCE = 1e-15
# Members per node from which carrying the weights to nodes is cheaper than their own powers.
_WORTHWHILE = 4


def markov_parameters(ens: Ensemble, horizon: int) -> Array:
    """h_0 … h_H of the aggregate: h_0 = d and h_k = Σ_i c_i λ_i^{k−1} b_i.

    Parameters
    ----------
    ens : Ensemble
        The population, compressed or not.
    horizon : int
        H ≥ 1.

    Returns
    -------
    (H+1,) array, or (p, m, H+1)
        The response y_0 … y_H to u = (1, 0, 0, …); the second shape for several inputs or outputs.

    Raises
    ------
    InvalidInputError
        An argument is out of range, or powers of λ overflow within the horizon.

    Notes
    -----
    Absolute error about 1e-15 Σ|c b| (times k ε/|log λ| for |λ| next to 1).  O(N) for many real λ,
    which are first carried to nodes; O(N) on the unit circle; otherwise O(N H) in matrix products.

    Examples
    --------
    >>> import ensctl as ec
    >>> ec.markov_parameters(ec.Ensemble([0.5, -0.5], c=[1, 1], d=3), 3)
    array([3. , 2. , 0. , 0.5])
    """
    steps = int(as_horizon(horizon))
    check_powers(ens.lam, steps)
    small = ens
    if not np.iscomplexobj(ens.lam):
        nodes = choose_nodes_for(ens.lam, steps, _TOLERANCE)
        if _WORTHWHILE * nodes.points.size < ens.size:
            small = CompressedEnsemble(ens, steps, nodes)
    rows = np.concatenate([weights * small.gains.T for weights in small.output_weights])
    sums = power_moments(small.lam, rows, steps)
    first = small.feedthrough.reshape(-1, 1)
    response = np.hstack([first, sums]).reshape(ens.outputs, ens.channels, steps + 1)
    single = ens.outputs == 1 and ens.channels == 1
    return read_only(response[0, 0].copy() if single else response)


def markov_response(parameters: ArrayLike, inputs: ArrayLike, free: ArrayLike = 0.0) -> Array:
    """y_0 … y_H from Markov parameters: y_t = Σ_{s≤t} h_{t−s} u_s + free_t, by FFT.

    Parameters
    ----------
    parameters : (K+1,) or (p, m, K+1) array_like
        Of :func:`markov_parameters`, at least as long as the response.
    inputs : (H,) or (m, H) array_like
        u_0 … u_{H−1}, H ≤ K; y_H sees no input of its own.
    free : scalar, (H+1,) or (p, H+1) array_like
        Response to the initial state, added.

    Returns
    -------
    (H+1,) array, or (p, H+1)
        The second shape where the parameters are (p, m, K+1).

    Raises
    ------
    InvalidInputError
        Shapes do not match, or a value is not finite.

    Notes
    -----
    O(p m H log H): 0.5 ms for H = 10⁴, whatever the population.  Error about
    ε log2(H) ‖h‖₂ ‖u‖₂.

    Examples
    --------
    >>> import ensctl as ec
    >>> h = ec.markov_parameters(ec.Ensemble([0.5, -0.5], c=[1, 1]), 3)
    >>> ec.markov_response(h, [1, 0, 2])
    array([0. , 2. , 0. , 4.5])
    """
    from scipy.fft import fft, ifft, irfft, next_fast_len, rfft

    given = as_array(parameters, "parameters")
    if given.ndim not in (1, 3):
        raise InvalidInputError(
            f"parameters must have shape (K+1,) or (p, m, K+1), got {given.shape}; take them from "
            f"markov_parameters"
        )
    response = given[None, None] if given.ndim == 1 else given
    channels, longest = response.shape[-2], response.shape[-1] - 1
    signal = np.atleast_2d(as_array(inputs, "inputs"))
    steps = signal.shape[-1]
    if signal.ndim != 2 or signal.shape[0] != channels or not 1 <= steps <= longest:
        raise InvalidInputError(
            f"inputs must have {channels} channel(s) and 1 … {longest} steps to match parameters, "
            f"got shape {signal.shape}"
        )
    is_real = not (np.iscomplexobj(response) or np.iscomplexobj(signal))
    length = next_fast_len(2 * steps + 1, real=is_real)
    forward, backward = (rfft, irfft) if is_real else (fft, ifft)
    spectrum = forward(response[:, :, : steps + 1], length, axis=2)
    product = np.einsum("pmf,mf->pf", spectrum, forward(signal, length, axis=1))
    outputs = backward(product, length, axis=1)[:, : steps + 1]
    outputs = outputs + _free(free, outputs.shape)
    return read_only(outputs[0].copy() if given.ndim == 1 else outputs)


def _free(free: ArrayLike, shape: tuple[int, ...]) -> Array:
    values = as_array(free, "free")
    if values.shape not in ((), shape, shape[1:]) or (values.ndim == 1 and shape[0] > 1):
        raise InvalidInputError(
            f"free must be a scalar or have shape {shape[1:] if shape[0] == 1 else shape}, got "
            f"{values.shape}"
        )
    return values
