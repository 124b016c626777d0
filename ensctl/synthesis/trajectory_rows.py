"""State and output limits over the horizon as linear rows in the inputs.

x_t = Λ^t x_0 + Σ_{k<t} Λ^{t−1−k} B u_k and y_t = C x_t + D u_t, t = 1 … H (y_H without D).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.convex.regions import Within, WithinDiscs
from ensctl.convex.rows import Rows, slew_rows
from ensctl.convex.stacking import stack_matrix, stack_rows, stack_vector
from ensctl.ensemble.ensemble import Ensemble
from ensctl.errors import InvalidInputError
from ensctl.synthesis.limits import Limits

Array = NDArray[Any]

# Relative error granted to responses, which are sums of rounded powers.
_ROUNDING = 1e-13
# Largest dense block of limit rows, about 0.8 GB.
_MAX_ENTRIES = 100_000_000


def limit_rows(
    ens: Ensemble, x0: Array, horizon: int, limits: Limits, *, real: bool
) -> tuple[Rows, ...]:
    """Slew, state and output limits as blocks of rows; none where nothing is limited.

    Raises
    ------
    InvalidInputError
        A shape does not fit, or the rows would not fit in memory.
    """
    blocks: list[Rows] = []
    size = horizon * ens.channels
    if limits.slew_max is not None and horizon > 1:
        blocks.append(slew_rows(limits.slew_max, size, channels=ens.channels, stacked=not real))
    if limits.state_max is not None:
        radius = _radius(limits.state_max, ens.size, "state_max", "members")
        weights = np.eye(ens.size)
        blocks.extend(_trajectory(ens, x0, horizon, weights, radius, real, "state_max"))
    if limits.output_max is not None:
        radius = _radius(limits.output_max, ens.outputs, "output_max", "outputs")
        blocks.extend(_trajectory(ens, x0, horizon, ens.output_weights, radius, real, "output_max"))
    return tuple(blocks)


def _radius(value: Any, count: int, name: str, what: str) -> Array:
    radius = np.asarray(value)
    if radius.ndim == 0:
        return np.full(count, radius[()])
    if radius.shape != (count,):
        raise InvalidInputError(
            f"{name} must be a scalar or have {count} entries ({what}), got shape {radius.shape}"
        )
    return radius


def _trajectory(
    ens: Ensemble,
    x0: Array,
    horizon: int,
    weights: Array,
    radius: Array,
    real: bool,
    name: str,
) -> list[Rows]:
    """|Σ_i w_ri x_{i,t} + (D u_t)_r| ≤ radius_r, every r and t, leaving out what u cannot move."""
    count, channels = weights.shape[0], ens.channels
    if count * horizon * horizon * channels > _MAX_ENTRIES:
        raise InvalidInputError(
            f"{name} gives {count * horizon} rows in {horizon * channels} inputs, too many; "
            f"limit fewer members (ens.subset) or shorten the horizon"
        )
    powers = np.power(ens.lam[:, None], np.arange(horizon)[None, :])
    # Response of row r to u_{c, t−1−k}: Σ_i w_ri λ_i^k B_ic.
    response = np.einsum("ri,ik,ic->rkc", weights, powers, ens.gains)
    dtype = response.dtype if np.iscomplexobj(response) else float
    matrix = np.zeros((count, horizon, horizon, channels), dtype=dtype)
    for t in range(1, horizon + 1):
        matrix[:, t - 1, :t, :] = response[:, :t][:, ::-1]
    if name == "output_max" and np.any(ens.feedthrough):
        if np.iscomplexobj(ens.feedthrough):
            matrix = matrix.astype(complex)
        for t in range(1, horizon):
            matrix[:, t - 1, t, :] += ens.feedthrough
    free = np.einsum(
        "ri,it,i->rt", weights, np.power(ens.lam[:, None], np.arange(1, horizon + 1)[None, :]), x0
    )
    flat = matrix.reshape(count * horizon, horizon * channels)
    target, bound = -free.ravel(), np.repeat(radius, horizon)
    return _blocks(flat, target, bound, real)


def _blocks(matrix: Array, target: Array, radius: Array, real: bool) -> list[Rows]:
    if not real:
        stacked = stack_matrix(matrix)
        return [Rows(stacked, stack_vector(target), WithinDiscs(radius), _ROUNDING)]
    complex_rows = np.any(np.imag(matrix) != 0, axis=1) | (np.imag(target) != 0)
    blocks = []
    plain = ~complex_rows
    if np.any(plain):
        region = Within(radius[plain])
        blocks.append(Rows(matrix[plain].real.copy(), target[plain].real, region, _ROUNDING))
    if np.any(complex_rows):
        both = stack_rows(matrix[complex_rows])
        ends = stack_vector(target[complex_rows])
        blocks.append(Rows(both, ends, WithinDiscs(radius[complex_rows]), _ROUNDING))
    return blocks
