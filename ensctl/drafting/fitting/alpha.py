"""α̂ with an interval that says what it assumes about dependence between cycles."""

from __future__ import annotations

import math

import numpy as np

from ensctl.arguments import Array
from ensctl.drafting.counters import Counters
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.fitting.dependence import DEPENDENCES, Dependence, dependence
from ensctl.drafting.fitting.intervals import as_level, share_estimate
from ensctl.drafting.fitting.risk_sets import Data, RiskSets, as_windows, risk_sets
from ensctl.drafting.fitting.windows import FEWEST_BLOCKS, block_variance
from ensctl.errors import InvalidInputError, NotIdentifiableError

_RATIO = "α̂ = A/(A + D − P_{K−1})"
_INDEPENDENT = "independent trials with one α"


def alpha_estimate(data: Data, *, model: str = "auto", level: float = 0.95) -> Estimate:
    """Acceptance of a drafted unit that is tested: accepted over tested units.

    α̂ = A/(A + D − P_{K−1}): each draft ends in a rejection unless all K units were accepted, so
    the tested units are the accepted ones and one rejection for each of the other drafts.  The
    standard error is √(α(1−α)/trials)·√VIF.

    Parameters
    ----------
    data : Counters, sequence of Counters or CycleTraces
        One snapshot, windows of one run in order, or per-cycle traces.
    model : str
        Where the variance inflation comes from.  "iid": VIF = 1.  "markov_renewal": the closed
        form of a Markov renewal fitted to the counters.  "blocks": batch means over windows or
        requests with Student's t, for any dependence.  "auto": blocks where there are at least
        ten, else Markov renewal where K is constant and ≥ 2, else i.i.d.
    level : float
        Coverage of the interval, in (0, 1).

    Returns
    -------
    Estimate
        α̂, its interval and standard error; ``method`` says what was computed, ``assumption`` what
        the interval rests on.

    Raises
    ------
    InvalidInputError
        Not counters or traces, an unknown model, or windows of different engines or models.
    NotIdentifiableError
        Nothing was drafted, K is not known, the depth varied in a way that the counters do not
        show, or K = 1 where "markov_renewal" is asked for.

    Notes
    -----
    Under Markov renewal α is the long-run ratio that α̂ converges to.  Batch means need windows of
    at least eight correlation times each.  Counters without positions give α by solving
    A/D = Σ_{j=1..K} α^j, which holds for independent trials only.

    Examples
    --------
    >>> from ensctl.drafting import Counters, alpha_estimate
    >>> window = Counters(1000, 3000, 1650, accepted_per_position=(750, 540, 360))
    >>> print(alpha_estimate(window, model="iid"))
    0.720524 (95 % interval 0.701787 to 0.738522, standard error 0.00938; α̂ = A/(A + D −
    P_{K−1}), 2290 tested units, variance inflation 1; assumes independent trials with one α)
    """
    if not isinstance(model, str) or model not in DEPENDENCES:
        raise InvalidInputError(f"model must be one of {', '.join(DEPENDENCES)}, got {model!r}")
    coverage = as_level(level)
    try:
        sets = risk_sets(data)
    except NotIdentifiableError:
        windows = [] if not isinstance(data, Counters | list | tuple) else as_windows(data)
        if model == "markov_renewal" or not all(_has_length(window) for window in windows):
            raise
        return _from_lengths(windows, model, coverage)
    return _estimate(sets, dependence(sets, model), coverage)


def _estimate(sets: RiskSets, assumed: Dependence, level: float) -> Estimate:
    """α̂ with Var(α̂) = 1ᵀC1/trials², C of the residuals kept − α̂ tested."""
    accepted, trials = float(sets.kept.sum()), float(sets.tested.sum())
    alpha = min(accepted / trials, 1.0)
    inflation = 1.0
    if assumed.kind != "iid" and 0.0 < alpha < 1.0:
        variance = float(assumed.covariance(np.full(sets.tested.size, alpha)).sum())
        inflation = max(variance / (trials * alpha * (1.0 - alpha)), 1e-12)
    method = f"{_RATIO}, {trials:g} tested units, variance inflation {inflation:.3g}"
    return share_estimate(
        accepted,
        trials,
        level=level,
        inflation=inflation,
        freedom=assumed.freedom,
        method=f"{method}; {sets.note}" if sets.note else method,
        assumption=assumed.text,
    )


def _has_length(window: Counters) -> bool:
    return window.depth is not None and window.depth >= 1 and window.constant_depth


def _from_lengths(windows: list[Counters], model: str, level: float) -> Estimate:
    """α from A/D = Σ_{j=1..K} α^j, where nothing tells how many drafts were accepted in full."""
    depths = {window.depth for window in windows}
    if len(depths) != 1 or not windows:
        raise NotIdentifiableError("windows without positions must have one depth K to give α")
    depth = int(windows[0].depth or 0)
    drafts = np.array([window.drafts for window in windows], dtype=np.float64)
    accepted = np.array([window.accepted for window in windows], dtype=np.float64)
    mean = float(accepted.sum() / drafts.sum())
    alpha = solve_alpha(mean, depth)
    powers = alpha ** np.arange(depth + 1.0)
    # Tested units of a cycle under the model: Σ_{j<K} α^j.
    trials = float(drafts.sum() * powers[:-1].sum())
    inflation, freedom = 1.0, math.inf
    text = f"{_INDEPENDENT} (α itself too: the counters have no positions)"
    slope = float(np.arange(1.0, depth + 1.0) @ powers[:-1])
    if 0.0 < alpha < 1.0:
        inflation = _length_variance(powers) / slope**2 * powers[:-1].sum()
        inflation /= alpha * (1.0 - alpha)
    if model == "blocks" or (model == "auto" and len(windows) >= FEWEST_BLOCKS):
        if len(windows) < 2:
            raise NotIdentifiableError("blocks need at least two windows, got one snapshot")
        # Accepted of K·D drafted units is a ratio of the same blocks.
        variance = block_variance(accepted, depth * drafts)
        share = mean / depth
        if 0.0 < alpha < 1.0:
            error = share * (1.0 - share) * variance.inflation / (depth * drafts.sum())
            inflation = error * (depth / slope) ** 2 * trials / (alpha * (1.0 - alpha))
        freedom = variance.freedom
        text = f"one α for every trial; batch means over {len(windows)} windows"
    # How a reader came by counts that were not printed bears on α.
    notes = list(dict.fromkeys(note for window in windows for note in window.notes))
    if notes:
        text += f"; {notes[0]}" + (f" (and {len(notes) - 1} more notes)" if notes[1:] else "")
    method = f"A/D = Σ α^j solved for α, {drafts.sum():g} drafts"
    return share_estimate(
        alpha * trials,
        trials,
        level=level,
        inflation=inflation,
        freedom=freedom,
        method=method,
        assumption=text,
    )


def _length_variance(powers: Array) -> float:
    """Variance of the accepted count from S(j) = α^j: Σ (2x−1) S(x) − (Σ S)²."""
    survival = powers[1:]
    weights = 2.0 * np.arange(1.0, survival.size + 1.0) - 1.0
    return float(weights @ survival - survival.sum() ** 2)


def solve_alpha(mean_accepted: float, depth: int) -> float:
    """α with Σ_{j=1..K} α^j = ``mean_accepted``, in [0, 1]."""
    from scipy.optimize import brentq

    if mean_accepted <= 0.0:
        return 0.0
    if mean_accepted >= depth:
        return 1.0
    exponents = np.arange(1.0, depth + 1.0)
    return float(brentq(lambda a: float(np.sum(a**exponents)) - mean_accepted, 0.0, 1.0))
