"""Complex data as stacked real ones: u ↦ (Re u, Im u).

A complex system R u = d in complex inputs becomes [[Re R, −Im R], [Im R, Re R]] (Re u, Im u) =
(Re d, Im d): everything below the rooms that know complex numbers works on real arrays.  Entry k
and entry k + n/2 of a stacked vector are one complex number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def stack_matrix(matrix: Array) -> Array:
    """The real (2N, 2n) form of a complex (N, n) matrix that acts on complex inputs."""
    real, imag = np.real(matrix), np.imag(matrix)
    return np.block([[real, -imag], [imag, real]])


def stack_rows(matrix: Array) -> Array:
    """The real (2N, n) form of a complex (N, n) matrix that acts on real inputs."""
    return np.vstack([np.real(matrix), np.imag(matrix)])


def stack_vector(vector: Array) -> Array:
    """(Re v, Im v) of a complex vector."""
    return np.concatenate([np.real(vector), np.imag(vector)])


def unstack(stacked: Array) -> Array:
    """The complex vector of a stacked one."""
    half = stacked.size // 2
    return stacked[:half] + 1j * stacked[half:]


def moduli(stacked: Array) -> Array:
    """|v_k| of a stacked complex vector, (n/2,).

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import moduli, stack_vector
    >>> moduli(stack_vector(np.array([3.0 + 4.0j, 1.0j])))
    array([5., 1.])
    """
    half = stacked.size // 2
    return np.hypot(stacked[:half], stacked[half:])
