"""``ensctl depth``: from α, from an engine's counters, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]

_LOG = (
    "INFO 07-07 08:19:{second:02d} [metrics.py:120] SpecDecoding metrics: Mean acceptance length: "
    "2.50, Accepted throughput: 15.00 tokens/s, Drafted throughput: 30.00 tokens/s, "
    "Accepted: 150 tokens, Drafted: 300 tokens, Per-position acceptance rate: "
    "0.800, 0.500, 0.200, Avg Draft acceptance rate: 50.0%\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text("".join(_LOG.format(second=k) for k in range(12)), encoding="utf-8")
    return path


def test_from_alpha(ensctl: Call) -> None:
    run = ensctl("depth", "--alpha", "0.7", "--draft-cost", "0.1")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("K = 4: 1.981 times plain decoding")
    assert "with_bonus" in run.out
    assert "  4    2.7731     1.4000      1.9808  best" in run.out


def test_convention_of_the_papers(ensctl: Call) -> None:
    run = ensctl("depth", "--alpha", "0.7", "--draft-cost", "0.1", "--convention", "committed")
    assert "K = 5" in run.out.splitlines()[0]
    assert "1.8487" in run.out


def test_json_from_alpha(ensctl: Call) -> None:
    run = ensctl("depth", "--alpha", "0.5", "--draft-cost", "0.9", "--json")
    content = json.loads(run.out)
    assert (content["schema"], content["kind"]) == (1, "depth")
    assert content["results"][0]["depth"] == 0
    assert content["results"][0]["table"][1]["expected_length"] == pytest.approx(1.5)


def test_from_a_server_log(ensctl: Call, log: Path) -> None:
    run = ensctl("depth", str(log), "--draft-cost", "0.05", "--json")
    content = json.loads(run.out)["results"][0]
    assert content["windows"] == 12
    assert content["depth_measured"] == 3
    # 150 accepted, 100 drafts of which 20 ended without a rejection.
    assert content["alpha"]["value"] == pytest.approx(150 / 230)
    assert content["acceptance"]["reason"]


def test_from_standard_input_with_a_cost_table(ensctl: Call, log: Path, tmp_path: Path) -> None:
    table = tmp_path / "cost.csv"
    table.write_text("depth,cycle,batch\n0,10,1\n1,13,1\n3,17,1\n0,20,8\n1,40,8\n3,70,8\n")
    run = ensctl("depth", "-", "--cost-from", str(table), stdin=log.read_bytes())
    assert run.code == 0, run.err
    assert "per ms" in run.out
    busy = ensctl("depth", "-", "--cost-from", str(table), "--batch", "8", stdin=log.read_bytes())
    assert "K = 0: do not draft" in busy.out


def test_costs_beyond_the_measured_depths_are_marked(ensctl: Call, tmp_path: Path) -> None:
    table = tmp_path / "cost.csv"
    table.write_text("depth,cycle\n0,10\n1,11\n3,12\n")
    run = ensctl("depth", "--alpha", "0.95", "--cost-from", str(table))
    assert "measured up to K = 3; beyond it they follow a line" in run.out
    assert run.out.count("(cost extrapolated)") == 13
    content = json.loads(ensctl("depth", "--alpha", "0.2", "--cost-from", str(table), "--json").out)
    assert content["cost_measured_to"] == 3


def test_figure_is_written(ensctl: Call, log: Path, tmp_path: Path) -> None:
    target = tmp_path / "depth.png"
    run = ensctl("depth", str(log), "--draft-cost", "0.05", "-o", str(target))
    assert run.code == 0
    assert target.stat().st_size > 5000
    assert "wrote" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--draft-cost", "0.1"], "give either a log or --alpha"),
        (["x.log", "--alpha", "0.5", "--draft-cost", "0.1"], "give either a log or --alpha"),
        (["--alpha", "0.5"], "give the cost as either"),
        (["--alpha", "1.2", "--draft-cost", "0.1"], "alpha must be ≤ 1"),
        (["--alpha", "nan", "--draft-cost", "0.1"], "alpha must be finite"),
        (["--alpha", "0.5", "--draft-cost", "-0.1"], "draft must be ≥ 0"),
        (["--alpha", "0.5", "--draft-cost", "0.1", "--max-depth", "-1"], "max_depth"),
        (["--alpha", "0.5", "--draft-cost", "0.1", "--convention", "x"], "convention must be"),
        (["--alpha", "0.5", "--draft-cost", "0.1", "-o", "x.txt"], "output must end in"),
        (["--alpha", "0.5", "--draft-cost", "0.1", "--task", "x"], "task goes with"),
        (["missing.log", "--draft-cost", "0.1"], "missing.log"),
        (["--alpha", "0.5", "--cost-from", "missing.csv"], "missing.csv"),
        (["--alpha", "0.5", "--cost-from", "x.csv", "--verify", "2"], "verify and overhead go"),
    ],
)
def test_what_is_wrong_is_one_line(ensctl: Call, arguments: list[str], message: str) -> None:
    run = ensctl("depth", *arguments)
    assert run.code == 1
    assert run.out == ""
    assert message in run.err
    assert len(run.err.splitlines()) == 1


def test_a_log_without_counters_says_so(ensctl: Call) -> None:
    run = ensctl("depth", "-", "--draft-cost", "0.1", stdin=b"INFO nothing here\n")
    assert run.code == 1
    assert "no drafting counters" in run.err


def test_a_contradiction_names_its_line(ensctl: Call, log: Path) -> None:
    wrong = log.read_text(encoding="utf-8").replace("length: 2.50", "length: 3.50", 1)
    run = ensctl("depth", "-", "--draft-cost", "0.1", stdin=wrong.encode())
    assert run.code == 1
    assert "line 1" in run.err
    lenient = ensctl("depth", "-", "--draft-cost", "0.1", "--lenient", stdin=wrong.encode())
    assert lenient.code == 0, lenient.err
