"""Every printed number has a verdict, and the verdict follows the formulas of the package."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensctl import drafting
from ensctl.drafting import IID, LinearCost, MarkovRenewal
from ensctl.errors import InvalidInputError
from ensctl.papers import ClaimVerdict, Paper, Recomputation, check_claim, claims, formulas

_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:\\?%)?")
_ELSEWHERE = "#References"

Verdicts = dict[str, tuple[ClaimVerdict, Any]]


def verdicts() -> Verdicts:
    results = [check_claim(claim) for claim in claims()]
    return {result.claim.name: (result.verdict, result.value) for result in results}


@pytest.fixture(scope="module")
def untouched() -> Verdicts:
    return verdicts()


def test_names_are_unique_and_every_function_is_public(untouched: Verdicts) -> None:
    every = claims()
    assert len(untouched) == len(every)
    for claim in every:
        if claim.recomputation is not None:
            room, _, name = claim.recomputation.function.rpartition(".")
            assert callable(getattr(import_module(room), name))
            assert not name.startswith("_")


def test_the_verdicts(untouched: Verdicts) -> None:
    def named(verdict: ClaimVerdict) -> set[str]:
        return {name for name, (found, _) in untouched.items() if found is verdict}

    assert named(ClaimVerdict.ARITHMETIC_SLIP) == {
        "a-triple",
        "a-triple-ratio",
        "a-triple-ratio-printed",
        "b-product-6",
    }
    assert named(ClaimVerdict.NOT_AS_STATED) == {
        "b-break-even-below",
        "b-break-even-above",
        "b-one-over-n",
    }
    assert named(ClaimVerdict.PROJECTION) == {
        "b-projected-length",
        "b-projected-cost",
        "b-projected-throughput",
    }
    assert named(ClaimVerdict.NOT_CHECKABLE) == {"b-script", "b-mcs", "b-trl"}
    assert named(ClaimVerdict.DEPENDS_ON_CONVENTION) == {
        "a-tail",
        "a-k-star",
        "a-s-star",
        "a-single-abstract",
        "a-pair-abstract",
        "a-percent-abstract",
        "a-a1",
        "b-bounded",
        "b-length-formula",
        "b-length-in-words",
        "b-k-star",
        "b-t-max-words",
        "b-t-max",
        "b-unit-cost",
        "b-bracket",
        "b-vandermonde",
        "b-mixture",
    }


def test_the_slips_to_every_digit(untouched: Verdicts) -> None:
    # 1 − .4³ = .936; (1 − .936⁴)/.064/1.6 and the same over (1 − .6⁴)/.4/1.2, in fractions.
    assert untouched["a-triple"][1] == pytest.approx(2.27007616, abs=1e-14)
    assert untouched["a-triple-ratio"][1] == pytest.approx(2.27007616 / (2.176 / 1.2), abs=1e-13)
    assert untouched["b-product-6"][1] == pytest.approx(
        0.117649 * (1.6 * -math.log(0.7) + 0.1), abs=1e-14
    )


def test_every_number_of_the_collection_is_claimed_or_an_input(
    reference: Callable[[str], Any],
) -> None:
    collected = reference("ensemble_drafting_papers")
    for paper in Paper:
        printed = {_bare(claim.printed) for claim in claims() if claim.paper is paper}
        assert [n for n in collected["numbers"][paper.value] if _bare(n) not in printed] == []


@pytest.mark.parametrize(
    ("paper", "name"),
    [("A", "000_f9eed0faefd26a22.txt"), ("B", "001_c780d9f66777e87b.txt")],
)
def test_every_number_of_the_text_is_in_the_collection(
    paper: str, name: str, real_data: Callable[[str], Path], reference: Callable[[str], Any]
) -> None:
    text = real_data(f"../seeds/{name}").read_text(encoding="utf-8").split(_ELSEWHERE)[0]
    collected = reference("ensemble_drafting_papers")
    known = {_bare(number) for kind in ("numbers", "inputs") for number in collected[kind][paper]}
    known |= set(collected["no_claims"])
    # TeX commands such as \approx stand right before a number.
    spaced = re.sub(r"\\[a-z]+", " ", text)
    found = {_bare(number.replace("\\", "")) for number in _NUMBER.findall(spaced)}
    assert len(found) > 15
    assert found - known == set()


def _bare(text: str) -> str:
    return text.strip("≈<>…% ")


_GEOMETRIC_PLACES = ("ensctl.drafting.acceptance", "ensctl.drafting.convert_length")


def _lengths(patch: pytest.MonkeyPatch) -> None:
    for place in _GEOMETRIC_PLACES:
        module = import_module(place)
        original = module.geometric_sum
        patch.setattr(module, "geometric_sum", lambda a, n, f=original: 1.01 * f(a, n))


def _everything_is_accepted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(IID, "expected_length", lambda self, depth, convention=None: float(depth))
    patch.setattr(
        IID, "expected_lengths", lambda self, depth, convention=None: np.arange(depth + 1.0)
    )
    patch.setattr(drafting, "expected_length", lambda alpha, depth, convention=None: 0.0 * depth)


def _powers(patch: pytest.MonkeyPatch) -> None:
    original = IID.survival
    patch.setattr(IID, "survival", lambda self, depth: original(self, depth) ** 1.01)


def _costs(patch: pytest.MonkeyPatch) -> None:
    original = LinearCost._costs
    patch.setattr(LinearCost, "_costs", lambda self, k, b, c: original(self, k, b, c) + 0.1 * k)


def _pools(patch: pytest.MonkeyPatch) -> None:
    module = import_module("ensctl.drafting.pooled_acceptance")
    original = module._independent
    patch.setattr(module, "_independent", lambda hits: 0.99 * original(hits))


def _break_even(patch: pytest.MonkeyPatch) -> None:
    original = drafting.break_even_cost
    patch.setattr(drafting, "break_even_cost", lambda *a, **k: 1.01 * original(*a, **k))


def _continuous(patch: pytest.MonkeyPatch) -> None:
    module = import_module("ensctl.drafting.continuous_optimum")
    original = module._depth
    patch.setattr(module, "_depth", lambda *a: original(*a) + 3.0)


def _deviations(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        drafting, "mean_standard_deviation", lambda std, count, correlation=0.0: std / count
    )


def _determinants(patch: pytest.MonkeyPatch) -> None:
    module = import_module("ensctl.papers.formulas")
    original = module.log_determinant
    patch.setattr(
        module, "log_determinant", lambda lam: original([node + i for i, node in enumerate(lam)])
    )


def _reachability(patch: pytest.MonkeyPatch) -> None:
    module = import_module("ensctl.papers.statements")
    original = module.Ensemble

    def exchanged(lam: Any) -> Any:
        """Distinct λ where some are equal, equal ones where they are distinct."""
        repeated = len(set(lam)) < len(lam)
        return original([0.1 * (i + 1) if repeated else 0.5 for i in range(len(lam))])

    patch.setattr(module, "Ensemble", exchanged)


def _memory(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        MarkovRenewal, "expected_length", lambda self, depth, convention=None: depth + 1.0
    )


def _logarithms(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(formulas, "decay", lambda alpha: 1.0 - alpha)


def _divisions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(formulas, "quotient", lambda first, second: second / first)


def _stationarity(patch: pytest.MonkeyPatch) -> None:
    original = formulas.stationarity_factor
    patch.setattr(formulas, "stationarity_factor", lambda *a, **k: 1.01 * original(*a, **k))


def _five_is_best(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        drafting,
        "throughput",
        lambda acceptance, cost, depth, convention: 1.0 / (1.0 + abs(depth - 5)),
    )


def _four_is_best(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        drafting,
        "throughput",
        lambda acceptance, cost, depth, convention: 1.0 / (1.0 + abs(depth - 4)),
    )


_MUTATIONS: dict[Callable[[pytest.MonkeyPatch], None], set[str]] = {
    _lengths: {"b-length-4", "b-throughput-5", "b-projected-length", "b-product-5"},
    _everything_is_accepted: {"a-k-star", "b-k-star", "a-a3", "b-growing-cost", "b-product-falls"},
    _powers: {"a-s-star", "b-power-3", "b-rejection-6", "b-power-5"},
    _costs: {"b-cost-3", "b-throughput-6", "a-overhead", "a-ratio", "b-unit-cost"},
    _pools: {"a-pooled", "a-miss", "a-pair", "a-ratio", "a-formula", "a-percent"},
    _break_even: {"b-break-even"},
    _continuous: {"b-bracket"},
    _deviations: {
        "b-error",
        "b-error-long",
        "b-factor",
        "b-root-n",
        "b-one-over-n",
        "b-correlated",
    },
    _determinants: {"b-determinant-2", "b-singular-2"},
    _reachability: {"b-distinct", "b-reachable-2", "b-locked-2"},
    _memory: {"a-a1"},
    _logarithms: {"b-decay", "b-slope", "b-intercept", "b-product-5"},
    _divisions: {"a-ratio-printed"},
    _stationarity: {"b-factor-5", "b-factor-6", "b-product-5"},
    _five_is_best: {"b-break-even-below", "b-break-even-sides"},
    _four_is_best: {"b-break-even-above", "b-k-star-formula"},
}


@cache
def _verdicts_after(mutate: Callable[[pytest.MonkeyPatch], None]) -> Verdicts:
    with pytest.MonkeyPatch.context() as patch:
        mutate(patch)
        return verdicts()


@pytest.mark.parametrize("mutate", _MUTATIONS, ids=lambda mutate: mutate.__name__.strip("_"))
def test_a_changed_formula_changes_the_verdicts(
    mutate: Callable[[pytest.MonkeyPatch], None], untouched: Verdicts
) -> None:
    changed = _verdicts_after(mutate)
    assert {name for name in _MUTATIONS[mutate] if changed[name][0] is untouched[name][0]} == set()


def test_no_claim_is_its_own_answer(untouched: Verdicts) -> None:
    """Each recomputed value moves when some formula does."""
    moved = set()
    for mutate in _MUTATIONS:
        changed = _verdicts_after(mutate)
        moved |= {name for name in changed if changed[name] != untouched[name]}
    still = {name for name, (_, value) in untouched.items() if value is not None} - moved
    assert still == set()


def test_printed_values_are_no_inputs() -> None:
    """Printed numbers enter only where the claim is about printed numbers."""
    about_printed = {"a-ratio-printed", "a-triple-ratio-printed", "b-factor-5", "b-factor-6"}
    for claim in claims():
        if claim.recomputation is None or claim.name in about_printed:
            continue
        given = {v for v in claim.recomputation.inputs.values() if isinstance(v, float)}
        assert not any(len(f"{value:.12g}") > 6 for value in given), claim.name


def test_recomputation_is_looked_up_when_it_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Recomputation("ensctl.drafting.throughput", {"acceptance": 0.5, "cost": 0.0, "depth": 1})
    assert call.value() == 1.5
    monkeypatch.setattr(drafting, "throughput", lambda **inputs: inputs["depth"])
    assert call.with_inputs({"depth": 3}).value() == 3


@pytest.mark.parametrize(
    "function", ["numpy.mean", "ensctl.drafting.nothing", "ensctl.nowhere.x", "x"]
)
def test_unknown_functions_are_refused(function: str) -> None:
    with pytest.raises(InvalidInputError, match="function must"):
        Recomputation(function, {}).value()
