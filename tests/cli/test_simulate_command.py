"""``ensctl simulate``: inputs in every form they are written in, states and outputs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Call = Callable[..., Any]
FINAL = [0.3**2 + 0.5, 0.6**2 + 0.5]


def _states(text: str) -> list[float]:
    return [float(row["state"]) for row in csv.DictReader(io.StringIO(text))]


def test_final_state_as_a_table(ensctl: Call) -> None:
    run = ensctl("simulate", "0.3", "0.6", "--inputs", "1,0,0.5")
    assert (run.code, run.err) == (0, "")
    assert _states(run.out) == pytest.approx(FINAL)


def test_aggregate_output_has_one_more_entry_than_inputs(ensctl: Call) -> None:
    run = ensctl("simulate", "0.3", "0.6", "-u", "1,0", "--x0", "2", "--aggregate", "--json")
    data = json.loads(run.out)
    assert (data["schema"], data["kind"], data["horizon"]) == (1, "simulation", 2)
    assert data["output"] == pytest.approx([2.0, 1.9, 0.9])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("u.csv", "1\n0\n0.5\n"),
        ("u.csv", "time,u\n0.0,1\n1.0,0\n2.0,0.5\n"),
        ("u.csv", "time,u_re,u_im\n0.0,1,0\n1.0,0,0\n2.0,0.5,0\n"),
        ("u.json", "[1, 0, 0.5]"),
        ("u.json", '{"inputs": [1, 0, {"re": 0.5, "im": 0.0}]}'),
    ],
)
def test_every_form_of_inputs(ensctl: Call, tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    run = ensctl("simulate", "0.3", "0.6", "-u", str(tmp_path / name))
    assert run.code == 0, run.err
    states = [complex(row["state"]) for row in csv.DictReader(io.StringIO(run.out))]
    assert np.allclose(states, FINAL)


def test_what_steer_writes_simulate_reads(ensctl: Call, tmp_path: Path) -> None:
    for name in ("plan.json", "plan.csv"):
        place = str(tmp_path / name)
        assert ensctl("steer", "0.3", "0.6", "-t", "1,-1", "-H", "6", "-o", place).code == 0
        run = ensctl("simulate", "0.3", "0.6", "-u", place)
        assert _states(run.out) == pytest.approx([1.0, -1.0])


def test_writes_files_instead_of_stdout(ensctl: Call, tmp_path: Path) -> None:
    for name in ("x.csv", "x.json"):
        run = ensctl("simulate", "0.3", "-u", "1", "-o", str(tmp_path / name))
        assert (run.code, run.out) == (0, "")
    assert _states((tmp_path / "x.csv").read_text(encoding="utf-8")) == [1.0]
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["final_state"] == [1.0]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "is empty"),
        ("1\nx\n", "line 2"),
        ("a,b\n1,2\n3\n", "line 3"),
        ("[1, [2]]", "inputs must be numbers"),
        ('{"speeds": [1]}', "has no inputs"),
        ("[[1, 2], [3]]", "as many numbers for each channel"),
        ("{", "is not JSON"),
    ],
)
def test_wrong_files_exit_1_with_the_line(
    ensctl: Call, tmp_path: Path, content: str, named: str
) -> None:
    (tmp_path / "u").write_text(content, encoding="utf-8")
    run = ensctl("simulate", "0.3", "-u", str(tmp_path / "u"))
    assert (run.code, run.out) == (1, "")
    assert named in run.err


def test_wrong_values_exit_1(ensctl: Call) -> None:
    for arguments in (("-u", "no-such-file"), ("-u", "1", "-o", "x.txt"), ("-u", "1", "--x0", "a")):
        run = ensctl("simulate", "0.3", *arguments)
        assert (run.code, run.out) == (1, "")
        assert len(run.err.splitlines()) == 1
