"""``ensctl report``: formats on stdout, files by suffix, nothing half-written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


def test_text_on_stdout(ensctl: Call) -> None:
    run = ensctl("report", "0.2", "0.5", "0.8", "--horizon", "12")
    assert (run.code, run.err) == (0, "")
    assert "YES, REACHABLE" in run.out and "12 steps" in run.out


def test_not_reachable_is_still_a_report(ensctl: Call) -> None:
    run = ensctl("report", "0.3", "0.3")
    assert run.code == 0 and "NO, NOT REACHABLE" in run.out


def test_json_and_markdown_on_stdout(ensctl: Call) -> None:
    content = json.loads(ensctl("report", "0.2", "0.5", "--json").out)
    assert (content["schema"], content["kind"]) == (1, "report")
    assert ensctl("report", "0.2", "0.5", "--markdown").out.startswith("# ")
    assert ensctl("report", "0.2", "--json", "--markdown").code == 2


def test_files_by_suffix(ensctl: Call, tmp_path: Path) -> None:
    page, numbers = tmp_path / "r.html", tmp_path / "r.json"
    run = ensctl("report", "0.2", "0.5", "-o", str(page), "-o", str(numbers))
    assert (run.code, run.out) == (0, "")
    assert str(page) in run.err and str(numbers) in run.err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(numbers.read_text(encoding="utf-8"))["kind"] == "report"
    assert sorted(item.name for item in tmp_path.iterdir()) == ["r.html", "r.json"]


def test_dash_is_stdout(ensctl: Call, tmp_path: Path) -> None:
    run = ensctl("report", "0.2", "-o", "-", "-o", str(tmp_path / "r.md"))
    assert "YES, REACHABLE" in run.out and (tmp_path / "r.md").exists()


@pytest.mark.parametrize("name", ["r.pdf", "r", "missing/r.html"])
def test_wrong_output_is_refused_before_any_work(ensctl: Call, tmp_path: Path, name: str) -> None:
    run = ensctl("report", "0.2", "-o", str(tmp_path / name))
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("ensctl: path must") and run.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_target(ensctl: Call) -> None:
    content = json.loads(ensctl("report", "0.2", "0.8", "--target", "-1,0.5", "--json").out)
    assert content["target"] == [-1.0, 0.5]
    assert content["practicality"]["practical"] is True
    assert ensctl("report", "0.2", "0.8", "--target", "1,2,3").code == 1
    assert ensctl("report", "0.2", "0.8", "--target", "1", "--horizon", "inf").code == 1


@pytest.mark.slow
def test_too_many_members_are_refused_in_one_line(ensctl: Call, tmp_path: Path) -> None:
    path = tmp_path / "million.csv"
    path.write_text("\n".join(f"{k}e-7" for k in range(1, 1_000_001)), encoding="utf-8")
    run = ensctl("report", str(path), "-o", str(tmp_path / "r.html"))
    assert run.code == 1
    assert run.err.startswith("ensctl: lam has 1000000 members") and run.err.count("\n") == 1
    assert not (tmp_path / "r.html").exists()
