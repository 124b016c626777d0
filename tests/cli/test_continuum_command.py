"""``ensctl continuum``: formulas and samples in, a promise out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]
_TASK = ("continuum", "--target", "sin(6*x)", "--interval", "0.1:0.9", "--horizon", "10")


def test_summary_and_json(ensctl: Call) -> None:
    run = ensctl(*_TASK, "--tolerance", "1e-2")
    assert (run.code, run.err) == (0, "")
    assert "least energy 569.52" in run.out and "proved" in run.out
    content = json.loads(ensctl(*_TASK, "--json").out)
    assert content["sup_error"] == pytest.approx(5.99e-7, rel=1e-3)
    assert content["rigorous"] is True and len(content["inputs"]) == 10


def test_negative_interval_and_options(ensctl: Call) -> None:
    run = ensctl("continuum", "-t", "abs(x)", "-i", "-1:1", "-H", "3", "--json")
    assert json.loads(run.out)["sup_error"] == pytest.approx(0.125, abs=1e-9)
    run = ensctl(*_TASK, "--gain", "1+x", "--x0", "1", "--json")
    assert json.loads(run.out)["sup_error"] == pytest.approx(1.391725e-6, rel=1e-4)
    run = ensctl(*_TASK, "--u-max", "10", "--json")
    assert json.loads(run.out)["peak"] <= 10.0


def test_files(ensctl: Call, tmp_path: Path) -> None:
    names = ["plan.json", "plan.csv", "plan.png", "plan.html"]
    options = [part for name in names for part in ("-o", str(tmp_path / name))]
    run = ensctl(*_TASK, "--tolerance", "0.1", *options)
    assert run.code == 0 and sorted(p.name for p in tmp_path.iterdir()) == sorted(names)
    assert "<svg" in (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert ensctl(*_TASK, "-o", "-").out.startswith("time,u\n")


def test_samples(ensctl: Call, tmp_path: Path) -> None:
    path = tmp_path / "target.csv"
    path.write_text("lam,target\n" + "".join(f"{k / 20},{(k / 20) ** 2}\n" for k in range(21)))
    run = ensctl("continuum", "-t", str(path), "-i", "0:1", "-H", "6", "--json")
    content = json.loads(run.out)
    assert content["sup_error"] < 1e-2 and content["rigorous"] is False
    path.write_text("lam,target\n0,1\n1,x\n")
    run = ensctl("continuum", "-t", str(path), "-i", "0:1", "-H", "6")
    assert run.code == 1 and "line 3" in run.err


def test_out_of_reach_is_exit_3_and_no_file(ensctl: Call, tmp_path: Path) -> None:
    place = tmp_path / "plan.json"
    run = ensctl(*_TASK[:-1], "5", "--tolerance", "1e-2", "-o", str(place))
    assert (run.code, run.out) == (3, "") and not place.exists()
    assert "best error 0.0322283 in 5 steps" in run.err and "that does it is 6" in run.err


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--interval", "0.1"), "interval"),
        (("--interval", "0.9:0.1"), "low < high"),
        (("--interval", "0.1:nan"), "interval"),
        (("--target", "import os"), "formula"),
        (("--target", "open(x)"), "formula"),
        (("--target", "1/x", "--interval", "0:1"), "λ = 0"),
        (("--target", "nowhere.csv"), "nowhere.csv"),
        (("--horizon", "0"), "horizon"),
        (("--horizon", "inf"), "horizon"),
        (("--tolerance", "0"), "tolerance"),
        (("--tolerance", "x"), "tolerance"),
        (("--objective", "speed"), "objective"),
        (("--u-max", "-1"), "u_max"),
        (("-o", "plan.gif"), "output"),
        (("-o", "no/such/plan.json"), "path"),
    ],
)
def test_wrong_values_are_one_line_and_exit_1(
    ensctl: Call, options: tuple[str, ...], named: str
) -> None:
    run = ensctl(*_TASK, *options)
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("ensctl: ") and run.err.count("\n") == 1
    assert named in run.err
