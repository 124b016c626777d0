"""Accurate structured linear algebra for diag(b)·Vandermonde matrices, on plain arrays.

Knows nothing of control: nodes λ and row scalings b are taken as exact float64 numbers, and every
result is right to a stated relative error however large the condition number is.
"""

from ensctl.vandermonde.bounds import Bound, applicable_bounds
from ensctl.vandermonde.certified_gramian import CertifiedFactor, certified_factor
from ensctl.vandermonde.certified_member_energies import certified_member_energies
from ensctl.vandermonde.certified_results import CertifiedEnergies, CertifiedInputs
from ensctl.vandermonde.certified_solve import certified_energies, certified_inputs
from ensctl.vandermonde.determinant import LogDeterminant, log_determinant
from ensctl.vandermonde.factorization import Factorization, factorize
from ensctl.vandermonde.infinite import infinite_factor, one_minus_product
from ensctl.vandermonde.infinite_energies import log10_infinite_energies
from ensctl.vandermonde.inverse_norm import NormCondition, norm_condition
from ensctl.vandermonde.minimum_norm import MinimumNorm, minimum_norm, worst_target
from ensctl.vandermonde.singular_values import (
    SingularValues,
    singular_values,
    singular_values_of_channels,
)

__all__ = [
    "Bound",
    "CertifiedEnergies",
    "CertifiedFactor",
    "CertifiedInputs",
    "Factorization",
    "LogDeterminant",
    "MinimumNorm",
    "NormCondition",
    "SingularValues",
    "applicable_bounds",
    "certified_energies",
    "certified_factor",
    "certified_inputs",
    "certified_member_energies",
    "factorize",
    "infinite_factor",
    "log10_infinite_energies",
    "log_determinant",
    "minimum_norm",
    "norm_condition",
    "one_minus_product",
    "singular_values",
    "singular_values_of_channels",
    "worst_target",
]
