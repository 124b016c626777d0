"""``reproduce``: the table in four formats, its counts, and its refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ensctl.errors import InvalidInputError
from ensctl.papers import ClaimVerdict, Paper, Reproduction, experiments, reproduce, root_law_test

_VOLATILE = re.compile(r"<script|https?://(?!www\.w3\.org)")


@pytest.fixture(scope="module")
def table() -> Reproduction:
    return reproduce()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one, small experiment."""

    def small(seed: int) -> Any:
        return root_law_test(2_000, seed)

    monkeypatch.setattr(experiments, "_EXPERIMENTS", (small,))


def test_counts(table: Reproduction) -> None:
    assert sum(table.counts.values()) == len(table.claims)
    assert table.counts[ClaimVerdict.ARITHMETIC_SLIP] == 4
    assert len(table.findings) == 4 + 3 + 17
    assert len(table.of(Paper.A)) + len(table.of(Paper.B)) == len(table.claims)
    assert table.experiments == ()


def test_text_has_every_claim_and_fits(table: Reproduction) -> None:
    text = table.to_text()
    assert max(map(len, text.splitlines())) <= 100
    for result in table.claims:
        assert result.claim.printed in text
    for function in {result.function for result in table.claims}:
        assert function in text
    lines = str(table).splitlines()
    assert len(lines) <= 12 and "4 arithmetic slip" in lines[0]


def test_html_stands_alone_and_has_every_claim(table: Reproduction) -> None:
    from html import escape

    page = table.to_html()
    assert page.startswith("<!doctype html>") and not _VOLATILE.search(page)
    for result in table.claims:
        assert escape(result.claim.printed).replace("&#x27;", "&#39;") in page
    assert "<table>" in table._repr_html_() or "<ul>" in table._repr_html_()


def test_json_round_trip(table: Reproduction) -> None:
    content = json.loads(table.to_json())
    assert (content["schema"], content["kind"]) == (1, "reproduction")
    rows = {row["name"]: row for row in content["claims"]}
    assert rows["b-k-star"]["readings"] == {"accepted": 5.0, "with_bonus": 4.0}
    assert rows["a-triple"]["function"] == "ensctl.papers.formulas.pooled_throughput"
    assert rows["b-mcs"]["recomputed"] is None
    assert content["counts"]["reproduced"] == sum(
        row["verdict"] == "reproduced" for row in content["claims"]
    )


def test_markdown_is_a_table(table: Reproduction) -> None:
    text = table.to_markdown()
    assert text.startswith("# Two papers") and "| A17 |" in text


@pytest.mark.parametrize("suffix", ["html", "md", "json", "txt"])
def test_save(table: Reproduction, tmp_path: Path, suffix: str) -> None:
    path = table.save(tmp_path / f"report.{suffix}")
    assert "2.270076473" in path.read_text(encoding="utf-8")


def test_refusals(table: Reproduction, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"\.html, \.json, \.md or \.txt"):
        table.save(tmp_path / "report.pdf")
    with pytest.raises(InvalidInputError, match="writable"):
        table.save(tmp_path / "none" / "report.md")
    with pytest.raises(InvalidInputError, match="name must be"):
        table.claim("nothing")
    with pytest.raises(InvalidInputError, match="experiments=True"):
        table.experiment("root-law")
    with pytest.raises(InvalidInputError, match="seed"):
        reproduce(seed=-1)


def test_experiments_with_progress(few: None) -> None:
    seen: list[tuple[int, int]] = []
    result = reproduce(True, seed=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 1)]
    assert result.experiment("root-law").seed == 3
    assert "1 experiments: 1 stands" in str(result)
    assert "Experiments" in result.to_text() and "STANDS" in result.to_text()
    with pytest.raises(InvalidInputError, match="root-law"):
        result.experiment("nothing")


@pytest.mark.slow
def test_every_experiment_as_shipped() -> None:
    result = reproduce(True)
    outcomes = {entry.name: entry.outcome.value for entry in result.experiments}
    assert outcomes == {
        "throughput-test": "depends",
        "root-law": "stands",
        "correlation": "stands",
        "vandermonde": "stands",
        "pooling": "depends",
        "memory": "stands",
        "verify-cost": "stands",
    }


def test_progress_must_be_callable(few: None) -> None:
    with pytest.raises(InvalidInputError, match="progress"):
        reproduce(True, progress=3)  # type: ignore[arg-type]
