"""Inline SVG: repeatable, self-contained, at home on a page beside other drawings."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import matplotlib
from matplotlib.axes import Axes

from ensctl.plot import to_svg

_SVG = "{http://www.w3.org/2000/svg}"


def _draw(ax: Axes) -> None:
    ax.plot([0, 1, 2], [1, 3, 2], "o", color="#0072B2", label="σ")
    ax.set_xlabel("λ < 1 & more")
    ax.legend()


def test_same_drawing_gives_the_same_bytes() -> None:
    first, second = (to_svg(_draw, (4, 3), name="a", title="t") for _ in range(2))
    assert first == second


def test_it_is_one_labelled_element_of_well_formed_xml() -> None:
    root = ElementTree.fromstring(to_svg(_draw, (4, 3), name="a", title='A "b" <c> & d'))
    assert root.tag == f"{_SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'A "b" <c> & d'
    assert root.get("viewBox") and root.get("width") is None


def test_ids_are_unique_on_a_page_and_references_resolve() -> None:
    page = "".join(to_svg(_draw, (4, 3), name=name, title="t") for name in ("a", "b"))
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert ids and len(ids) == len(set(ids))
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', page)
    assert used and set(used) <= set(ids)


def test_nothing_external_and_no_page_wide_style() -> None:
    text = to_svg(_draw, (4, 3), name="a", title="t")
    assert "<style" not in text and "<metadata" not in text and "<script" not in text
    assert set(re.findall(r'https?://[^"\s]*', text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_colours_follow_the_page() -> None:
    text = to_svg(_draw, (4, 3), name="a", title="t")
    assert "currentColor" in text and "var(--ec-blue, #0072B2)" in text
    assert "#010203" not in text


def test_settings_of_the_caller_neither_change_nor_matter() -> None:
    plain = to_svg(_draw, (4, 3), name="a", title="t")
    with matplotlib.rc_context({"lines.linewidth": 9.0, "axes.facecolor": "black"}):
        before = dict(matplotlib.rcParams)
        assert to_svg(_draw, (4, 3), name="a", title="t") == plain
        assert dict(matplotlib.rcParams) == before
