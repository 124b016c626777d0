"""``ensctl plan``: from a log and a cost table to the configuration of an engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]

_LINE = (
    "INFO 07-07 08:19:12 [metrics.py:120] SpecDecoding metrics: Mean acceptance length: {length}, "
    "Accepted throughput: 15.00 tokens/s, Drafted throughput: 30.00 tokens/s, Accepted: {kept} "
    "tokens, Drafted: {drafted} tokens, Per-position acceptance rate: {rates}, Avg Draft "
    "acceptance rate: {rate}%"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "server.log"
    line = _LINE.format(
        length="2.97", kept=19710, drafted=30000, rates="0.800, 0.650, 0.521", rate="65.7"
    )
    file.write_text(line + "\n", encoding="utf-8")
    return file


@pytest.fixture
def cost(tmp_path: Path) -> Path:
    file = tmp_path / "cost.csv"
    rows = [
        f"{batch},{k},{9 + 0.15 * batch + ((1 + (0.6 + 0.3 * batch) * k) if k else 0)}"
        for batch in (1, 8, 64)
        for k in (0, 1, 3)
    ]
    file.write_text("batch,K,cycle\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return file


def test_schedule_for_vllm(ensctl: Call, log: Path, cost: Path, tmp_path: Path) -> None:
    place = tmp_path / "schedule.json"
    run = ensctl("plan", str(log), "--cost", str(cost), "--format", "vllm", "-o", str(place))
    assert run.code == 0, run.err
    config = json.loads(place.read_text(encoding="utf-8"))
    rows = config["num_speculative_tokens_per_batch_size"]
    assert rows[0][:1] == [1] and rows[-1][1:] == [64, 0]
    assert run.out.startswith("batch 1–") and "prefilling" in run.err
    assert f"wrote {place}" in run.err


def test_other_engines_and_formats(ensctl: Call, log: Path, cost: Path) -> None:
    inputs = ("plan", str(log), "--cost", str(cost))
    old = ensctl(*inputs, "--format", "tensorrt-llm", "--version", "1.2").out
    new = ensctl(*inputs, "--format", "TensorRT_LLM", "--version", "1.3").out
    assert "least batch" in old and "greatest batch" in new and old != new
    tiers = json.loads(ensctl(*inputs, "--format", "sglang").out)
    assert tiers["1"]["candidate_steps"][0] > 0
    plan = json.loads(ensctl(*inputs, "--json").out)
    assert plan["kind"] == "plan_table"
    assert json.loads(ensctl(*inputs, "--format", "json").out) == plan
    assert ensctl(*inputs, "--format", "html").out.startswith("<!doctype html>")
    assert ensctl(*inputs).out.startswith("batch 1–")


def test_html_by_suffix(ensctl: Call, log: Path, cost: Path, tmp_path: Path) -> None:
    place = tmp_path / "plan.html"
    run = ensctl("plan", str(log), "--cost", str(cost), "-o", str(place))
    assert run.code == 0 and "from server.log" in place.read_text(encoding="utf-8")


def test_options_reach_the_plan(ensctl: Call, log: Path, cost: Path) -> None:
    def depths(*options: str) -> list[list[int]]:
        run = ensctl("plan", str(log), "--cost", str(cost), "--format", "json", *options)
        assert run.code == 0, run.err
        ranges: list[list[int]] = json.loads(run.out)["ranges"]["0"]
        return ranges

    assert all(depth > 0 for *_, depth in depths("--no-off"))
    assert max(depth for *_, depth in depths("--max-depth", "1")) == 1
    assert depths("--max-batch", "256")[-1][1] == 256
    assert depths("--max-batch", "16")[-1][1] == 16
    off = depths()[-1]
    paying = depths("--off-overhead", "public")
    assert paying[-1][2] > 0 or paying[-1][0] > off[0]
    wide = json.loads(
        ensctl("plan", str(log), "--cost", str(cost), "--json", "--convention", "accepted").out
    )
    assert wide["convention"] == "accepted"


def test_log_on_stdin(ensctl: Call, log: Path, cost: Path) -> None:
    run = ensctl("plan", "-", "--cost", str(cost), stdin=log.read_bytes())
    assert run.code == 0 and run.out == ensctl("plan", str(log), "--cost", str(cost)).out


def test_costs_without_off(ensctl: Call, log: Path, tmp_path: Path) -> None:
    file = tmp_path / "on.csv"
    file.write_text("batch,K,cycle\n1,1,10\n1,3,14\n8,1,12\n8,3,20\n")
    run = ensctl("plan", str(log), "--cost", str(file), "--format", "vllm")
    assert run.code == 0 and "off was not measured" in run.err


def test_speculation_that_never_pays_is_a_no(ensctl: Call, cost: Path, tmp_path: Path) -> None:
    file = tmp_path / "bad.log"
    line = _LINE.format(
        length="1.06", kept=600, drafted=30000, rates="0.050, 0.008, 0.002", rate="2.0"
    )
    file.write_text(line + "\n", encoding="utf-8")
    place = tmp_path / "schedule.json"
    inputs = ("plan", str(file), "--cost", str(cost))
    run = ensctl(*inputs, "--format", "vllm", "-o", str(place))
    assert run.code == 3 and "without a drafter" in run.err and not place.exists()
    assert len(run.err.splitlines()) == 1
    assert "serve without a drafter" in ensctl(*inputs).out


def test_real_log_and_benchmark(
    ensctl: Call, real_data: Callable[[str], Path], tmp_path: Path
) -> None:
    bench = str(real_data("drafting/serving_benchmark.csv"))
    server = str(real_data("drafting/server_logs/vllm_0.24_03.log"))
    place = tmp_path / "schedule.json"
    run = ensctl("plan", server, "--cost", bench, "--format", "vllm", "-o", str(place))
    assert run.code == 0, run.err
    rows = json.loads(place.read_text())["num_speculative_tokens_per_batch_size"]
    assert rows[0][2] >= 2 and rows[-1] == [rows[-1][0], 128, 0]
    alone = json.loads(ensctl("plan", bench, "--json").out)
    assert alone["ranges"]["0"][0][2] == 3 and alone["ranges"]["0"][-1][2] == 0
    collapsed = str(real_data("drafting/server_logs/vllm_0.24_17.log"))
    assert ensctl("plan", collapsed, "--cost", bench, "--format", "sglang").code == 3


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 1, "cost must be given"),
        (("--cost", "{missing}"), 1, "cannot be read"),
        (("--cost", "{log}"), 1, "needs a column K"),
        (("--cost", "{cost}", "--format", "yaml"), 1, "format must be one of"),
        (("--cost", "{cost}", "--format", "tensorrt-llm"), 2, "--version"),
        (("--cost", "{cost}", "--version", "1.3"), 2, "--version"),
        (("--cost", "{cost}", "--format", "tensorrt-llm", "--version", "9"), 1, "lower-bounds"),
        (("--cost", "{cost}", "-o", "x.json"), 2, "--format"),
        (("--cost", "{cost}", "--format", "vllm", "-o", "{missing}/x"), 1, "there is no"),
        (("--cost", "{cost}", "--max-depth", "0"), 1, "max_depth must be an integer ≥ 1"),
        (("--cost", "{cost}", "--max-batch", "many"), 1, "max_batch must be an integer ≥ 1"),
        (("--cost", "{cost}", "--noise", "x"), 1, "noise must be a real number"),
        (("--cost", "{cost}", "--level", "2"), 1, "level must be"),
        (("--cost", "{cost}", "--off-overhead", "-1"), 1, "off_overhead must be"),
        (("--cost", "{cost}", "--convention", "x"), 1, "convention must be"),
        (("--cost", "{cost}", "--method", "x"), 1, "method goes with"),
    ],
)
def test_errors_are_one_line(
    ensctl: Call,
    log: Path,
    cost: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    places = {"log": str(log), "cost": str(cost), "missing": str(tmp_path / "none")}
    run = ensctl("plan", str(log), *(option.format(**places) for option in options))
    assert run.code == code and message in run.err, run.err
    assert run.out == "" and "Traceback" not in run.err
    if code == 1:
        assert len(run.err.splitlines()) == 1


def test_no_log(ensctl: Call, cost: Path, tmp_path: Path) -> None:
    assert ensctl("plan", str(tmp_path / "none.log"), "--cost", str(cost)).code == 1
    empty = tmp_path / "empty.log"
    empty.write_text("")
    run = ensctl("plan", str(empty), "--cost", str(cost))
    assert run.code == 1 and "nothing to read" in run.err
