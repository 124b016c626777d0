"""``ensctl steer``: targets from numbers and files, what goes where, and the answer no."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ensctl as ec

Call = Callable[..., Any]

# λ = (0.3, 0.6, 0.9), b = 1, target (1, 0, 0.5), H = 6: least energy 26.3592, least peak 2.468502.
_TASK = ("0.3", "0.6", "0.9", "--target", "1,0,0.5", "--horizon", "6")
_LEAST_ENERGY = 467661026686812500 / 17741854345908249


def _inputs(text: str) -> np.ndarray:
    return np.array([float(row["u"]) for row in csv.DictReader(io.StringIO(text))])


def test_summary_on_stdout(ensctl: Call) -> None:
    run = ensctl("steer", *_TASK)
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("optimal, certified: least energy")
    assert "energy 26.3592" in run.out and "6 steps" in run.out


def test_json_on_stdout_is_the_plan(ensctl: Call) -> None:
    run = ensctl("steer", *_TASK, "--json")
    content = json.loads(run.out, parse_constant=_refuse)
    assert (run.code, run.err) == (0, "")
    assert (content["schema"], content["kind"]) == (1, "steering_plan")
    assert content["energy"] == pytest.approx(_LEAST_ENERGY, rel=1e-12)
    assert content["certificate"]["verified"] is True and content["advice"] is None


def test_dash_prints_the_inputs_and_nothing_else(ensctl: Call) -> None:
    run = ensctl("steer", *_TASK, "-o", "-")
    assert (run.code, run.err) == (0, "")
    inputs = _inputs(run.out)
    ens = ec.Ensemble([0.3, 0.6, 0.9])
    assert np.allclose(ec.reachability_matrix(ens, 6) @ inputs, [1, 0, 0.5], rtol=0, atol=1e-13)


def test_plan_inputs_and_picture_in_files(ensctl: Call, tmp_path: Path) -> None:
    names = ("plan.json", "inputs.csv", "plan.svg")
    plan, inputs, picture = (tmp_path / name for name in names)
    run = ensctl("steer", *_TASK, "-o", str(plan), "-o", str(inputs), "--plot", str(picture))
    assert run.code == 0 and run.out.startswith("optimal")
    assert [line.rsplit("/", 1)[-1] for line in run.err.splitlines()] == list(names)
    content = json.loads(plan.read_text(encoding="utf-8"))
    assert _inputs(inputs.read_text(encoding="utf-8")).tolist() == content["inputs"]
    assert "<svg" in picture.read_text(encoding="utf-8")
    assert sorted(item.name for item in tmp_path.iterdir()) == sorted(names)


@pytest.mark.parametrize(("suffix", "head"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_picture_by_suffix(ensctl: Call, tmp_path: Path, suffix: str, head: bytes) -> None:
    picture = tmp_path / f"plan.{suffix}"
    assert ensctl("steer", *_TASK, "--plot", str(picture)).code == 0
    assert picture.read_bytes().startswith(head)


def test_objective_and_limits(ensctl: Call) -> None:
    def solved(*options: str) -> dict[str, Any]:
        return dict(json.loads(ensctl("steer", *_TASK, *options, "--json").out))

    peak = solved("--objective", "peak")
    assert peak["peak"] == pytest.approx(2.468502, abs=5e-7)
    assert solved("--objective", "fuel")["fuel"] == pytest.approx(9.8738, abs=5e-5)
    assert max(map(abs, solved("--u-max", "2.5")["inputs"])) <= 2.5
    bounded = solved("--u-min", "-2.5", "--u-max", "3")["inputs"]
    assert min(bounded) >= -2.5 and max(bounded) <= 3.0
    slewed = np.array(solved("--slew-max", "4")["inputs"])
    assert np.abs(np.diff(slewed)).max() <= 4.0 + 1e-7
    assert solved("--state-max", "3.5", "--output-max", "3")["limits"]["output_max"] == 3.0


def test_ways_to_say_how_closely(ensctl: Call) -> None:
    def error(*options: str) -> float:
        content = json.loads(ensctl("steer", *_TASK, *options, "--json").out)
        return float(content["terminal_error"])

    assert error() < 1e-14
    assert error("--tol", "0.1") == pytest.approx(0.1, abs=1e-6)
    assert 0.01 < error("--rms", "0.1") <= 0.1 * 3**0.5 + 1e-6
    assert error("--terminal-cost", "1e6") < error("--terminal-cost", "10")


@pytest.mark.parametrize("pair", [("--tol", "--rms"), ("--rms", "--terminal-cost")])
def test_ways_to_say_how_closely_exclude_each_other(ensctl: Call, pair: tuple[str, str]) -> None:
    run = ensctl("steer", *_TASK, pair[0], "1", pair[1], "1")
    assert (run.code, run.out) == (2, "") and "exclude each other" in run.err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "target\n-1\n0.5\n"),
        ("t.csv", "name;target;x0\nleft;-1;0\nright;0.5;0\n"),
        ("t.csv", 'name,target\r\n"left",-1\r\n"right",0.5\r\n'),
        ("t.txt", "# °C\n-1\n\n0.5\n"),
        ("t.json", "[-1, 0.5]"),
        ("t.json", '{"target": [-1, "0.5"], "x0": 0}'),
    ],
)
def test_target_files_mean_what_numbers_mean(
    ensctl: Call, tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    fleet = tmp_path / "fleet.csv"
    fleet.write_text("lam,name\n-0.5,left\n0.5,right\n", encoding="utf-8")
    from_numbers = ensctl("steer", "-0.5", "0.5", "--target", "-1,0.5", "-H", "8", "--json")
    from_file = ensctl("steer", str(fleet), "--target", str(path), "-H", "8", "--json")
    assert (from_file.code, from_file.err) == (0, "")
    assert from_file.out == from_numbers.out


def test_initial_state(ensctl: Call, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("target,x0\n0,1\n0,-2\n", encoding="utf-8")
    call = ("steer", "-0.5", "0.5", "-H", "4", "--json", "--target")
    assert json.loads(ensctl(*call, str(path)).out)["x0"] == [1.0, -2.0]
    assert json.loads(ensctl(*call, "0", "--x0", "-2").out)["x0"] == [-2.0, -2.0]
    # What is said by itself goes before what stands in the file of the target.
    assert json.loads(ensctl(*call, str(path), "--x0", "-1,3").out)["x0"] == [-1.0, 3.0]
    assert json.loads(ensctl(*call, "1", "--x0", str(path)).out)["x0"] == [1.0, -2.0]


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "target\n1\n", "2 members, got 1"),
        ("t.csv", "1\n2\n3\n", "2 members, got 3"),
        ("t.csv", "target\n1\nx\n", "line 3: target must be a number, got 'x'"),
        ("t.csv", "target,x0\n1,0\n2\n", "line 3: has 1 cells"),
        ("t.csv", "goal\n1\n2\n", "column 'goal' is unknown"),
        ("t.csv", "target,target\n1,1\n2,2\n", "stands twice"),
        ("t.csv", "x0\n1\n2\n", "has no target"),
        ("t.csv", "name,target\nright,1\nleft,2\n", "name must be 'left'"),
        ("t.json", "[1, 2", "is not JSON"),
        ("t.json", "[1, null]", "target must be numbers"),
        ("t.json", '{"x0": 1}', "has no target"),
        ("t.json", "[NaN, 1]", "not a finite double"),
    ],
)
def test_wrong_target_files_name_file_and_line(
    ensctl: Call, tmp_path: Path, name: str, text: str, named: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    fleet = tmp_path / "fleet.csv"
    fleet.write_text("lam,name\n-0.5,left\n0.5,right\n", encoding="utf-8")
    run = ensctl("steer", str(fleet), "--target", str(path), "-H", "8")
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith(f"ensctl: {path}") and run.err.count("\n") == 1
    assert named in run.err


def test_binary_target_file(ensctl: Call, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\x80\xff")
    run = ensctl("steer", "0.5", "--target", str(path), "-H", "2")
    assert run.code == 1 and "not UTF-8" in run.err
    run = ensctl("steer", "0.5", "--target", str(tmp_path), "-H", "2")
    assert run.code == 1 and "cannot be read" in run.err


def test_infeasible_says_who_what_and_how_much(ensctl: Call) -> None:
    run = ensctl("steer", *_TASK, "--u-max", "2")
    assert (run.code, run.err) == (3, "")
    assert run.out.startswith("infeasible, proved") and "u_max=2" in run.out
    assert "member 0" in run.out and "the smallest u_max at this horizon is 2.4685" in run.out
    content = json.loads(ensctl("steer", *_TASK, "--u-max", "2", "--json").out)
    assert content["status"] == "infeasible" and content["inputs"] is None
    assert content["certificate"]["verified"] is True
    assert "2.4685" in content["advice"]


def test_infeasible_writes_no_file_and_no_inputs(ensctl: Call, tmp_path: Path) -> None:
    places = ("-o", "-", "-o", str(tmp_path / "p.json"), "--plot", str(tmp_path / "p.svg"))
    run = ensctl("steer", *_TASK, "--u-max", "2", *places)
    assert (run.code, run.out) == (3, "")
    assert run.err.startswith("ensctl: infeasible") and run.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_not_reachable_names_the_members(ensctl: Call) -> None:
    run = ensctl("steer", "0.3", "0.3", "0.9", "--target", "1,0,0.5", "-H", "6")
    assert (run.code, run.err) == (3, "")
    assert "members 0 and 1" in run.out
    content = json.loads(
        ensctl("steer", "0.3", "0.3", "0.9", "--target", "1,0,0.5", "-H", "6", "--json").out
    )
    assert content["status"] == "not_reachable" and content["members"] == [0, 1]
    assert ensctl("steer", *_TASK[:-1], "2").code == 3
    # What the locked members share is within reach.
    assert ensctl("steer", "0.3", "0.3", "0.9", "--target", "1,1,0.5", "-H", "6").code == 0


def test_complex_members_and_real_inputs(ensctl: Call) -> None:
    call = ("steer", "0.5+0.2j", "--target", "-1+0.5j", "-H", "4", "--json")
    assert isinstance(json.loads(ensctl(*call).out)["inputs"][0], dict)
    real = json.loads(ensctl(*call, "--real-inputs").out)
    assert all(isinstance(value, float) for value in real["inputs"])
    run = ensctl("steer", "0.5+0.2j", "--target", "1", "-H", "4", "-o", "-")
    assert run.out.startswith("time,u_re,u_im\n")


def test_named_solver_is_the_one_used(ensctl: Call) -> None:
    content = json.loads(ensctl("steer", *_TASK, "--solver", "CLARABEL", "--json").out)
    assert content["solver"] == "CLARABEL"


def test_population_from_stdin(ensctl: Call) -> None:
    run = ensctl("steer", "-", "-t", "1", "-H", "4", "-b", "2", stdin=b"lam\n0.2\n0.5\n")
    assert (run.code, run.err) == (0, "")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--u-max", "-2"), "u_max"),
        (("--u-max", "nan"), "u_max"),
        (("--u-max", "x"), "u_max"),
        (("--u-min", "2", "--u-max", "1"), "u_min"),
        (("--slew-max", "0"), "slew_max"),
        (("--tol", "-1"), "tol"),
        (("--rms", "0"), "rms"),
        (("--terminal-cost", "1,2"), "terminal_cost"),
        (("--objective", "speed"), "objective"),
        (("--solver", "NONE"), "solver"),
        (("--x0", "1,2"), "x0"),
        (("--target", "1,2"), "target"),
        (("--target", "1,nan,2"), "target"),
        (("--target", "nowhere.csv"), "nowhere.csv"),
        (("--horizon", "0"), "horizon"),
        (("--horizon", "inf"), "horizon"),
        (("--horizon", "-3"), "horizon"),
        (("-o", "plan.xml"), "output"),
        (("-o", "no/such/plan.json"), "path"),
        (("--plot", "plan.gif"), "plot"),
        (("--plot", "no/such/plan.svg"), "path"),
    ],
)
def test_wrong_values_are_one_line_and_exit_1(
    ensctl: Call, options: tuple[str, ...], named: str
) -> None:
    run = ensctl("steer", *_TASK, *options)
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("ensctl: ") and run.err.count("\n") == 1
    assert named in run.err


@pytest.mark.parametrize(
    "tokens",
    [
        ("steer", "0.5", "--horizon", "3"),
        ("steer", "0.5", "--target", "1"),
        ("steer", "--target", "1", "--horizon", "3"),
        (*("steer", *_TASK), "--umax", "1"),
    ],
)
def test_wrong_command_lines_exit_2(ensctl: Call, tokens: tuple[str, ...]) -> None:
    run = ensctl(*tokens)
    assert (run.code, run.out) == (2, "")


def test_unwritable_places_leave_nothing(ensctl: Call, tmp_path: Path) -> None:
    for option, name in (("-o", "plan.json"), ("--plot", "plan.png")):
        (tmp_path / name).mkdir()
        run = ensctl("steer", *_TASK, option, str(tmp_path / name))
        assert run.code == 1 and "must be writable" in run.err and run.err.count("\n") == 1
    assert sorted(item.name for item in tmp_path.iterdir()) == ["plan.json", "plan.png"]


def test_help_shows_examples(ensctl: Call) -> None:
    text = ensctl("steer", "--help").out
    assert "Examples:" in text and "ensctl steer fleet.csv --target t.csv" in text
    assert "steer " in ensctl("--help").out


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
