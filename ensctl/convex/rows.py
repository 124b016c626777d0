"""Blocks of linear rows: M u − t lies in a region.

The target, slew limits, state limits and output limits all have this form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.convex.regions import Region, Within, WithinDiscs
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# The true rows and the true right-hand side of a block: floats are rounded, these are not.
ExactRows = tuple[Sequence[Sequence[Fraction]], Sequence[Fraction]]


@dataclass(frozen=True, eq=False)
class Rows:
    """M u − t in ``region``.

    Attributes
    ----------
    matrix : (rows, n) float64, dense or scipy.sparse
        M.
    target : (rows,) float64
        t.
    region : Region
    rounding : float
        Entries of M and t differ from the true ones by at most this relative error; 0 when they
        are exact.
    exact : callable, optional
        Called without arguments when a proof needs it: the true M and t as fractions.  Not given:
        the floats are the truth where ``rounding`` is 0, and otherwise the truth is not known and
        float64 with its error bound has to decide.
    """

    matrix: Any
    target: Array
    region: Region
    rounding: float = 0.0
    exact: Callable[[], ExactRows] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Providers may be closures, which cannot be pickled; what they provide can.
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.exact is not None:
            state["exact"] = partial(_kept, self.exact())
        return state

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.target.size)

    @cached_property
    def norms(self) -> Array:
        """Euclidean norm of each row of M."""
        squares = self.matrix.multiply(self.matrix) if self._sparse else self.matrix**2
        return np.sqrt(np.asarray(squares.sum(axis=1)).ravel())

    @property
    def _sparse(self) -> bool:
        return not isinstance(self.matrix, np.ndarray)

    def dense(self, index: Array) -> Array:
        """The rows of M with the given indices, dense."""
        chosen = self.matrix[index]
        return chosen if isinstance(chosen, np.ndarray) else np.asarray(chosen.toarray())

    def error(self, inputs: Array) -> Array:
        """e = M u − t."""
        return np.asarray(self.matrix @ inputs) - self.target

    def pulled(self, multiplier: Array) -> Array:
        """Mᵀy."""
        return np.asarray(self.matrix.T @ multiplier)

    def magnitude(self, multiplier: Array) -> Array:
        """|M|ᵀ|y|, for rounding-error bounds."""
        return np.asarray(abs(self.matrix).T @ np.abs(multiplier))


def _kept(rows: ExactRows) -> ExactRows:
    return rows


def slew_rows(
    slew_max: ArrayLike,
    size: int,
    *,
    channels: int = 1,
    stacked: bool = False,
    previous: ArrayLike | None = None,
) -> Rows:
    """|u_{k+1} − u_k| ≤ s for H·m inputs in time order, channel by channel within a step.

    Parameters
    ----------
    slew_max : float or (m,) or (H−1, m) array (H rows when ``previous`` is given)
        s ≥ 0.
    size : int
        H·m, the number of (complex) inputs.
    channels : int
        m.
    stacked : bool
        Inputs are stacked complex numbers and s bounds the modulus.
    previous : (m,), optional
        The input before u_0; when given, |u_0 − previous| ≤ s is asked for as well.

    Returns
    -------
    Rows

    Raises
    ------
    InvalidInputError
        Negative or NaN limits, a wrong shape, or nothing to limit (one step, no ``previous``).

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.convex import slew_rows
    >>> slew_rows(0.5, 4).error(np.array([0.0, 1.0, 3.0, 6.0]))
    array([1., 2., 3.])
    """
    from scipy import sparse

    steps = size // channels
    count = steps - (previous is None)
    if count < 1:
        raise InvalidInputError(
            "slew_max limits changes between steps and there is one step only; leave it out"
        )
    limits = np.asarray(slew_max, dtype=float)
    try:
        limits = np.broadcast_to(limits, (count, channels)).ravel()
    except ValueError:
        raise InvalidInputError(
            f"slew_max must be a scalar, ({channels},) or ({count}, {channels}), "
            f"got shape {limits.shape}"
        ) from None
    if not np.all(limits >= 0.0) or np.isinf(limits).any():
        raise InvalidInputError("slew_max must be finite and ≥ 0; leave it out for no limit")
    change = sparse.eye_array(size) - sparse.eye_array(size, k=-channels)
    change = change.tocsr() if previous is not None else change.tocsr()[channels:]
    target = np.zeros(change.shape[0], dtype=complex if stacked else float)
    if previous is not None:
        target[:channels] = np.asarray(previous)
    if not stacked:
        return Rows(change, target, Within(limits))
    both = sparse.block_diag([change, change], format="csr")
    return Rows(both, np.concatenate([target.real, target.imag]), WithinDiscs(limits))
