"""The HTML page: well-formed, self-contained, escaped, accessible, small."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import ensctl as ec
from ensctl.reporting import (
    conditioning_html,
    controllability_html,
    observability_html,
)

_VOID = {"meta", "br", "img", "link", "hr", "input"}


class _Page(HTMLParser):
    """Checks nesting and collects tags, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def test_page_is_well_formed_with_four_labelled_plots(any_report: ec.Report) -> None:
    text = any_report.to_html()
    page = _Page(text)
    assert text.startswith("<!doctype html>") and page.open == []
    assert page.of("html")[0]["lang"] == "en"
    drawings = page.of("svg")
    assert len(drawings) == 4
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in drawings)
    assert len(page.of("figcaption")) == 4
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for attributes in page.of("a")]
    assert links and all(link and link[0] == "#" and link[1:] in ids for link in links)
    assert len(page.of("caption")) == len(page.of("table"))


def test_page_needs_nothing_from_elsewhere(any_report: ec.Report) -> None:
    text = any_report.to_html()
    page = _Page(text)
    assert not page.of("script") and not page.of("link") and not page.of("img")
    for _, attributes in page.tags:
        assert "src" not in attributes
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    assert "@import" not in text
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))


def test_page_adapts_to_dark_mode_and_print(large_report: ec.Report) -> None:
    text = large_report.to_html()
    assert "prefers-color-scheme: dark" in text and "@media print" in text
    assert 'name="color-scheme" content="light dark"' in text


def test_page_of_50_members_is_below_500_kB_and_has_every_row(large_report: ec.Report) -> None:
    text = large_report.to_html()
    assert len(text.encode()) < 500_000
    page = _Page(text)
    assert len(page.of("details")) == 2
    assert all(f"member {i}" in "\n".join(page.text) for i in range(50))


def test_names_are_escaped(named_report: ec.Report) -> None:
    text = named_report.to_html()
    assert "<script" not in text and "&lt;script&gt;a&amp;b" in text
    assert any("<script>a&b" in piece for piece in _Page(text).text)


def test_rows_have_headers(any_report: ec.Report) -> None:
    heads = _Page(any_report.to_html()).of("th")
    assert {head.get("scope") for head in heads} == {"col", "row"}


@pytest.mark.parametrize(
    "ens",
    [
        ec.Ensemble([0.2, 0.5, 0.8]),
        ec.Ensemble([0.3, 0.3], names=["<b>", "&"]),
        ec.Ensemble(np.linspace(0.1, 0.9, 15), np.ones((15, 2))),
    ],
)
def test_fragments_fit_into_a_notebook(ens: ec.Ensemble) -> None:
    fragments = (
        conditioning_html(ec.conditioning(ens)),
        controllability_html(ec.controllability(ens)),
        observability_html(ec.observability(ens)),
        ec.report(ens)._repr_html_(),
    )
    for fragment in fragments:
        page = _Page(fragment)
        assert page.open == [] and page.tags[0] == ("div", {"class": "ensctl"})
        assert "<b>" not in fragment
        # A rule for anything but our own class would restyle the notebook.
        style = fragment.split("<style>")[1].split("</style>")[0]
        rules = re.findall(r"^([^\s{][^{]*)\{", style, re.MULTILINE)
        assert rules and all(
            selector.strip().startswith(".ensctl") for rule in rules for selector in rule.split(",")
        )


def test_results_find_their_fragment() -> None:
    result = ec.conditioning(ec.Ensemble([0.2, 0.5]))
    assert result._repr_html_() == conditioning_html(result)


def test_pages_pass_a_strict_validator_and_load_nothing(any_report: ec.Report) -> None:
    require_valid(any_report.to_html())


def test_other_pages_pass_the_validator_too(tmp_path: Path) -> None:
    from ensctl.drafting import BatchTable
    from ensctl.papers.reproduction import reproduce
    from ensctl.reporting import continuum_page
    from ensctl.reporting.node_design import save_node_design
    from ensctl.reporting.plan_report import plan_report
    from ensctl.scheduling import plan_table

    cost = BatchTable([1, 64], [10, 14], [1.0, 9.0], [9, 12])
    require_valid(plan_report(plan_table(0.7, cost, 64, max_depth=5), source="a&b.log").to_html())
    require_valid(continuum_page(ec.continuum("sin(6*x)", (0.1, 0.9), 6)))
    page = save_node_design(ec.choose_nodes(3, ec.Interval(-0.9, 0.9)), tmp_path / "a.html")
    require_valid(page.read_text(encoding="utf-8"))
    require_valid(reproduce().to_html())


def require_valid(text: str) -> None:
    """Standard HTML without a parse error, and no address that a browser would fetch."""
    html5lib = pytest.importorskip("html5lib")
    html5lib.HTMLParser(strict=True).parse(text)
    assert not re.search(r'(?:src|srcset|data)="|@import|url\((?!#)|<link|<script|<iframe', text)
    assert not re.search(r'href="(?!#)', text)
