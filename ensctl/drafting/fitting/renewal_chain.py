"""Closed forms of Markov-renewal cycles at one depth: shares, covariances over long runs.

A cycle starts after a rejection (first draft accepted with probability v) or after a full accept
(w = u² + (1−u)v, because the bonus token stands between); every later draft is accepted with
probability u.  Whether a cycle is fully accepted makes a two-state chain with eigenvalue
ρ = (w−v) u^{K−1}, and everything below follows from it.
"""

from __future__ import annotations

import numpy as np

from ensctl.arguments import Array


def first_acceptance(u: float, v: float, depth: int) -> float:
    """s_1 = v/(1 − u^K (u−v)), the long-run share of cycles whose first draft is accepted.

    It is the root of s_1 = (1−π)v + πw with π = s_1 u^{K−1} and w − v = u(u−v).
    """
    return v / (1.0 - u**depth * (u - v))


def restart_acceptance(u: float, first: float, depth: int) -> float:
    """v = s_1 (1 − u^{K+1})/(1 − s_1 u^K), the inverse of :func:`first_acceptance`.

    It exceeds 1 where no Markov renewal has that s_1.
    """
    rest = 1.0 - first * u**depth
    # s_1 = u = 1: every draft is accepted, and so is the first after a rejection.
    return 1.0 if rest <= 0.0 else first * (1.0 - u ** (depth + 1)) / rest


def cycle_law(first: float, u: float, depth: int) -> Array:
    """P(X = 0 … K) of the accepted count X of a cycle whose first draft passes with ``first``."""
    survival = np.concatenate([[1.0], first * u ** np.arange(depth), [0.0]])
    law: Array = survival[:-1] - survival[1:]
    return law


def long_run_covariance(u: float, v: float, depth: int, functions: Array) -> Array:
    """Γ = Σ_n Cov(h(X_0), h(X_n)) over all lags n, for the rows h of ``functions``.

    With 1_K the indicator of a full accept and Δ the change of E[h] that it brings to the next
    cycle, Cov(h(X_0), h(X_n)) = Cov(h, 1_K) Δᵀ ρ^{n−1}, so that

        Γ = Cov(h) + (Cov(h, 1_K) Δᵀ + Δ Cov(h, 1_K)ᵀ)/(1 − ρ).

    ``functions`` has shape (m, K+1): the values h(0) … h(K).
    """
    w = u * u + (1.0 - u) * v
    first = first_acceptance(u, v, depth)
    law = cycle_law(first, u, depth)
    mean = functions @ law
    centred = functions - mean[:, None]
    full = law[-1] * centred[:, -1]
    change = functions @ (cycle_law(w, u, depth) - cycle_law(v, u, depth))
    eigenvalue = (w - v) * u ** (depth - 1)
    carried = np.outer(full, change) / (1.0 - eigenvalue)
    covariance: Array = (centred * law) @ centred.T + carried + carried.T
    return covariance


def alpha_inflation(u: float, v: float, depth: int) -> float:
    """Variance of A/(A + D − P_{K−1}) over its value for independent trials (VIF).

    The error of the ratio is the mean of e(X) = X − α·trials(X), trials(X) = X + 1 − [X = K],
    over the mean number of trials: VIF = Γ(e)/(E[trials] α(1−α)), 1 where u = v.
    """
    counts = np.arange(depth + 1.0)
    trials = counts + 1.0
    trials[-1] -= 1.0
    law = cycle_law(first_acceptance(u, v, depth), u, depth)
    mean_trials = float(trials @ law)
    alpha = float(counts @ law) / mean_trials
    if not 0.0 < alpha < 1.0:
        return 1.0
    residual = (counts - alpha * trials)[None, :]
    variance = float(long_run_covariance(u, v, depth, residual)[0, 0])
    return variance / (mean_trials * alpha * (1.0 - alpha))
