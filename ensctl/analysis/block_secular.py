"""Smallest eigenvalue of diag(d) + B B* for many d at once, B with a few columns.

With the m + 1 smallest d kept as they are (set S) and the others (set F) eliminated, the smallest
eigenvalue μ ≤ d_(m+1) is the fixed point of the decreasing function

    h(μ) = σ_min([D_S^½, B_S L^{-*}])²,   L L* = I + B_F* (D_F − μ)^{-1} B_F,

in which every term is positive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_EPS = float(np.finfo(float).eps)
_MOST_ITERATIONS = 40


def smallest_eigenvalues_of_block(diagonals: Array, gains: Array) -> Array:
    """Smallest eigenvalue of diag(d_k) + B B* for each row d_k.

    Parameters
    ----------
    diagonals : (k, n)
        Non-negative d, one problem a row.
    gains : (n, m)
        B.

    Returns
    -------
    (k,) float64
        The square roots are within a few ε ‖B‖ of the exact ones.

    Notes
    -----
    Newton's method on h(μ) − μ inside a bracket: O(n m²) for each of about five steps.
    """
    count, size = diagonals.shape
    kept = min(gains.shape[1] + 1, size)
    near = np.argpartition(diagonals, kept - 1, axis=1)[:, :kept]
    near_d = np.take_along_axis(diagonals, near, axis=1)
    far = diagonals.copy()
    np.put_along_axis(far, near, np.inf, axis=1)
    problem = _Blocks(near_d, gains[near], far, gains)
    low = near_d.min(axis=1)
    if kept == size:
        return problem.value_and_slope(np.arange(count), low)[0]
    high = near_d.max(axis=1)
    mu = low.copy()
    noise = 8.0 * _EPS * float(np.linalg.norm(gains, 2))
    active = np.arange(count)
    for _ in range(_MOST_ITERATIONS):
        if active.size == 0:
            break
        x = mu[active]
        value, slope = problem.value_and_slope(active, x)
        low[active] = np.where(value >= x, np.maximum(x, low[active]), low[active])
        high[active] = np.where(value <= x, np.minimum(x, high[active]), high[active])
        # h decreases, so its value on one side of the fixed point bounds it from the other.
        high[active] = np.where(value >= x, np.minimum(value, high[active]), high[active])
        low[active] = np.where(value <= x, np.maximum(value, low[active]), low[active])
        step = x + (value - x) / (1.0 - slope)
        goal = np.maximum(4.0 * _EPS * x, noise * np.sqrt(x))
        done = (np.abs(step - x) <= goal) | (high[active] - low[active] <= goal)
        inside = (step >= low[active]) & (step <= high[active])
        mu[active] = np.where(inside, step, 0.5 * (low[active] + high[active]))
        active = active[~done]
    return mu


@dataclass(frozen=True)
class _Blocks:
    """Near rows as they are; far rows with d = inf where a row is near."""

    near_d: Array
    near_gains: Array
    far_d: Array
    gains: Array

    def value_and_slope(self, index: Array, mu: Array) -> tuple[Array, Array]:
        """h(μ) and h'(μ) = −Σ_F |B_i y|²/(d_i − μ)², y = (L L*)^{-1} B_S* x."""
        channels = self.gains.shape[1]
        room = self.far_d[index] - mu[:, None]
        weights = 1.0 / np.maximum(room, np.finfo(float).tiny + _EPS * np.abs(mu[:, None]))
        outer = np.conj(self.gains)[:, :, None] * self.gains[:, None, :]
        flat = weights @ outer.reshape(self.gains.shape[0], -1)
        inner = np.eye(channels) + flat.reshape(-1, channels, channels)
        lower = np.linalg.cholesky(inner)
        # B_S L^{-*}, from L Y = B_S*.
        scaled = np.linalg.solve(lower, np.conj(self.near_gains[index]).swapaxes(1, 2))
        kept = self.near_d.shape[1]
        pencil = np.zeros((index.size, kept, kept + channels), dtype=scaled.dtype)
        pencil[:, np.arange(kept), np.arange(kept)] = np.sqrt(self.near_d[index])
        pencil[:, :, kept:] = np.conj(scaled).swapaxes(1, 2)
        left, sigma, _ = np.linalg.svd(pencil, full_matrices=False)
        vector = left[:, :, -1:]
        inward = np.linalg.solve(np.conj(lower).swapaxes(1, 2), scaled @ vector)
        effect = np.abs(inward[:, :, 0] @ self.gains.T) ** 2
        return sigma[:, -1] ** 2, -np.sum(effect * weights**2, axis=1)
