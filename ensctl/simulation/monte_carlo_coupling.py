"""Accepted counts of drafters that succeed and fail together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensctl.drafting.acceptance import IID, AcceptanceModel, kept
from ensctl.drafting.acceptance_mixture import Beta
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Normal variables of one drafter at a time, in pieces that stay in the caches.
_PIECE = 1 << 16


def coupled_counts(
    models: list[AcceptanceModel],
    depth: int,
    cycles: int,
    correlation: float,
    coupling: str,
    generator: np.random.Generator,
) -> tuple[list[AcceptanceModel], Array]:
    """Models as they come out, and counts (N, T) of int16."""
    accepted = np.empty((len(models), cycles), dtype=np.int16)
    if coupling == "shared beta":
        law = _shared_beta(models, correlation)
        for start in range(0, cycles, _PIECE):
            stop = min(start + _PIECE, cycles)
            alpha = generator.beta(law.a, law.b, stop - start)
            for row in accepted:
                row[start:stop] = _geometric(alpha, generator.random(stop - start), depth)
        return [law] * len(models), accepted
    from scipy.special import ndtr

    for model in models:
        if not model.independent:
            raise InvalidInputError(
                f"correlation needs models with independent cycles, got {model}; give "
                "correlation=0 or another model"
            )
    survivals = [model.survival(depth) for model in models]
    common, own = np.sqrt(correlation), np.sqrt(1.0 - correlation)
    for start in range(0, cycles, _PIECE):
        stop = min(start + _PIECE, cycles)
        shared = common * generator.standard_normal(stop - start)
        for row, survival in zip(accepted, survivals, strict=True):
            latent = shared + own * generator.standard_normal(stop - start)
            row[start:stop] = kept(survival, ndtr(latent))
    return models, accepted


def _shared_beta(models: list[AcceptanceModel], correlation: float) -> Beta:
    """Beta with mean α and r = 1/(a + b + 1)."""
    alphas = {model.alpha if isinstance(model, IID) else None for model in models}
    alpha = next(iter(alphas))
    if len(alphas) > 1 or alpha is None or not 0.0 < alpha < 1.0:
        raise InvalidInputError(
            "the shared beta needs one number 0 < α < 1 for all drafters; use the Gaussian copula "
            "for others"
        )
    strength = 1.0 / correlation - 1.0
    return Beta(alpha * strength, (1.0 - alpha) * strength)


def _geometric(alpha: Array, uniform: Array, depth: int) -> Array:
    """min(#{j ≥ 1: U < α^j}, K) = min(⌈ln U/ln α⌉ − 1, K), each cycle with an α of its own."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = np.ceil(np.log(uniform) / np.log(alpha)) - 1.0
    # α = 0 gives −1 or NaN, and α = 1 or U = 0 an infinite or undefined quotient.
    reached = np.where(alpha >= 1.0, depth, np.where(alpha <= 0.0, 0.0, reached))
    return np.clip(np.where(np.isnan(reached), depth, reached), 0, depth)
