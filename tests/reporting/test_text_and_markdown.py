"""Text and Markdown: verdicts first, within their width, names escaped."""

from __future__ import annotations

import re

import ensctl as ec
from ensctl.reporting.document import Column, Table
from ensctl.reporting.markdown import escaped
from ensctl.reporting.text import WIDTH, table_lines


def test_text_has_every_section_and_keeps_its_width(any_report: ec.Report) -> None:
    text = any_report.to_text()
    assert text.endswith("\n")
    for heading in ("Summary", "Advice", "Members", "Singular values", "Horizon", "Conventions"):
        assert f"\n{heading}\n{'-' * len(heading)}\n" in text
    assert max(len(line) for line in text.splitlines()) <= WIDTH
    assert "nan" not in re.sub(r"\w*nan\w+|\w+nan\w*", "", text)


def test_both_verdicts_stand_side_by_side_first() -> None:
    lines = ec.report(ec.Ensemble([0.3, 0.1 + 0.2])).to_text().splitlines()
    assert "YES, REACHABLE" in lines[5] and "NO, NOT FOR EVERY TARGET" in lines[5]


def test_locked_members_are_named_in_the_verdict() -> None:
    text = ec.report(ec.Ensemble([0.3, 0.3, 0.9])).to_text()
    assert "members 0 and 1" in text and "NO, NOT REACHABLE" in text


def test_long_tables_say_what_is_left_out(large_report: ec.Report) -> None:
    text = large_report.to_text()
    assert "38 easier members are not shown here" in text
    assert "38 values between them are not shown here" in text


def test_tables_wrap_words_and_never_numbers() -> None:
    columns = (Column("a"), Column("b", numeric=True), Column("c"))
    table = Table("t", columns, (("x " * 60, "1234567890", "y " * 60),))
    lines = table_lines(table)
    assert max(map(len, lines)) <= WIDTH
    assert sum("1234567890" in line for line in lines) == 1
    assert sum(line.count("x") for line in lines) == 60


def test_markdown_tables_are_rectangular(any_report: ec.Report) -> None:
    text = any_report.to_markdown()
    assert text.startswith("# Conditioning report")
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1


def test_names_are_escaped_in_markdown(named_report: ec.Report) -> None:
    text = named_report.to_markdown()
    assert r"\<script\>a&b" in text and "<script>" not in text
    assert r"p\|q \*r\* \`s\`" in text


def test_escaping_reaches_every_special_character() -> None:
    assert escaped("a_b*c|d") == r"a\_b\*c\|d"
