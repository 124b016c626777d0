"""Each acceptance model fitted to the trials and successes of draft positions.

A fit is its model, its parameters, and the influence of the residuals kept − h·tested on them:
parameters move by influence @ residuals, so their covariance is influence C influenceᵀ with the
covariance C that the assumption about dependence gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ensctl.arguments import Array
from ensctl.drafting.acceptance import IID, AcceptanceModel
from ensctl.drafting.acceptance_mixture import Beta, Mixture
from ensctl.drafting.acceptance_positions import DelayedGeometric, PerPosition
from ensctl.drafting.acceptance_renewal import MarkovRenewal
from ensctl.drafting.fitting.dependence import renewal_parameters
from ensctl.drafting.fitting.renewal_chain import restart_acceptance
from ensctl.drafting.fitting.risk_sets import RiskSets
from ensctl.errors import NotIdentifiableError

# A beta this narrow is an i.i.d. model to eight digits.
_NARROWEST = 1e-8


@dataclass(frozen=True, eq=False)
class ModelFit:
    """A fitted model; ``build`` makes the model of other parameters, for derivatives.

    ``vague`` fits sit where the likelihood does not see a parameter: lengths are determined, the
    parameters are not.
    """

    kind: str
    model: AcceptanceModel
    names: tuple[str, ...]
    values: Array
    influence: Array
    hazards: Array
    build: Callable[[Array], AcceptanceModel]
    free: int
    note: str = ""
    vague: bool = False
    log_likelihood: float = math.nan
    covariance: Array | None = None


def binomial_log_likelihood(sets: RiskSets, hazards: Array) -> float:
    """Σ kept ln h + (tested − kept) ln(1 − h) over positions."""
    from scipy.special import xlog1py, xlogy

    rejected = np.maximum(sets.tested - sets.kept, 0.0)
    return float(np.sum(xlogy(sets.kept, hazards) + xlog1py(rejected, -hazards)))


def fit_iid(sets: RiskSets) -> ModelFit:
    """α̂ = Σ kept/Σ tested."""
    trials = float(sets.tested.sum())
    alpha = min(float(sets.kept.sum()) / trials, 1.0)
    size = sets.tested.size
    return ModelFit(
        "iid",
        IID(alpha),
        ("alpha",),
        np.array([alpha]),
        np.full((1, size), 1.0 / trials),
        np.full(size, alpha),
        lambda p: IID(_probability(p[0])),
        1,
    )


def fit_per_position(sets: RiskSets) -> ModelFit:
    """h_j = kept_j/tested_j, up to the last position that was tested; S is 0 beyond it."""
    reached = int(np.count_nonzero(sets.tested))
    hazards = np.minimum(sets.kept[:reached] / sets.tested[:reached], 1.0)
    full = np.zeros(sets.tested.size)
    full[:reached] = hazards
    # Where nothing reached a position of the measured depth, nothing was kept before it either.
    beyond = (0.0,) * (0 if sets.depth is None else sets.depth - reached)
    influence = np.zeros((reached, sets.tested.size))
    influence[np.arange(reached), np.arange(reached)] = 1.0 / sets.tested[:reached]
    return ModelFit(
        "per_position",
        PerPosition((*hazards.tolist(), *beyond)),
        tuple(f"h{j + 1}" for j in range(reached)),
        hazards,
        influence,
        full,
        lambda p: PerPosition((*np.clip(p, 0.0, 1.0).tolist(), *beyond)),
        reached,
    )


def fit_renewal(sets: RiskSets) -> ModelFit:
    """u = Σ_{j=2..K} S_j/Σ_{j=1..K−1} S_j and v from S_1 = s_1, from counts at one depth K.

    v moves with s_1 and u through :func:`restart_acceptance`; derivatives by central differences.
    """
    u, v, first = renewal_parameters(sets)
    depth = int(sets.depth or 0)
    size = sets.tested.size
    later = float(sets.tested[1:].sum())
    note = ""
    if u >= 1.0 and first < 1.0:
        # Runs that never end have no share of cycles; half a rejection ends them.
        u = 1.0 - 0.5 / (later + 1.0)
        v = min(restart_acceptance(u, first, depth), 1.0)
        note = "no second unit was ever rejected: half a rejection was counted"
    elif restart_acceptance(u, first, depth) > 1.0 + 1e-12:
        note = "v would exceed 1 and was set to 1"
    basic = np.zeros((2, size))
    if later > 0:
        basic[0, 1:] = 1.0 / later
    basic[1, 0] = 1.0 / float(sets.tested[0])
    gradient = central_differences(
        lambda p: np.array([restart_acceptance(p[0], p[1], depth)]), np.array([u, first]), 0.0, 1.0
    )[0]
    hazards = np.full(size, u)
    hazards[0] = first
    return ModelFit(
        "markov_renewal",
        MarkovRenewal(u, v),
        ("u", "v"),
        np.array([u, v]),
        np.array([basic[0], gradient @ basic]),
        hazards,
        lambda p: MarkovRenewal(_probability(p[0]), _probability(p[1])),
        2,
        note,
    )


def fit_delayed(sets: RiskSets) -> ModelFit:
    """j0 = leading positions never rejected, then one α for the rest."""
    rejected = (sets.tested - sets.kept > 1e-9 * np.maximum(sets.tested, 1.0)) | (sets.tested == 0)
    sure = int(np.argmax(rejected)) if rejected.any() else sets.tested.size
    trials = float(sets.tested[sure:].sum())
    if trials == 0:
        raise NotIdentifiableError(
            "delayed_geometric needs a rejection to tell α from sure units; every tested unit was "
            "kept"
        )
    alpha = min(float(sets.kept[sure:].sum()) / trials, 1.0)
    influence = np.zeros((1, sets.tested.size))
    influence[0, sure:] = 1.0 / trials
    hazards = np.full(sets.tested.size, alpha)
    hazards[:sure] = 1.0
    return ModelFit(
        "delayed_geometric",
        DelayedGeometric(sure, alpha),
        ("alpha",),
        np.array([alpha]),
        influence,
        hazards,
        lambda p: DelayedGeometric(sure, _probability(p[0])),
        2,
        f"{sure} sure units",
    )


def fit_beta(sets: RiskSets) -> ModelFit:
    """Maximum likelihood of h_j = (a + j − 1)/(a + b + j − 1), j = 1 …

    In mean m = a/(a+b) and r = 1/(a+b): h_j = (m + (j−1) r)/(1 + (j−1) r), r = 0 is i.i.d.
    """
    from scipy.optimize import minimize

    _require_positions(sets, "beta", 2)
    steps = np.arange(float(sets.tested.size))

    def hazards_of(p: Array) -> Array:
        mean, narrow = 1.0 / (1.0 + np.exp(-p[0])), np.exp(p[1])
        return np.asarray((mean + steps * narrow) / (1.0 + steps * narrow))

    def descent(p: Array) -> tuple[float, Array]:
        # ∂h = (1−m)/(1+s r) · (m, s r/(1+s r)) with s = j − 1.
        hazards, mean, narrow = hazards_of(p), 1.0 / (1.0 + np.exp(-p[0])), np.exp(p[1])
        inside = np.clip(hazards, 1e-12, 1.0 - 1e-12)
        score = (sets.kept - hazards * sets.tested) / (inside * (1.0 - inside))
        score = score * (1.0 - mean) / (1.0 + steps * narrow)
        slopes = [mean * score, steps * narrow / (1.0 + steps * narrow) * score]
        value = -binomial_log_likelihood(sets, hazards) / sets.cycles
        return value, -np.array([float(slope.sum()) for slope in slopes]) / sets.cycles

    alpha = float(sets.kept.sum()) / float(sets.tested.sum())
    lowest = math.log(_NARROWEST)
    point = np.array([_logit(alpha), lowest])
    # Where the likelihood falls as the beta widens from i.i.d., i.i.d. is its maximum.
    if float(steps @ (sets.kept - alpha * sets.tested)) > 0.0:
        start = np.array([_logit(float(sets.kept[0]) / float(sets.tested[0])), -2.0])
        bounds = [(-20.0, 20.0), (lowest, 12.0)]
        point = minimize(descent, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    at_end = math.exp(point[1]) < 1e-4

    def model_of(p: Array) -> Beta:
        spread = math.exp(min(max(p[1], lowest), 12.0))
        mean = 1.0 / (1.0 + math.exp(-p[0]))
        return Beta(mean / spread, (1.0 - mean) / spread)

    model = model_of(point)
    influence = _score_influence(sets, hazards_of, point, fixed=(1,) if at_end else ())
    # From (logit m, ln r) to (a, b).
    mean = model.a / (model.a + model.b)
    total = model.a + model.b
    jacobian = total * mean * (1 - mean) * np.array([[1.0, 0.0], [-1.0, 0.0]])
    jacobian[:, 1] = [-model.a, -model.b]
    return ModelFit(
        "beta",
        model,
        ("a", "b"),
        np.array([model.a, model.b]),
        jacobian @ influence,
        hazards_of(point),
        lambda p: Beta(max(float(p[0]), 1e-12), max(float(p[1]), 1e-12)),
        2,
        "the beta narrows to i.i.d.: hazards do not rise" if at_end else "",
        at_end,
    )


def fit_mixture(sets: RiskSets) -> ModelFit:
    """Two i.i.d. components, S(j) = g α_1^j + (1 − g) α_2^j, by maximum likelihood."""
    from scipy.optimize import minimize

    _require_positions(sets, "mixture", 3)
    steps = np.arange(float(sets.tested.size) + 1.0)

    def hazards_of(p: Array) -> Array:
        share, one, two = 1.0 / (1.0 + np.exp(-np.asarray(p)))
        survival = share * one**steps + (1.0 - share) * two**steps
        ratio: Array = np.divide(
            survival[1:], survival[:-1], out=np.zeros(steps.size - 1), where=survival[:-1] > 0
        )
        return np.clip(ratio, 1e-12, 1.0 - 1e-12)

    alpha = _logit(float(sets.kept.sum()) / float(sets.tested.sum()))
    found = min(
        (
            minimize(
                lambda p: -binomial_log_likelihood(sets, hazards_of(p)) / sets.cycles,
                np.array([share, alpha + apart, alpha - apart]),
                bounds=[(-12.0, 12.0)] * 3,
                method="L-BFGS-B",
            )
            for share, apart in ((0.0, 0.5), (-1.0, 2.0), (1.0, 2.0))
        ),
        key=lambda result: float(result.fun),
    )
    values = 1.0 / (1.0 + np.exp(-found.x))
    influence = values[:, None] * (1.0 - values[:, None])
    influence = influence * _score_influence(sets, hazards_of, found.x)

    def model_of(p: Array) -> Mixture:
        share, one, two = (_probability(value) for value in p)
        return Mixture((share, 1.0 - share), (IID(one), IID(two)))

    same = abs(float(values[1] - values[2])) < 1e-2
    return ModelFit(
        "mixture",
        model_of(values),
        ("weight", "alpha1", "alpha2"),
        values,
        influence,
        hazards_of(found.x),
        model_of,
        3,
        "both components are alike: hazards do not rise" if same else "",
        same,
    )


def central_differences(
    function: Callable[[Array], Array], point: Array, low: float = -math.inf, high: float = math.inf
) -> Array:
    """Jacobian by central differences; one-sided at the ends of [low, high]."""
    columns = []
    for i in range(point.size):
        step = 1e-6 * max(1.0, abs(float(point[i])))
        up, down = point.copy(), point.copy()
        up[i], down[i] = min(point[i] + step, high), max(point[i] - step, low)
        columns.append((function(up) - function(down)) / (up[i] - down[i]))
    return np.array(columns).T


def _score_influence(
    sets: RiskSets, hazards_of: Callable[[Array], Array], point: Array, fixed: tuple[int, ...] = ()
) -> Array:
    """(Jᵀ W T J)⁻¹ Jᵀ W with W = 1/(h(1−h)): residuals to maximum-likelihood parameters.

    A direction the likelihood does not see has no influence (pseudo-inverse).
    """
    hazards = hazards_of(point)
    jacobian = central_differences(hazards_of, point)
    jacobian[:, list(fixed)] = 0.0
    weight = 1.0 / np.maximum(hazards * (1.0 - hazards), 1e-12)
    information = jacobian.T @ ((weight * sets.tested)[:, None] * jacobian)
    inverse = np.linalg.pinv(information, rcond=1e-12, hermitian=True)
    influence: Array = inverse @ (jacobian * weight[:, None]).T
    return influence


def _require_positions(sets: RiskSets, kind: str, least: int) -> None:
    reached = int(np.count_nonzero(sets.tested))
    if reached < least:
        raise NotIdentifiableError(
            f"{kind} needs {least} tested positions or more, got {reached}; run a deeper draft"
        )


def _probability(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)


def _logit(value: float) -> float:
    inside = min(max(value, 1e-6), 1.0 - 1e-6)
    return math.log(inside / (1.0 - inside))
