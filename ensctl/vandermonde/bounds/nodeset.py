"""The conditions of the theorems, decided exactly on the doubles as given."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector, read_only
from ensctl.errors import InvalidInputError
from ensctl.vandermonde.infinite import one_minus_product

Array = NDArray[Any]

# Differences of nodes below this size cannot overflow.
_LARGEST = 2.0**500
# Nodes whose modulus is this close to 1 are "on" the unit circle; theorems that use it add the
# distance to their statement, so that nothing depends on the choice.
_CIRCLE_WIDTH = 2.0**-50


@dataclass(frozen=True, eq=False)
class NodeSet:
    """Nodes and row scalings of A = diag(b)·[λ_i^j], with the facts theorems ask for.

    Attributes
    ----------
    lam, b : (N,) float64 or complex128
        Exact nodes and row scalings.
    """

    lam: Array
    b: Array

    @classmethod
    def of(cls, lam: ArrayLike, b: ArrayLike) -> NodeSet:
        """Convert and check; b is broadcast when it is a scalar."""
        nodes = as_vector(lam, "lam")
        gains = as_vector(b, "b", size=nodes.size)
        largest = float(np.max(np.abs(nodes)))
        if largest >= _LARGEST:
            raise InvalidInputError(
                f"lam must satisfy |λ| < 2^500 ≈ 3e150, got {largest:.3g}; rescale"
            )
        return cls(read_only(nodes), read_only(gains))

    @property
    def size(self) -> int:
        """Number of nodes N."""
        return int(self.lam.size)

    @cached_property
    def is_regular(self) -> bool:
        """Nodes pairwise distinct and no b_i = 0: A has full rank min(N, H)."""
        return bool(np.all(self.b != 0)) and np.unique(self.lam + 0.0).size == self.size

    @property
    def is_real(self) -> bool:
        """Every node is real."""
        return not np.iscomplexobj(self.lam)

    @property
    def is_nonnegative(self) -> bool:
        """Every node is real and ≥ 0."""
        return self.is_real and bool(np.all(self.lam >= 0))

    @cached_property
    def is_symmetric(self) -> bool:
        """Real nodes whose set is its own mirror image about 0."""
        if not self.is_real:
            return False
        ordered = np.sort(self.lam)
        return bool(np.all(ordered == -ordered[::-1]))

    @cached_property
    def is_on_one_ray(self) -> bool:
        """Every non-zero node has the same argument."""
        nodes = self.lam[self.lam != 0]
        if self.is_real:
            return bool(np.all(nodes > 0) or np.all(nodes < 0))
        x, y = Fraction(nodes[0].real), Fraction(nodes[0].imag)
        for node in nodes[1:].tolist():
            u, v = Fraction(node.real), Fraction(node.imag)
            if x * v != y * u or x * u + y * v < 0:
                return False
        return True

    @cached_property
    def has_equal_gains(self) -> bool:
        """Every |b_i| is the same."""
        if not np.iscomplexobj(self.b):
            return bool(np.all(np.abs(self.b) == np.abs(self.b[0])))
        first = _square(self.b[0])
        return all(_square(gain) == first for gain in self.b)

    @cached_property
    def is_inside_circle(self) -> bool:
        """Every |λ_i| < 1."""
        if self.is_real:
            return bool(np.all(np.abs(self.lam) < 1))
        size = np.abs(self.lam)
        if np.any(size > 1.5):
            return False
        return all(_square(node) < 1 for node in self.lam[size > 0.5])

    @cached_property
    def log_modulus(self) -> Array:
        """log|λ_i|, accurate also where |λ_i| is close to 1 (−inf for 0)."""
        with np.errstate(divide="ignore"):
            far = np.log(np.abs(self.lam))
        near = np.abs(far) < 0.25
        nodes = np.where(near, self.lam, 1.0)
        return np.where(near, 0.5 * np.log1p(-one_minus_product(nodes, nodes).real), far)

    @cached_property
    def is_on_circle(self) -> bool:
        """Every |λ_i| = 1 within a few units in the last place of a double."""
        return bool(np.all(np.abs(self.log_modulus) <= _CIRCLE_WIDTH))


def require(holds: bool, argument: str, what: str) -> None:
    """Raise InvalidInputError unless a condition of a theorem holds."""
    if not holds:
        raise InvalidInputError(f"{argument} must {what} for this theorem to apply, got otherwise")


def _square(z: Any) -> Fraction:
    return Fraction(float(z.real)) ** 2 + Fraction(float(z.imag)) ** 2
