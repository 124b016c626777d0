"""Fit an acceptance model to counters, histograms or traces, or choose one and say why."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ensctl.arguments import Array, as_scalar, read_only
from ensctl.drafting.acceptance import IID
from ensctl.drafting.convention import as_depth
from ensctl.drafting.counters import Counters
from ensctl.drafting.estimate import Estimate
from ensctl.drafting.fitting.acceptance_fit import AcceptanceFit
from ensctl.drafting.fitting.alpha import alpha_estimate
from ensctl.drafting.fitting.comparison import ModelComparison, compare
from ensctl.drafting.fitting.dependence import Dependence, dependence
from ensctl.drafting.fitting.hazards import estimated_hazards
from ensctl.drafting.fitting.intervals import as_level, normal_quantile, probability_estimate
from ensctl.drafting.fitting.model_fits import (
    ModelFit,
    binomial_log_likelihood,
    fit_beta,
    fit_delayed,
    fit_iid,
    fit_mixture,
    fit_per_position,
    fit_renewal,
)
from ensctl.drafting.fitting.renewal_traces import fit_renewal_traces
from ensctl.drafting.fitting.risk_sets import Data, RiskSets, risk_sets
from ensctl.errors import InvalidInputError, NotIdentifiableError

_FITTERS = {
    "iid": fit_iid,
    "per_position": fit_per_position,
    "beta": fit_beta,
    "mixture": fit_mixture,
    "delayed_geometric": fit_delayed,
}
MODELS = ("auto", "markov_renewal", *_FITTERS)
# What these say at one depth they say at every depth: the law of a unit does not depend on where
# in a cycle it stands.
_EXTRAPOLATES = ("iid", "markov_renewal")


def fit_acceptance(
    data: Data,
    model: str = "auto",
    *,
    dependence_model: str = "auto",
    level: float = 0.95,
    tolerance: float = 0.01,
    max_depth: int = 15,
) -> AcceptanceFit:
    """Fit an acceptance model to what an engine counted, or choose one and state the reason.

    i.i.d.: α̂ = Σ kept/Σ tested.  Markov renewal: u = Σ_{j=2..K} S_j/Σ_{j=1..K−1} S_j and v from
    S_1 = s_1(u, v, K), or maximum likelihood over cycles where ``data`` is a trace.  Per position:
    Kaplan–Meier hazards.  Beta, mixture of two α, and delayed geometric: maximum likelihood over
    positions.

    Parameters
    ----------
    data : Counters, sequence of Counters or CycleTraces
        A snapshot, windows of one run in order, or per-cycle traces.
    model : str
        "iid", "markov_renewal", "per_position", "beta", "mixture", "delayed_geometric", or "auto":
        i.i.d. where Markov renewal predicts no other lengths, else Markov renewal, or the hazards
        of each position where neither fits.
    dependence_model : str
        Where the errors come from: "auto", "iid", "markov_renewal" or "blocks", as for
        :func:`~ensctl.drafting.fitting.alpha.alpha_estimate`.
    level : float
        Coverage of the intervals, in (0, 1).
    tolerance : float
        "auto" takes lengths that differ by less than this share as equal, > 0.
    max_depth : int
        Deepest K that "auto" compares lengths at, ≥ 1.

    Returns
    -------
    AcceptanceFit
        The model, parameters with intervals, the reason, and predicted lengths with errors.

    Raises
    ------
    InvalidInputError
        Not counters or traces, or an unknown model.
    NotIdentifiableError
        The data do not determine the model: nothing drafted, K = 1 for Markov renewal, or no
        positions for anything but i.i.d.

    Notes
    -----
    Survival curves are never extended: only i.i.d. and Markov renewal predict lengths beyond the
    measured depth, which ``extrapolates`` says.

    Examples
    --------
    >>> from ensctl.drafting import Counters, fit_acceptance
    >>> window = Counters(42827, 128481, 7023, accepted_per_position=(3626, 2103, 1294))
    >>> fit = fit_acceptance(window)
    >>> print(fit.kind, fit.model)
    markov_renewal MarkovRenewal(u=0.592948, v=0.075533)
    >>> length = fit.expected_length(10)
    >>> print(round(length.value, 3), round(length.std_error, 3), length.unit)
    1.185 0.004 tokens per cycle, with_bonus
    """
    if not isinstance(model, str) or model not in MODELS:
        raise InvalidInputError(f"model must be one of {', '.join(MODELS)}, got {model!r}")
    coverage = as_level(level)
    close = as_scalar(tolerance, "tolerance", above=0)
    deepest = as_depth(max_depth, "max_depth", minimum=1)
    try:
        sets = risk_sets(data)
    except NotIdentifiableError:
        if model not in ("auto", "iid") or not isinstance(data, Counters | list | tuple):
            raise
        return _from_lengths(data, dependence_model, coverage)
    assumed = dependence(sets, dependence_model)
    if model != "auto":
        fit = _with_errors(sets, assumed, _fitted(sets, model))
        return _result(sets, assumed, fit, f"{model} was asked for", None, coverage)
    fits = {kind: _with_errors(sets, assumed, fit) for kind, fit in _candidates(sets).items()}
    comparison = compare(sets, assumed, fits, tolerance=close, max_depth=deepest)
    chosen = fits[comparison.chosen]
    return _result(sets, assumed, chosen, comparison.reason, comparison, coverage)


def _candidates(sets: RiskSets) -> dict[str, ModelFit]:
    """Every model the data determine."""
    fits = {}
    for kind in MODELS[1:]:
        # A mixture of two needs three parameters and says nothing beyond K: on request only.
        if kind == "mixture":
            continue
        try:
            fits[kind] = _fitted(sets, kind)
        except NotIdentifiableError:
            continue
    return fits


def _fitted(sets: RiskSets, kind: str) -> ModelFit:
    if kind != "markov_renewal":
        return _FITTERS[kind](sets)
    return fit_renewal(sets) if sets.traces is None else fit_renewal_traces(sets, sets.traces)


def _with_errors(sets: RiskSets, assumed: Dependence, fit: ModelFit) -> ModelFit:
    if fit.covariance is not None:
        return fit
    covariance = fit.influence @ assumed.covariance(_observed(sets)) @ fit.influence.T
    likelihood = binomial_log_likelihood(sets, fit.hazards)
    return replace(fit, covariance=covariance, log_likelihood=likelihood)


def _observed(sets: RiskSets) -> Array:
    shares = np.divide(
        sets.kept, sets.tested, out=np.zeros(sets.tested.size), where=sets.tested > 0
    )
    return np.minimum(shares, 1.0)


def _result(
    sets: RiskSets,
    assumed: Dependence,
    fit: ModelFit,
    reason: str,
    comparison: ModelComparison | None,
    level: float,
) -> AcceptanceFit:
    covariance = np.zeros((fit.values.size,) * 2) if fit.covariance is None else fit.covariance
    parameters = {
        name: _parameter(fit, value, variance, assumed, level, sets.cycles)
        for name, value, variance in zip(fit.names, fit.values, np.diag(covariance), strict=True)
    }
    return AcceptanceFit(
        model=fit.model,
        kind=fit.kind,
        parameters=MappingProxyType(parameters),
        covariance=read_only(np.array(covariance)),
        depth=int(np.count_nonzero(sets.tested)) if sets.depth is None else sets.depth,
        cycles=sets.cycles,
        extrapolates=fit.kind in _EXTRAPOLATES,
        reason=f"{reason}; {fit.note}" if fit.note else reason,
        assumption=assumed.text,
        log_likelihood=fit.log_likelihood,
        observed=estimated_hazards(sets, assumed, level),
        comparison=comparison,
        level=level,
        _fit=fit,
        _freedom=assumed.freedom,
    )


def _parameter(
    fit: ModelFit, value: float, variance: float, assumed: Dependence, level: float, cycles: float
) -> Estimate:
    error = math.sqrt(max(float(variance), 0.0))
    if fit.vague:
        top = math.inf if fit.kind == "beta" else 1.0
        text = f"{fit.kind} fit, {fit.note}"
        return Estimate(float(value), 0.0, top, math.inf, level, text, "", assumed.text)
    if fit.kind != "beta":
        return probability_estimate(
            float(value),
            float(variance),
            cycles,
            level=level,
            freedom=assumed.freedom,
            method=f"{fit.kind} fit",
            assumption=assumed.text,
        )
    # Positive and skewed: symmetric in the logarithm.
    factor = math.exp(min(normal_quantile(level, assumed.freedom) * error / value, 700.0))
    return Estimate(
        float(value), value / factor, value * factor, error, level, "beta fit", "", assumed.text
    )


def _from_lengths(
    data: Counters | list[Counters] | tuple[Counters, ...], dependence_model: str, level: float
) -> AcceptanceFit:
    """i.i.d. from the mean length alone, where the counters have no positions."""
    alpha = alpha_estimate(data, model=dependence_model, level=level)
    windows = [data] if isinstance(data, Counters) else list(data)
    depth = max(window.depth or 0 for window in windows)
    fit = ModelFit(
        "iid",
        IID(alpha.value),
        ("alpha",),
        np.array([alpha.value]),
        np.zeros((1, depth)),
        np.full(depth, alpha.value),
        lambda p: IID(min(max(float(p[0]), 0.0), 1.0)),
        1,
    )
    return AcceptanceFit(
        model=fit.model,
        kind="iid",
        parameters=MappingProxyType({"alpha": alpha}),
        covariance=read_only(np.array([[alpha.std_error**2]])),
        depth=depth,
        cycles=float(sum(window.drafts for window in windows)),
        extrapolates=True,
        reason="the counters have no positions: i.i.d. is assumed, not found",
        assumption=alpha.assumption,
        log_likelihood=math.nan,
        observed=None,
        comparison=None,
        level=level,
        _fit=fit,
        _freedom=math.inf,
    )
