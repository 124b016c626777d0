"""Paper B: continuous optimum, averages of estimates, and the Vandermonde matrix.

Its step 5 sets the derivative of (1 − α^K)/(K c_d + 1) to zero; the equation is not in the text,
but its numbers are those of α^K (−ln α (K c_d + 1) + c_d) = c_d.
"""

from __future__ import annotations

from typing import Any

from ensctl.papers.claim import Claim, Paper
from ensctl.papers.recomputation import Recomputation

_STEP_5 = {"alpha": 0.7, "draft": 0.1}
_ROUNDED = 0.356675
_DISTINCT = [0.2, 0.5, 0.7, 0.9]
_REPEATED = [0.2, 0.5, 0.5, 0.9]


def _formula(name: str, **inputs: Any) -> Recomputation:
    return Recomputation(f"ensctl.papers.formulas.{name}", inputs)


def _statement(name: str, **inputs: Any) -> Recomputation:
    return Recomputation(f"ensctl.papers.statements.{name}", inputs)


def _claim(
    name: str, where: str, statement: str, printed: str, call: Recomputation | None, **more: Any
) -> Claim:
    return Claim(f"b-{name}", Paper.B, where, statement, printed, call, **more)


def _continuous(convention: str) -> Recomputation:
    inputs = {"alpha": 0.7, "draft_cost": 0.1, "convention": convention}
    return Recomputation("ensctl.drafting.continuous_optimum", inputs, "depth")


def _deviation(**inputs: Any) -> Recomputation:
    return Recomputation("ensctl.drafting.mean_standard_deviation", inputs)


BROADCAST_STRUCTURE = (
    _claim("decay", "§4 step 5", "−ln α", "0.356675…", _formula("decay", alpha=0.7)),
    _claim(
        "slope", "§4 step 5", "−ln α · c_d", "0.0356675", _formula("stationarity_slope", **_STEP_5)
    ),
    _claim(
        "intercept",
        "§4 step 5",
        "−ln α + c_d",
        "0.456675",
        _formula("stationarity_intercept", **_STEP_5),
    ),
    _claim(
        "factor-5",
        "§4 step 5",
        ".0356675 · 5 + .456675",
        "0.6350125",
        _formula("stationarity_factor", **_STEP_5, depth=5, rate=_ROUNDED),
        beside={"with every digit of ln α": _formula("stationarity_factor", **_STEP_5, depth=5)},
    ),
    _claim(
        "factor-6",
        "§4 step 5",
        ".0356675 · 6 + .456675",
        "0.67068",
        _formula("stationarity_factor", **_STEP_5, depth=6, rate=_ROUNDED),
    ),
    _claim(
        "product-5",
        "§4 step 5",
        "left-hand side at K = 5",
        "0.106727…",
        _formula("stationarity_product", **_STEP_5, depth=5),
    ),
    _claim(
        "product-5-side",
        "§4 step 5",
        "it is above c_d",
        "> 0.1",
        _formula("stationarity_product", **_STEP_5, depth=5),
    ),
    _claim(
        "product-6",
        "§4 step 5",
        "left-hand side at K = 6",
        "0.078906…",
        _formula("stationarity_product", **_STEP_5, depth=6),
        beside={"from its printed factors": _formula("product", first=0.117649, second=0.67068)},
        note="the bracket stays right",
    ),
    _claim(
        "product-6-side",
        "§4 step 5",
        "it is below c_d",
        "< 0.1",
        _formula("stationarity_product", **_STEP_5, depth=6),
    ),
    _claim(
        "product-falls",
        "§4 step 5",
        "it decreases with K",
        "decreases",
        _statement("product_falls", **_STEP_5, deepest=40.0),
        words=True,
    ),
    _claim(
        "bracket",
        "§4 step 5; §5.3",
        "continuous optimum between K = 5 and 6",
        "(5, 6)",
        _continuous("committed"),
        readings={"accepted": _continuous("accepted"), "with_bonus": _continuous("with_bonus")},
    ),
    _claim("root-n", "§4 step 7", "√5", "2.2360679…", _formula("root_of_count", count=5)),
    _claim(
        "error-long", "§4 step 7", "σ/√N, σ = .3, N = 5", "0.134164…", _deviation(std=0.3, count=5)
    ),
    _claim(
        "error",
        "§4 step 7; §5.5; §8",
        "σ/√N, σ = .3, N = 5",
        "≈0.1342",
        _deviation(std=0.3, count=5),
    ),
    _claim("factor", "§4 step 7; §5.5", "1/√5", "≈0.4472", _formula("reduction_factor", count=5)),
    _claim(
        "one-over-n",
        "§8",
        "1/N reduction of the standard error",
        "1/N",
        _statement("falls_as_one_over_n", std=0.3, count=5),
        beside={"σ/N would be": _formula("quotient", first=0.3, second=5)},
        words=True,
        note="the variance falls as 1/N, the standard error as 1/√N",
    ),
    _claim(
        "correlated",
        "§6",
        "correlated errors break σ/√N",
        "break",
        _statement("correlation_breaks", std=0.3, count=5, correlation=0.15),
        beside={"r = .15 leaves": _deviation(std=0.3, count=5, correlation=0.15)},
        words=True,
    ),
    _claim(
        "vandermonde",
        "§3.5; §5.6; §8",
        "the reachability map is M, λ_j^{i−1}, up to scaling",
        "up to scaling",
        _statement("is_scaled_vandermonde", lam=_DISTINCT, reversed_time=False),
        readings={
            "with inputs in reverse order": _statement(
                "is_scaled_vandermonde", lam=_DISTINCT, reversed_time=True
            )
        },
        words=True,
        note="reversed, no scaling is needed; rank and singularity are the same",
    ),
    _claim(
        "distinct",
        "§3.5; §5.6; §8",
        "controllable in H ≥ N steps iff the λ_i are distinct",
        "iff distinct",
        _statement("reachable_iff_distinct", distinct=_DISTINCT, repeated=_REPEATED, horizon=4),
        words=True,
    ),
    _claim(
        "determinant-2",
        "§4 step 8",
        "det M = λ_2 − λ_1, here at .3 and .8",
        "0.5",
        _formula("determinant", lam=[0.3, 0.8]),
        note="λ chosen here; with columns A^{H−1}B … B the sign is the opposite",
    ),
    _claim(
        "reachable-2",
        "§4 step 8",
        "two distinct λ: controllable in H = 2 steps",
        "controllable",
        _statement("reachable", lam=[0.3, 0.8], horizon=2),
        words=True,
    ),
    _claim(
        "locked-2",
        "§4 step 8",
        "equal λ: the two states are locked together",
        "locked",
        _statement("locked", lam=[0.3, 0.3]),
        words=True,
    ),
    _claim(
        "singular-2",
        "§4 step 8",
        "equal λ: det M = 0",
        "0",
        _formula("determinant", lam=[0.3, 0.3]),
    ),
    _claim(
        "growing-cost",
        "§6; §7d",
        "a verify cost growing with K shifts K*",
        "shifts",
        _statement("verification_shifts", alpha=0.7, draft=0.1, growth=0.1),
        words=True,
    ),
    _claim(
        "mixture",
        "§7f",
        "the i.i.d. formula on mixed drafters: over-optimistic",
        "over-optimistic",
        _statement("acceptance_overrates", alpha=0.7, alphas=[0.5, 0.9], depth=5),
        readings={
            "with the α of the best drafter": _statement(
                "acceptance_overrates", alpha=0.9, alphas=[0.5, 0.9], depth=5
            )
        },
        words=True,
        note="at the mean α the formula is too low, as α^j is convex",
    ),
    _claim(
        "script",
        "Provenance",
        "a script repeats 16 claims, none differs",
        "16",
        None,
        note="it does not say which; the slip of step 5 is in its text",
    ),
    _claim(
        "mcs", "§6", "MCS of another paper", "0.875", None, note="quoted without its definition"
    ),
    _claim("trl", "§7b", "technology readiness level", "2", None, note="a judgement"),
)
