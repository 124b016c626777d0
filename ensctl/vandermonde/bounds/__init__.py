"""Bounds from the literature, one function per theorem, for A = diag(b)·[λ_i^j], j = 0 … H−1."""

from ensctl.vandermonde.bounds.applicable import applicable_bounds
from ensctl.vandermonde.bounds.bound import Bound
from ensctl.vandermonde.bounds.clusters import cluster_sigma_min, tightest_cluster
from ensctl.vandermonde.bounds.gautschi import (
    gautschi_lower,
    gautschi_symmetric,
    gautschi_upper,
)
from ensctl.vandermonde.bounds.gautschi_sigma import (
    gautschi_sigma_min_lower,
    gautschi_sigma_min_upper,
)
from ensctl.vandermonde.bounds.growth import (
    chebyshev_growth,
    equispaced_growth,
    equispaced_unit_growth,
)
from ensctl.vandermonde.bounds.infinite_horizon import (
    blaschke_sigma_min_lower,
    blaschke_sigma_min_upper,
)
from ensctl.vandermonde.bounds.practical_directions import (
    beckermann_townsend,
    beckermann_townsend_condition,
)
from ensctl.vandermonde.bounds.real_nodes import (
    beckermann_nonnegative,
    beckermann_real,
    beckermann_row_scaled,
    gautschi_inglese,
)
from ensctl.vandermonde.bounds.unit_circle import (
    large_sieve_sigma_max,
    large_sieve_sigma_min,
    scaled_roots_of_unity,
    wrap_gap,
)

__all__ = [
    "Bound",
    "applicable_bounds",
    "beckermann_nonnegative",
    "beckermann_real",
    "beckermann_row_scaled",
    "beckermann_townsend",
    "beckermann_townsend_condition",
    "blaschke_sigma_min_lower",
    "blaschke_sigma_min_upper",
    "chebyshev_growth",
    "cluster_sigma_min",
    "equispaced_growth",
    "equispaced_unit_growth",
    "gautschi_inglese",
    "gautschi_lower",
    "gautschi_sigma_min_lower",
    "gautschi_sigma_min_upper",
    "gautschi_symmetric",
    "gautschi_upper",
    "large_sieve_sigma_max",
    "large_sieve_sigma_min",
    "scaled_roots_of_unity",
    "tightest_cluster",
    "wrap_gap",
]
