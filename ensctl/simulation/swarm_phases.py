"""cos ωt and sin ωt to the last digit, however long the horizon is.

The product ωt of thousands of radians is rounded by up to half an ulp of itself, which is what a
plain evaluation gets wrong in every entry.  The rounding error of the product is known exactly, so
it is put back to first order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.vandermonde.doubledouble import two_product

Array = NDArray[Any]

# Largest absolute error of an entry: two roundings of numbers of at most 1, and the second order.
PHASE_ERROR = 2.0 * float(np.finfo(float).eps)
# Robots are taken in chunks of about this many numbers (32 MB of complex ones).
_CHUNK = 2_000_000


def phases(turn_rates: Array, times: Array) -> tuple[Array, Array]:
    """cos ω_i t_k and sin ω_i t_k, both (N, K), each within 2 ε.

    Parameters
    ----------
    turn_rates : (N,) float64
        ω, rad per step, |ω t| < 2^50.
    times : (K,) float64
        t, whole or half steps.

    Returns
    -------
    tuple of (N, K) float64
    """
    angle, rest = two_product(turn_rates[:, None], times[None, :])
    cos, sin = np.cos(angle), np.sin(angle)
    return cos - rest * sin, sin + rest * cos


def rotations(angles: Array, times: float) -> Array:
    """e^{j ω t} of one time t for each angle, (N,) complex128."""
    cos, sin = phases(angles, np.array([times]))
    return np.asarray(cos[:, 0] + 1j * sin[:, 0])


def moments(turn_rates: Array, sequences: Array) -> Array:
    """Σ_t s_t e^{j ω_i t} for each of K real sequences (K, H), (K, N) complex128.

    Notes
    -----
    O(K N H) after O(N H) sines; memory for 2·10⁶ entries at a time.
    """
    times = np.arange(sequences.shape[1], dtype=float)
    found = np.empty((sequences.shape[0], turn_rates.size), dtype=complex)
    step = max(1, _CHUNK // times.size)
    for first in range(0, turn_rates.size, step):
        part = slice(first, first + step)
        cos, sin = phases(turn_rates[part], times)
        found[:, part] = sequences @ cos.T + 1j * (sequences @ sin.T)
    return found
