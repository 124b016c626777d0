"""Accurate structured linear algebra for diag(b)·Vandermonde matrices, on plain arrays.

Knows nothing of control: nodes λ and row scalings b are taken as exact float64 numbers, and every
result is right to a stated relative error however large the condition number is.
"""

from ensctl.vandermonde.factorization import Factorization, factorize
from ensctl.vandermonde.infinite import infinite_factor, one_minus_product
from ensctl.vandermonde.infinite_energies import log10_infinite_energies
from ensctl.vandermonde.minimum_norm import MinimumNorm, minimum_norm, worst_target
from ensctl.vandermonde.singular_values import (
    SingularValues,
    singular_values,
    singular_values_of_channels,
)

__all__ = [
    "Factorization",
    "MinimumNorm",
    "SingularValues",
    "factorize",
    "infinite_factor",
    "log10_infinite_energies",
    "minimum_norm",
    "one_minus_product",
    "singular_values",
    "singular_values_of_channels",
    "worst_target",
]
