"""Paper A: acceptance of pools, optimal gains, and what would falsify them; by its quotations.

Its lengths are 1 + α + … + α^{k−1}: the correction counts, the bonus does not ("committed").  S is
the throughput, k* the best depth, ρ the cost of a drafted unit, ν = 1 that of verification.
"""

from __future__ import annotations

from typing import Any

from ensctl.papers.claim import Claim, Paper
from ensctl.papers.recomputation import Recomputation

_STRONG = {"alpha": 0.8, "draft": 0.1}
_WEAK = {"alpha": 0.5, "draft": 0.1}
_PAIR = {**_WEAK, "count": 2}
_TRIPLE = {"alpha": 0.6, "draft": 0.05, "count": 3, "depth": 4}


def _formula(name: str, **inputs: Any) -> Recomputation:
    return Recomputation(f"ensctl.papers.formulas.{name}", inputs)


def _statement(name: str, **inputs: Any) -> Recomputation:
    return Recomputation(f"ensctl.papers.statements.{name}", inputs)


def _under(call: Recomputation, *conventions: str) -> dict[str, Recomputation]:
    return {name: call.with_inputs({"convention": name}) for name in conventions}


def _pooled(alpha: float, count: int) -> Recomputation:
    return Recomputation("ensctl.drafting.pooled_acceptance", {"alphas": alpha, "count": count})


_K_STAR = _formula("best_throughput_depth", **_STRONG)
_S_STAR = _formula("best_throughput", **_STRONG)
_SINGLE = _formula("best_throughput", **_WEAK)
_TOGETHER = _formula("pooled_throughput", **_PAIR)
_GAIN = _formula("relative_improvement", **_PAIR)
_OTHERS = ("accepted", "with_bonus")

POPULATION_LEVEL = (
    Claim(
        "a-formula",
        Paper.A,
        "Abstract; §4.4",
        "α_m = 1 − (1 − α)^m for independent drafters",
        "for every m",
        _statement("pool_formula_holds", most=8),
        beside={
            "two with α = .5 correlated by .15": Recomputation(
                "ensctl.drafting.pooled_acceptance", {"alphas": [0.5, 0.5], "correlation": 0.15}
            )
        },
        words=True,
        note="for greedy targets; sampled drafts have another optimum",
    ),
    Claim(
        "a-tail",
        Paper.A,
        "§6",
        "E_k[A] = Σ α^{i−1}, the accepted units of k",
        "for every k",
        _statement("length_formula_holds", deepest=12, convention="committed"),
        {"accepted": _statement("length_formula_holds", deepest=12, convention="accepted")},
        words=True,
    ),
    Claim(
        "a-k-star",
        Paper.A,
        "Abstract",
        "k* at α = .8, ρ = .1",
        "7",
        _K_STAR,
        _under(_K_STAR, *_OTHERS),
    ),
    Claim(
        "a-s-star",
        Paper.A,
        "Abstract",
        "S at k*, α = .8, ρ = .1",
        "2.324367",
        _S_STAR,
        _under(_S_STAR, *_OTHERS),
        note="“accepted throughput” in words, the committed length in the formula",
    ),
    Claim(
        "a-pooled-abstract",
        Paper.A,
        "Abstract",
        "α_2 of two drafters with α = .5",
        "0.75",
        _pooled(0.5, 2),
    ),
    Claim(
        "a-single-abstract",
        Paper.A,
        "Abstract",
        "optimal gain of one, α = .5, ρ = .1",
        "1.346154",
        _SINGLE,
        _under(_SINGLE, *_OTHERS),
    ),
    Claim(
        "a-pair-abstract",
        Paper.A,
        "Abstract",
        "optimal gain of two at double cost",
        "1.525391",
        _TOGETHER,
        _under(_TOGETHER, *_OTHERS),
    ),
    Claim(
        "a-percent-abstract",
        Paper.A,
        "Abstract",
        "relative gain of two over one",
        "13.3 %",
        _GAIN,
        _under(_GAIN, *_OTHERS),
        note="the ratio itself is another under another counting",
    ),
    Claim(
        "a-miss",
        Paper.A,
        "§4.4",
        "(1 − .5)² in α_2 = 1 − .25",
        "0.25",
        _formula("miss_of_all", alpha=0.5, count=2),
    ),
    Claim("a-pooled", Paper.A, "§4.4", "α_2 = 1 − (1 − .5)²", "0.75", _pooled(0.5, 2)),
    Claim(
        "a-cost-doubles",
        Paper.A,
        "§4.4",
        "draft cost of two, ρ_2",
        "0.2",
        _formula("draft_overhead", draft=0.1, depth=1, count=2),
    ),
    Claim("a-single", Paper.A, "§4.4", "S of one drafter at its k*", "1.346154", _SINGLE),
    Claim("a-pair", Paper.A, "§4.4", "S of two drafters at their k*", "1.525391", _TOGETHER),
    Claim(
        "a-ratio", Paper.A, "§4.4", "S_ens/S_single", "1.133147", _formula("relative_gain", **_PAIR)
    ),
    Claim(
        "a-ratio-printed",
        Paper.A,
        "§4.4",
        "the same from the printed 1.525391/1.346154",
        "1.133147",
        _formula("quotient", first=1.525391, second=1.346154),
    ),
    Claim("a-percent", Paper.A, "§4.4", "relative gain", "13.3 %", _GAIN),
    Claim(
        "a-triple",
        Paper.A,
        "§4.5",
        "S of three, α = .6, ρ = .05, k = 4",
        "2.270076473",
        _formula("pooled_throughput", **_TRIPLE),
        beside={"α_3": _pooled(0.6, 3)},
        note="right to six decimals, wrong beyond",
    ),
    Claim(
        "a-triple-single",
        Paper.A,
        "§4.5",
        "S of one, α = .6, ρ = .05, k = 4",
        "1.813333",
        _formula("pooled_throughput", **{**_TRIPLE, "count": 1}),
    ),
    Claim(
        "a-triple-ratio",
        Paper.A,
        "§4.5",
        "S_rel of three over one at k = 4",
        "1.251877",
        _formula("relative_gain", **_TRIPLE),
        beside={"both at their own k*": _formula("relative_gain", **{**_TRIPLE, "depth": None})},
    ),
    Claim(
        "a-triple-ratio-printed",
        Paper.A,
        "§4.5",
        "the same from the printed 2.270076473/1.813333",
        "1.251877",
        _formula("quotient", first=2.270076473, second=1.813333),
        note="a second slip: the printed division does not give it either",
    ),
    Claim(
        "a-overhead",
        Paper.A,
        "§4.5",
        "draft overhead m ρ k in verifier passes",
        "0.6",
        _formula("draft_overhead", draft=0.05, depth=4, count=3),
    ),
    Claim(
        "a-r2",
        Paper.A,
        "§6",
        "R2: pooled gain above 1.0 at α near .5",
        "> 1.0",
        _formula("relative_gain", **_PAIR),
        _under(_formula("relative_gain", **_PAIR), *_OTHERS),
        beside={"at ρ = .2": _formula("relative_gain", alpha=0.5, draft=0.2, count=2)},
        note="at dearer drafts pooling loses",
    ),
    Claim(
        "a-a1",
        Paper.A,
        "§6",
        "A1 failing: the geometric tail overestimates E_k[A]",
        "overestimates",
        _statement("tail_overestimates", u=0.85, v=0.35, depth=5),
        {
            "at contexts that differ": _statement(
                "acceptance_overrates", alpha=0.7, alphas=[0.5, 0.9], depth=5
            )
        },
        words=True,
        note="it does for runs of hits where cycles start after a miss; a mixture of α is longer",
    ),
    Claim(
        "a-a3",
        Paper.A,
        "§6",
        "A3 failing: ν growing with k shortens k*, gains shrink",
        "shortens, shrink",
        _statement("verification_shortens", **_STRONG, growth=[0.05, 0.1, 0.3]),
        words=True,
    ),
)
