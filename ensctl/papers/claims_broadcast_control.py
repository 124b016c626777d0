"""Paper B: lengths, costs and throughput at α = .7, c_d = .1 (its steps 1 to 4 and 6).

Its E[L] = (1 − α^K)/(1 − α) counts the correction after a rejection and no bonus ("committed");
its words define L as the accepted tokens before the first rejection ("accepted").
"""

from __future__ import annotations

from typing import Any

from ensctl.papers.claim import Claim, Paper
from ensctl.papers.recomputation import Recomputation

_ALPHA, _COST = 0.7, 0.1
_GRID = [3, 4, 5, 6]
_OTHERS = ("accepted", "with_bonus")


def _formula(name: str, **inputs: Any) -> Recomputation:
    return Recomputation(f"ensctl.papers.formulas.{name}", inputs)


def _statement(name: str, **inputs: Any) -> Recomputation:
    return Recomputation(f"ensctl.papers.statements.{name}", inputs)


def _length(depth: int, alpha: float = _ALPHA) -> Recomputation:
    inputs = {"alpha": alpha, "depth": depth, "convention": "committed"}
    return Recomputation("ensctl.drafting.expected_length", inputs)


def _throughput(depth: int, alpha: float = _ALPHA) -> Recomputation:
    inputs = {"acceptance": alpha, "cost": _COST, "depth": depth, "convention": "committed"}
    return Recomputation("ensctl.drafting.throughput", inputs)


def _break_even(depth: int, deeper: int) -> Recomputation:
    inputs = {"acceptance": _ALPHA, "depth": depth, "deeper": deeper, "convention": "committed"}
    return Recomputation("ensctl.drafting.break_even_cost", inputs)


def _under(call: Recomputation, *conventions: str) -> dict[str, Recomputation]:
    return {name: call.with_inputs({"convention": name}) for name in conventions}


def _claim(
    name: str, where: str, statement: str, printed: str, call: Recomputation, **more: Any
) -> Claim:
    return Claim(f"b-{name}", Paper.B, where, statement, printed, call, **more)


_BEST = _formula("best_depth", alpha=_ALPHA, draft=_COST, depths=_GRID, convention="committed")
_ANY = _formula("best_throughput_depth", alpha=_ALPHA, draft=_COST, convention="committed")
_TOP = _formula("best_throughput", alpha=_ALPHA, draft=_COST, convention="committed")
_UNIT = _formula("cost_per_unit", alpha=_ALPHA, draft=_COST, depth=5, convention="committed")


def _grid_line(
    depth: int,
    power: str,
    rest: str,
    length: str,
    cost: str,
    exact: str | None,
    rounded: str,
    also: str = "",
    closing: str = "",
) -> tuple[Claim, ...]:
    """The printed chain α^K, 1 − α^K, E[L], C, T of one depth."""
    step = "§4 steps 1–3" if depth == 4 else "§4 step 4"
    at = f" at K = {depth}"
    powers = f"{step}, step 5" if depth > 4 else step
    throughputs = f"{step}, 4{also}" if depth == 4 else step + (also or "; §5.2")
    throughputs += closing
    chain = [
        _claim(
            f"power-{depth}",
            powers,
            f"α^K{at}",
            power,
            _formula("acceptance_power", alpha=_ALPHA, depth=depth),
        ),
        _claim(
            f"rejection-{depth}",
            step,
            f"1 − α^K{at}",
            rest,
            _formula("rejection_within", alpha=_ALPHA, depth=depth),
        ),
        _claim(f"length-{depth}", step + also, f"E[L]{at}", length, _length(depth)),
        _claim(
            f"cost-{depth}",
            step + also,
            f"C{at}",
            cost,
            _formula("cycle_cost", draft=_COST, depth=depth),
        ),
        _claim(f"throughput-{depth}", throughputs, f"T{at}", rounded, _throughput(depth)),
    ]
    if exact:
        chain.insert(
            -1,
            _claim(f"throughput-{depth}-long", step, f"T{at}, longer", exact, _throughput(depth)),
        )
    return tuple(chain)


BROADCAST_CONTROL = (
    _claim(
        "bounded",
        "§3.4",
        "cycle length bounded by K",
        "bounded by K",
        _statement("length_bounded", depth=4, convention="committed"),
        readings={"with_bonus": _statement("length_bounded", depth=4, convention="with_bonus")},
        words=True,
        note="engines emit K + 1 units after a full acceptance",
    ),
    _claim(
        "length-formula",
        "§1; §4 step 1; §6",
        "E[accepted tokens] = (1 − α^K)/(1 − α)",
        "for every K",
        _statement("length_formula_holds", deepest=12, convention="committed"),
        readings={
            name: _statement("length_formula_holds", deepest=12, convention=name)
            for name in _OTHERS
        },
        words=True,
    ),
    _claim("miss", "§4 step 1", "1 − α", "0.3", _formula("miss_of_all", alpha=_ALPHA, count=1)),
    _claim(
        "length-in-words",
        "§4 step 1",
        "E[accepted tokens] at K = 4",
        "2.533",
        _length(4),
        readings=_under(_length(4), "accepted"),
        note="the formula counts min(accepted + 1, K)",
    ),
    *_grid_line(4, "0.2401", "0.7599", "2.533", "1.4", None, "≈1.8093", "; §5.1; §8"),
    *_grid_line(3, "0.343", "0.657", "2.19", "1.3", "1.684615…", "≈1.6846"),
    *_grid_line(5, "0.16807", "0.83193", "2.7731", "1.5", "1.848733…", "≈1.8487", "; §5.2", "; §8"),
    *_grid_line(6, "0.117649", "0.882351", "2.94117", "1.6", "1.838231…", "≈1.8382"),
    _claim("k-star-formula", "§4 step 4", "argmax of T over K = 3 … 6", "5", _BEST),
    _claim(
        "k-star",
        "§5.2; §7a; §7e; §8",
        "K* = 5 is the depth to adopt",
        "5",
        _ANY,
        readings=_under(_ANY, *_OTHERS),
    ),
    _claim("break-even", "§4 step 6; §5.4", "c_d* with T_5 = T_4", "≈0.1527", _break_even(4, 5)),
    _claim(
        "break-even-sides",
        "§4 step 6",
        "which of 4 and 5 wins beside c_d*",
        "5 below, 4 above",
        _statement("sides_of_break_even", alpha=_ALPHA, pair=[4, 5], below=0.1526, above=0.1528),
        words=True,
    ),
    _claim(
        "break-even-below",
        "§5.4",
        "for c_d < .1527 depth K = 5 is optimal",
        "optimal",
        _statement("best_throughout", alpha=_ALPHA, depth=5, depths=_GRID, costs=[0.05, 0.1, 0.15]),
        beside={"K = 6 wins below c_d": _break_even(5, 6)},
        words=True,
    ),
    _claim(
        "break-even-above",
        "§5.4",
        "for c_d > .1527 depth K = 4 is optimal",
        "optimal",
        _statement(
            "best_throughout", alpha=_ALPHA, depth=4, depths=_GRID, costs=[0.16, 0.25, 0.35]
        ),
        beside={"K = 3 wins above c_d": _break_even(3, 4)},
        words=True,
    ),
    _claim(
        "projected-length",
        "§5 projection",
        "E[L] at α = .5, K = 4",
        "1.875",
        _length(4, 0.5),
        projection=True,
    ),
    _claim(
        "projected-cost",
        "§5 projection",
        "C at K = 4",
        "1.4",
        _formula("cycle_cost", draft=_COST, depth=4),
        projection=True,
    ),
    _claim(
        "projected-throughput",
        "§5 projection",
        "T at α = .5, K = 4",
        "≈1.3393",
        _throughput(4, 0.5),
        projection=True,
    ),
    _claim(
        "t-max-words",
        "§7a",
        "“up to 1.85 accepted tokens” per pass",
        "1.85",
        _TOP,
        readings=_under(_TOP, "accepted"),
    ),
    _claim(
        "t-max",
        "§7e",
        "T_max, tokens per verifier pass",
        "≈1.85",
        _TOP,
        readings=_under(_TOP, *_OTHERS),
    ),
    _claim(
        "unit-cost",
        "§7e",
        "cost per token, 1/T_max",
        "≈0.54",
        _UNIT,
        readings=_under(_UNIT, *_OTHERS),
    ),
)
