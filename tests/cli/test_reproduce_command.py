"""``ensctl reproduce``: the table, its formats, its refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one, small experiment."""
    from ensctl.papers import experiments, root_law_test

    monkeypatch.setattr(experiments, "_EXPERIMENTS", (lambda seed: root_law_test(2_000, seed),))


def test_table(ensctl: Call) -> None:
    run = ensctl("reproduce")
    assert (run.code, run.err) == (0, "")
    assert max(map(len, run.out.splitlines())) <= 100
    for word in ("2.270076473", "2.27007616", "0.078906…", "arithmetic slip", "projection"):
        assert word in run.out
    assert "drafting.throughput" in run.out


def test_json(ensctl: Call) -> None:
    run = ensctl("reproduce", "--json")
    content = json.loads(run.out)
    assert content["kind"] == "reproduction" and content["experiments"] == []


def test_experiments_and_report(ensctl: Call, few: None, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    run = ensctl("reproduce", "--experiments", "--seed", "2", "-o", str(path))
    assert run.code == 0
    # No bar where stderr is no terminal, only where the report is.
    assert run.err.split("wrote ")[1].strip() == str(path)
    assert "1 experiments: 1 stands" in run.out
    assert max(map(len, run.out.splitlines())) <= 100
    assert "seed 2" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("-o", "report.pdf"), 1, ".html, .json, .md or .txt"),
        (("-o", "nowhere/report.md"), 1, "folder"),
        (("-o", "report.json", "--json"), 2, "either"),
        (("--seed", "-1"), 1, "seed"),
        (("--seed", "x"), 2, "seed"),
        (("extra",), 2, "extra"),
    ],
)
def test_refusals(ensctl: Call, arguments: tuple[str, ...], code: int, said: str) -> None:
    run = ensctl("reproduce", *arguments)
    assert run.code == code
    assert said in run.err
    assert run.out == ""
