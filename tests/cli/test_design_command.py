"""``ensctl design``: regions from words, ends and files; where the answer goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ensctl as ec
from ensctl.cli.design_command import read_region

Call = Callable[..., Any]


def test_answer_and_files(ensctl: Call, tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("lam.csv", "report.html", "all.json", "pic.svg")]
    outputs = [piece for place in places for piece in ("-o", str(place))]
    run = ensctl(
        "design", "--count", "3", "--region", "-0.9:0.9", "--horizon", "6", "-f", "-0.5", *outputs
    )
    assert run.code == 0
    assert run.out.startswith("3 λ in the interval [-0.9, 0.9]: condition number κ₂")
    assert run.err.count("wrote") == 4
    members = ec.Ensemble.from_file(places[0])
    assert members.lam[0] == -0.5
    page = places[1].read_text(encoding="utf-8")
    assert "<svg" in page and "equispaced" in page and "How exactly to build it" in page
    content = json.loads(places[2].read_text(encoding="utf-8"))
    assert content["lam"] == members.lam.tolist()
    assert places[3].read_text(encoding="utf-8").startswith("<?xml")


def test_json_of_rates(ensctl: Call) -> None:
    run = ensctl("design", "-n", "2", "-r", "-3:-0.1", "--dt", "0.5", "--json", "-c", "mean_energy")
    content = json.loads(run.out)
    assert (run.code, content["kind"], len(content["rates"])) == (0, "node_design", 2)


def test_candidates_from_a_file(ensctl: Call, tmp_path: Path) -> None:
    place = tmp_path / "candidates.csv"
    place.write_text("0.1\n0.5\n0.9\n", encoding="utf-8")
    run = ensctl("design", "-n", "2", "-r", str(place))
    assert (run.code, "0.1, 0.9" in run.out) == (0, True)


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("0:inf", "[0, ∞)"),
        ("-inf:inf", "(−∞, ∞)"),
        ("circle", "circle |λ| = 1"),
        ("circle:0.5", "circle |λ| = 0.5"),
        ("disk:0.9", "disk |λ| ≤ 0.9"),
        ("annulus:0.5:0.9", "annulus 0.5 ≤ |λ| ≤ 0.9"),
    ],
)
def test_regions(text: str, region: str) -> None:
    assert str(read_region(text, None)) == region


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("-n", "3", "-r", "1:1"), "low"),
        (("-n", "3", "-r", "-1:x"), "region"),
        (("-n", "3", "-r", "disk"), "region"),
        (("-n", "3", "-r", "disk:a"), "region"),
        (("-n", "3", "-r", "nowhere.csv"), "region"),
        (("-n", "3", "-r", "0:1", "-c", "kappa"), "criterion"),
        (("-n", "3", "-r", "0:1", "-H", "2"), "horizon"),
        (("-n", "3", "-r", "0:1", "-f", "2"), "fixed"),
        (("-n", "3", "-r", "0:1", "-o", "x.txt"), "output"),
        (("-n", "0", "-r", "0:1"), "count"),
    ],
)
def test_bad_input(ensctl: Call, arguments: tuple[str, ...], named: str) -> None:
    run = ensctl("design", *arguments)
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("ensctl: ") and named in run.err
