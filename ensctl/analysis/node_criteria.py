"""What a set of nodes is judged by: a maximum of smooth pieces, each with its derivatives.

Criteria are minimised as natural logarithms: log κ2 = log σ_1 − log σ_N, log κ_∞, log 1/σ_N²
(worst energy), log (1/N) Σ 1/σ_k² (mean energy), −log det W = −2 Σ log σ_k, and minus the logarithm
of the smallest pseudo-hyperbolic gap |λ_i − λ_j|/|1 − λ̄_j λ_i|.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_slopes import spectrum_slopes
from ensctl.errors import InvalidInputError
from ensctl.vandermonde.determinant import log_determinant
from ensctl.vandermonde.infinite import one_minus_product
from ensctl.vandermonde.inverse_norm import norm_condition
from ensctl.vandermonde.singular_values import singular_values

Array = NDArray[Any]
Criterion = Literal[
    "condition", "condition_inf", "worst_energy", "mean_energy", "log_determinant", "gap"
]

MEANING: dict[str, str] = {
    "condition": "condition number κ₂",
    "condition_inf": "condition number κ_∞ (nodes in columns)",
    "worst_energy": "energy of the worst unit target",
    "mean_energy": "mean energy of unit targets",
    "log_determinant": "log det of the Gramian",
    "gap": "smallest pseudo-hyperbolic gap",
}
LARGER_IS_BETTER = frozenset({"log_determinant", "gap"})
_LN10 = math.log(10.0)
# Singular values at either end that may change places.
_ENDS = 3


@dataclass(frozen=True, eq=False)
class Pieces:
    """Smooth functions whose largest value is the criterion (in the direction "less is better").

    Attributes
    ----------
    values : (m,) float64
        Natural logarithms.
    by_node : (m, N) float64 or complex128
        s with d value = Re Σ_i s_i dλ_i.
    by_gain : (m, N) float64
        Derivatives with respect to log|b_i|.
    """

    values: Array
    by_node: Array
    by_gain: Array


def require_criterion(name: Any, count: int, horizon: int | float) -> Criterion:
    """Check the name and what the criterion asks of the horizon."""
    if name not in MEANING:
        raise InvalidInputError(f"criterion must be one of {', '.join(MEANING)}, got {name!r}")
    if name == "condition_inf" and horizon != count:
        raise InvalidInputError(
            f"horizon must be count = {count} for criterion 'condition_inf', got {horizon}; the "
            f"inverse of a square matrix is meant"
        )
    if horizon < count:
        raise InvalidInputError(
            f"horizon must be at least count = {count}, got {horizon}: fewer steps cannot move "
            f"every member"
        )
    chosen: Criterion = name
    return chosen


def pieces(criterion: Criterion, lam: Array, b: Array, horizon: int | float) -> Pieces:
    """The pieces of a criterion at distinct nodes with gains b ≠ 0."""
    if criterion == "gap":
        return _gap_pieces(lam)
    if criterion == "condition_inf":
        return _norm_pieces(lam, b)
    slopes = spectrum_slopes(lam, b, horizon)
    log_sigma, nodes, gains = slopes.log_sigma, slopes.by_node, slopes.by_gain
    if criterion == "condition":
        ends = min(_ENDS, lam.size)
        top, bottom = np.arange(ends), np.arange(lam.size - ends, lam.size)
        first, second = np.repeat(top, ends), np.tile(bottom, ends)
        return Pieces(
            log_sigma[first] - log_sigma[second],
            nodes[first] - nodes[second],
            gains[first] - gains[second],
        )
    if criterion == "worst_energy":
        ends = min(_ENDS, lam.size)
        return Pieces(-2.0 * log_sigma[-ends:], -2.0 * nodes[-ends:], -2.0 * gains[-ends:])
    if criterion == "mean_energy":
        share = np.exp(-2.0 * (log_sigma - log_sigma[-1]))
        total = float(share.sum())
        weight = -2.0 * share[None, :] / total
        value = math.log(total / lam.size) - 2.0 * float(log_sigma[-1])
        return Pieces(np.array([value]), weight @ nodes, weight @ gains)
    return Pieces(
        np.array([-2.0 * float(log_sigma.sum())]),
        -2.0 * nodes.sum(axis=0, keepdims=True),
        -2.0 * gains.sum(axis=0, keepdims=True),
    )


def log_score(criterion: Criterion, lam: Array, b: Array, horizon: int | float) -> float:
    """The criterion (less is better, natural logarithm) from the accurate kernels; inf if singular.

    Accuracy: 1e-14 relative in κ and the energies for κ up to 1e178.
    """
    if np.unique(lam + 0.0).size < lam.size or np.any(b == 0):
        return math.inf
    if criterion == "gap":
        return float(np.max(_gap_pieces(lam).values, initial=-math.inf)) if lam.size > 1 else 0.0
    if criterion == "condition_inf":
        return norm_condition(lam, b, order=1).log10_cond * _LN10
    if criterion == "log_determinant" and horizon == lam.size:
        return -2.0 * log_determinant(lam, b).log_abs
    log_sigma = singular_values(lam, b, horizon).log10 * _LN10
    if criterion == "condition":
        return float(log_sigma[0] - log_sigma[-1])
    if criterion == "worst_energy":
        return -2.0 * float(log_sigma[-1])
    if criterion == "log_determinant":
        return -2.0 * float(log_sigma.sum())
    total = float(np.exp(-2.0 * (log_sigma - log_sigma[-1])).sum())
    return math.log(total / lam.size) - 2.0 * float(log_sigma[-1])


def _gap_pieces(lam: Array) -> Pieces:
    """−log|λ_i − λ_j| + log|1 − λ̄_j λ_i| of every pair i < j."""
    first, second = np.triu_indices(lam.size, 1)
    x, y = lam[first], lam[second]
    kernel = one_minus_product(x, y)
    rows = np.arange(first.size)
    slopes = np.zeros((first.size, lam.size), dtype=lam.dtype)
    slopes[rows, first] = -1.0 / (x - y) - y.conj() / kernel
    slopes[rows, second] = 1.0 / (x - y) - x.conj() / kernel.conj()
    values = np.log(np.abs(kernel)) - np.log(np.abs(x - y))
    return Pieces(values, slopes, np.zeros(slopes.shape))


def _norm_pieces(lam: Array, b: Array) -> Pieces:
    """log‖A‖₁ + log‖A^{-1}e_j‖₁ for every column j and both columns that can be the largest of A.

    Column j of the inverse holds the coefficients of ℓ_j(z)/b_j; Σ_i |b_i||λ_i|^k is log-convex
    in k, so the first or the last column of A is its largest.
    """
    count, size = lam.size, np.abs(b)
    inverse, inverse_slopes = _inverse_columns(lam)
    inverse = inverse - np.log(size)
    found: list[Pieces] = []
    for power in sorted({0, count - 1}):
        terms = size * np.abs(lam) ** power
        total = float(terms.sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(lam != 0, power * terms / np.where(lam == 0, 1.0, lam), 0.0) / total
        found.append(
            Pieces(
                math.log(total) + inverse,
                slope[None, :] + inverse_slopes,
                terms[None, :] / total - np.eye(count),
            )
        )
    return Pieces(
        np.concatenate([part.values for part in found]),
        np.concatenate([part.by_node for part in found]),
        np.concatenate([part.by_gain for part in found]),
    )


def _inverse_columns(lam: Array) -> tuple[Array, Array]:
    """log Σ_k |[z^k] ℓ_j| for every j, and the slopes by node.

    ∂/∂λ_i of Π_{m≠j} (z − λ_m) is −Π_{m≠i,j} (z − λ_m).
    """
    count = lam.size
    own = np.eye(count, dtype=bool)
    without_two = _products(lam, own[:, None, :] | own[None, :, :])
    without_one = without_two[np.arange(count), np.arange(count)]
    gaps = lam[:, None] - lam[None, :]
    np.fill_diagonal(gaps, 1.0)
    size = np.abs(without_one)
    total = size.sum(axis=1)
    values = np.log(total) - np.log(np.abs(gaps)).sum(axis=1)
    turn = np.where(size > 0, without_one.conj() / np.where(size > 0, size, 1.0), 0.0)
    slopes = -np.einsum("jk,jik->ji", turn, without_two) / total[:, None] + 1.0 / gaps
    slopes[own] = 1.0 - np.sum(1.0 / gaps, axis=1)
    return values, slopes


def _products(lam: Array, left_out: Array) -> Array:
    """Coefficients (constant first) of Π (z − λ_m) over the m that are not left out."""
    shape = left_out.shape[:-1]
    found = np.zeros((*shape, lam.size), dtype=lam.dtype)
    found[..., 0] = 1.0
    for m, node in enumerate(lam):
        shifted = np.zeros_like(found)
        shifted[..., 1:] = found[..., :-1]
        found = np.where(left_out[..., m, None], found, shifted - node * found)
    return found
