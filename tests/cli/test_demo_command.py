"""``ensctl demo``: three files, the verdict, and respect for what is there already."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = Callable[..., Any]


def test_demo_writes_three_files_that_work(ensctl: Call, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "demo"
    run = ensctl("demo", str(folder))
    assert run.code == 0
    assert "reachable" in run.out and str(folder / "fleet.csv") in run.out
    assert sorted(item.name for item in folder.iterdir()) == [
        "fleet.csv",
        "report.html",
        "report.json",
    ]
    written = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    again = ensctl("report", str(folder / "fleet.csv"), "--horizon", "96", "--json")
    assert json.loads(again.out) == written


def test_demo_can_be_repeated_and_gives_the_same_bytes(ensctl: Call, tmp_path: Path) -> None:
    ensctl("demo", str(tmp_path / "d"))
    before = {item.name: item.read_bytes() for item in (tmp_path / "d").iterdir()}
    assert ensctl("demo", str(tmp_path / "d")).code == 0
    assert {item.name: item.read_bytes() for item in (tmp_path / "d").iterdir()} == before


def test_demo_leaves_a_folder_with_other_things_alone(ensctl: Call, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")
    run = ensctl("demo", str(tmp_path))
    assert (run.code, run.out) == (1, "")
    assert "thesis.tex" in run.err
    assert [item.name for item in tmp_path.iterdir()] == ["thesis.tex"]


def test_demo_leaves_a_file_of_the_same_name_alone(ensctl: Call, tmp_path: Path) -> None:
    (tmp_path / "fleet.csv").write_text("lam\n0.5\n", encoding="utf-8")
    run = ensctl("demo", str(tmp_path))
    assert run.code == 1 and "fleet.csv" in run.err
    assert (tmp_path / "fleet.csv").read_text(encoding="utf-8") == "lam\n0.5\n"


def test_demo_json(ensctl: Call, tmp_path: Path) -> None:
    content = json.loads(ensctl("demo", str(tmp_path / "d"), "--json").out)
    assert (content["schema"], content["kind"]) == (1, "demo")
    assert Path(content["files"]["html"]).exists()
    assert content["report"]["controllability"]["reachable"] is True
