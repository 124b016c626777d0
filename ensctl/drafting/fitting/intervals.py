"""Intervals for a share α = successes/trials whose trials may depend on each other."""

from __future__ import annotations

import math

from ensctl.arguments import as_scalar
from ensctl.drafting.estimate import Estimate


def as_level(level: float) -> float:
    """Check a coverage level in (0, 1)."""
    return as_scalar(level, "level", above=0, below=1)


def normal_quantile(level: float, freedom: float = math.inf) -> float:
    """Two-sided quantile of the normal, or of Student's t with ``freedom`` degrees of freedom."""
    from scipy.special import ndtri, stdtrit

    upper = 0.5 + 0.5 * level
    return float(ndtri(upper) if math.isinf(freedom) else stdtrit(freedom, upper))


def share_estimate(
    successes: float,
    trials: float,
    *,
    level: float,
    inflation: float = 1.0,
    freedom: float = math.inf,
    method: str = "",
    assumption: str = "",
) -> Estimate:
    """α̂ = successes/trials with standard error √(α(1−α)/trials)·√VIF.

    The interval is Wilson's with trials/VIF effective trials: the values α with
    |α̂ − α| ≤ q √(α(1−α) VIF/trials).  It stays in [0, 1] and has width at α̂ = 0 and 1, where the
    standard error is taken from that width.
    """
    share = min(max(successes / trials, 0.0), 1.0)
    quantile = normal_quantile(level, freedom)
    squared = quantile * quantile * inflation / trials
    centre = (share + 0.5 * squared) / (1.0 + squared)
    reach = math.sqrt(squared * (share * (1.0 - share) + 0.25 * squared)) / (1.0 + squared)
    error = math.sqrt(share * (1.0 - share) * inflation / trials)
    if error == 0.0:
        error = reach / quantile
    # At the ends the sums are exact on paper only.
    low = 0.0 if share == 0.0 else min(share, max(0.0, centre - reach))
    high = 1.0 if share == 1.0 else max(share, min(1.0, centre + reach))
    return Estimate(share, low, high, error, level, method, "", assumption)


def probability_estimate(
    value: float,
    variance: float,
    trials: float,
    *,
    level: float,
    freedom: float = math.inf,
    method: str = "",
    assumption: str = "",
) -> Estimate:
    """A probability with the variance of its estimate, as a share of that many effective trials.

    ``trials`` is their number where value or variance is at an end and does not tell.
    """
    share = min(max(value, 0.0), 1.0)
    spread = share * (1.0 - share)
    effective = spread / variance if spread > 0.0 and variance > 0.0 else trials
    return share_estimate(
        share * effective,
        effective,
        level=level,
        freedom=freedom,
        method=method,
        assumption=assumption,
    )
