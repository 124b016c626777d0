"""``ensctl replay``: what it prints and writes, and how it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


@pytest.fixture
def traces(tmp_path: Path) -> str:
    lines = [
        json.dumps(
            {"prompt_len": 50, "acc_eagle": [3, 2, 1, 4] * 10, "acc_ngram": [1, 1, 2, 1] * 10}
        )
        for _ in range(20)
    ]
    place = tmp_path / "traces.jsonl"
    place.write_text("\n".join(lines), encoding="utf-8")
    return str(place)


def test_json_is_the_result(ensctl: Call, traces: str) -> None:
    options = ("replay", traces, "--policy", "kf-ucb", "--batch", "4", "--cycles", "120")
    run = ensctl(*options, "--seeds", "2", "--json", "--foresight")
    assert run.code == 0, run.err
    result = json.loads(run.out)
    assert (result["schema"], result["kind"]) == (1, "replay_result")
    assert result["marks"][-1] == 120 and result["seeds"] == [0, 1]
    assert result["foresight_gain"] > result["gain"]
    assert result == json.loads(ensctl(*options, "--seeds", "2", "--json", "--foresight").out)


def test_several_policies_and_a_picture(ensctl: Call, traces: str, tmp_path: Path) -> None:
    place = tmp_path / "r.svg"
    names = ("ahs", "eagle:3", "off", "ucb", "kl-ucb", "thompson", "kf-ucb-unguarded")
    chosen = [part for name in names for part in ("--policy", name)]
    options = ("--cycles", "60", "--seeds", "1", "--plot", str(place))
    run = ensctl("replay", traces, *chosen, *options)
    assert run.code == 0, run.err
    assert run.out.count("against the best fixed arm") == len(names)
    assert place.read_text(encoding="utf-8").startswith("<?xml")
    listed = ensctl("replay", traces, *chosen, "--cycles", "20", "--seeds", "1", "--json")
    assert len(json.loads(listed.out)) == len(names)


def test_fixture_and_walk(ensctl: Call) -> None:
    run = ensctl("replay", "--fixture", "iid", "--batch", "walk", "--cycles", "50", "--seeds", "1")
    assert run.code == 0 and "B = 128" in run.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "give either"),
        (("a.jsonl", "--fixture", "code"), 2, "give either"),
        (("a.jsonl", "--fault"), 2, "--fault"),
        (("none.jsonl",), 1, "cannot be read"),
        (("--fixture", "prose"), 1, "kind"),
        (("--fixture", "iid", "--batch", "x"), 1, "batch"),
        (("--fixture", "iid", "--batch", "0"), 1, "batch"),
        (("--fixture", "iid", "--seeds", "0"), 1, "seeds"),
        (("--fixture", "iid", "--policy", "best"), 1, "policy must be one of"),
        (("--fixture", "iid", "--policy", "E:7"), 1, "no arm E K=7"),
        (("--fixture", "iid", "--cycles", "0"), 1, "cycles"),
        (("--fixture", "iid", "--plot", "x.txt"), 1, "plot must end in"),
        (("--fixture", "iid", "--unmatched", "0.2"), 2, "--unmatched"),
    ],
)
def test_refusals(ensctl: Call, arguments: tuple[str, ...], code: int, said: str) -> None:
    run = ensctl("replay", *arguments)
    assert run.code == code
    assert said in run.err
    assert run.out == ""


def test_one_pass_needs_a_request_for_every_stream(ensctl: Call, traces: str) -> None:
    run = ensctl("replay", traces, "--batch", "21", "--seeds", "1")
    assert run.code == 1 and run.out == ""
    assert "21 streams have only 20 requests" in run.err.splitlines()[-1]
    assert ensctl("replay", traces, "--batch", "20", "--seeds", "1").code == 0


def test_levels_that_no_cycle_had_are_said(ensctl: Call, traces: str) -> None:
    run = ensctl("replay", traces, "--batch", "walk", "--cycles", "3", "--seeds", "1", "--json")
    result = json.loads(run.out)
    assert result["batches"] == [1, 4, 16, 64, 128]
    assert [name is None for name in result["best_arms"]] == [True, True, False, True, True]


def test_chances_beyond_one_are_refused(ensctl: Call, traces: str) -> None:
    run = ensctl("replay", traces, "--unmatched", "2")
    assert run.code == 1 and "unmatched must be" in run.err
