"""Reports of plans: complete, self-contained, and true to the plan in every format."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ensctl.drafting import BatchCost, BatchTable, Drafter, Estimate
from ensctl.errors import InvalidInputError
from ensctl.reporting import plan_report
from ensctl.scheduling import LOADED_OFF_OVERHEAD, PlanTable, plan_table

_COST = BatchTable([1, 32, 64], [10, 14, 22], [0.8, 3.0, 9.0], [9, 12, 18])
_VOID = {"meta", "br", "hr", "img", "link", "input"}


class _Structure(HTMLParser):
    """Tags must close in order; what is loaded from elsewhere is collected."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in _VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href") and value and not value.startswith("#"):
                self.outside.append(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag


def _parsed(text: str) -> _Structure:
    structure = _Structure()
    structure.feed(text)
    structure.close()
    assert structure.open == []
    return structure


@pytest.fixture(scope="module")
def plan() -> PlanTable:
    return plan_table(Estimate.normal(0.7, 0.02), _COST, 64, max_depth=5, cost_error=0.01)


def test_page_is_whole(plan: PlanTable) -> None:
    page = plan_report(plan, source="a <log>").to_html()
    structure = _parsed(page)
    assert structure.outside == [] and structure.counts["svg"] == 2
    assert "a &lt;log&gt;" in page
    for word in ("Schedule", "Predicted throughput", "Configuration", "prefilling"):
        assert word in page


def test_text_has_the_numbers(plan: PlanTable) -> None:
    text = plan_report(plan).to_text()
    assert max(len(line) for line in text.splitlines()) <= 96
    for part in plan.ranges():
        shown = str(part.depth) if part.depth else "off"
        assert re.search(rf"^ *{part.first} +{part.last} +{shown}$", text, re.MULTILINE)
    assert f"{plan.throughput[0, 0]:.4g}" in text
    for case in plan.degradation:
        assert case.case in text
    assert "num_speculative_tokens_per_batch_size" in text
    assert "draft_len_schedule" in text and "candidate_steps" in text


def test_verdicts() -> None:
    lost = plan_report(plan_table(0.05, _COST, 64, max_depth=5)).to_text()
    assert "NO" in lost.splitlines()[5] and "not possible" in lost
    unknown = plan_report(plan_table(0.7, _COST, 64, max_depth=5, off=False)).to_text()
    assert "NOT KNOWN" in unknown
    slower = plan_table(0.3, _COST, 64, max_depth=5, loaded_off_overhead=LOADED_OFF_OVERHEAD)
    text = " ".join(plan_report(slower).to_html().split())
    assert "the server is slower than without a drafter" in text


def test_contexts_and_drafters() -> None:
    plan = plan_table(0.7, BatchCost.h100_8b(), 64, [0, 4000], max_depth=6)
    text = plan_report(plan).to_text()
    assert "contexts 0 and 4000 tokens" in text and "for context 0" in text
    pool = [Drafter("one", 0.7, _COST), Drafter("two", 0.5, _COST)]
    compared = plan_report(plan_table(pool, loads=64, max_depth=5)).to_text()
    assert "two: 0." in compared and "one, K up to 5" in compared


def test_every_format_is_saved(plan: PlanTable, tmp_path: Path) -> None:
    report = plan_report(plan)
    for suffix in ("html", "json", "md", "txt"):
        file = report.save(tmp_path / f"plan.{suffix}")
        assert file.stat().st_size > 500
    content = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert content == report.to_dict() == plan.to_dict()
    with pytest.raises(InvalidInputError, match="must end in"):
        report.save(tmp_path / "plan.pdf")
    with pytest.raises(InvalidInputError, match="must be a PlanTable"):
        plan_report(3)  # type: ignore[arg-type]


def test_notebook_view(plan: PlanTable) -> None:
    fragment = plan._repr_html_()
    assert _parsed(fragment).outside == []
    assert fragment == plan_report(plan)._repr_html_()
    assert "<html" not in fragment and "worth loading" in fragment
    assert str(plan_report(plan)) == str(plan)
