"""The outputs and states that a receding horizon foresees, as linear maps of its inputs.

From x_t and inputs w_t … w_{t+H−1} (some of them measured disturbances)

    y_{t+k} = C Λ^k x_t + Σ_{j<k} C Λ^{k−1−j} B w_{t+j} + D w_{t+k}

Rows and columns are in time order, the outputs (channels) of a step together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.ensemble.ensemble import Ensemble

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class OutputMap:
    """y = free x + forced u + disturbed v over the H outputs that are looked at.

    Attributes
    ----------
    first : int
        0 where y_t itself depends on u_t (feed-through), else 1: the outputs are
        y_{t+first} … y_{t+first+H−1}.
    free : (p H, N)
    forced : (p H, m H)
    disturbed : (p H, v H)
    """

    first: int
    free: Array
    forced: Array
    disturbed: Array


@dataclass(frozen=True, eq=False)
class StateCost:
    """½uᵀPu + uᵀ(F x − T x* + V v) + const = ½ Σ_k ‖x_{t+k} − x*‖²_W + ½ ‖x_{t+H} − x*‖²_Z, k ≤ H.

    Attributes
    ----------
    hessian : (m H, m H)
    state : (m H, N)
    target : (m H, N)
    disturbed : (m H, v H)
    """

    hessian: Array
    state: Array
    target: Array
    disturbed: Array


def output_map(ens: Ensemble, horizon: int, inputs: int) -> OutputMap:
    """The map of the outputs; the first ``inputs`` channels are inputs, the others disturbances."""
    direct = np.asarray(ens.feedthrough)
    first = 0 if np.any(direct[:, :inputs]) else 1
    powers = ens.lam[None, :] ** np.arange(horizon + 1)[:, None]
    # g_0 = D, g_k = C Λ^{k−1} B.
    markov = np.einsum("pi,ki,im->kpm", ens.output_weights, powers[:-1], ens.gains)
    response = np.concatenate([direct[None], markov]).real
    times = first + np.arange(horizon)
    free = np.einsum("pi,ki->kpi", ens.output_weights, powers[times])
    lag = times[:, None] - np.arange(horizon)[None, :]
    blocks = np.where((lag >= 0)[:, :, None, None], response[np.maximum(lag, 0)], 0.0)
    forced, disturbed = blocks[..., :inputs], blocks[..., inputs:]
    return OutputMap(
        first, free.reshape(-1, ens.size), _matrix(forced, horizon), _matrix(disturbed, horizon)
    )


def state_cost(
    ens: Ensemble, horizon: int, inputs: int, weight: Array, terminal: Array
) -> StateCost:
    """Sum the cost of states over the horizon; O(m H² N) numbers are never held at once.

    Parameters
    ----------
    ens : Ensemble
    horizon, inputs : int
    weight, terminal : (N,)
        W and Z ≥ 0.
    """
    channels, size = ens.channels, ens.size
    columns = channels * horizon
    gram = np.zeros((columns, columns), dtype=complex)
    state = np.zeros((columns, size), dtype=complex)
    target = np.zeros((columns, size), dtype=complex)
    move = np.zeros((size, columns), dtype=ens.gains.dtype if ens.is_real else complex)
    power = np.ones(size, dtype=move.dtype)
    for k in range(1, horizon + 1):
        move = ens.lam[:, None] * move
        move[:, (k - 1) * channels : k * channels] = ens.gains
        power = power * ens.lam
        weighted = (weight + (terminal if k == horizon else 0.0)) * move.conj().T
        gram += weighted @ move
        state += weighted * power
        target += weighted
    chosen = np.arange(columns).reshape(horizon, channels)
    own, other = chosen[:, :inputs].ravel(), chosen[:, inputs:].ravel()
    keep = (lambda value: value.real) if ens.is_real else (lambda value: value)
    return StateCost(
        gram[np.ix_(own, own)].real.copy(),
        keep(state[own]).copy(),
        keep(target[own]).copy(),
        gram[np.ix_(own, other)].real.copy(),
    )


def _matrix(blocks: Array, horizon: int) -> Array:
    """(k, j, p, m) → (k p, j m)."""
    outputs, channels = blocks.shape[2:]
    return blocks.transpose(0, 2, 1, 3).reshape(horizon * outputs, horizon * channels)
