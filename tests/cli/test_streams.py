"""Colour only for people, UTF-8 for everybody."""

from __future__ import annotations

import io
import sys

import pytest

from ensctl.cli.streams import message, painted, use_utf8


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person at a terminal.  Called by the test itself: pytest resets stdout after fixtures."""
    monkeypatch.setattr(sys, "stdout", _Terminal())
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_terminal_gets_two_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    _watch(monkeypatch)
    good, bad = painted("x", good=True), painted("x", good=False)
    assert good != bad
    assert all("x" in text and text.startswith("\x1b[") for text in (good, bad))


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_objections_are_heard(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    _watch(monkeypatch)
    monkeypatch.setenv(name, value)
    assert painted("x", good=True) == "x"


def test_no_color_option_and_pipes_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    _watch(monkeypatch)
    assert painted("x", good=True, allowed=False) == "x"
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert painted("x", good=True) == "x"


def test_messages_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    message("two\n  lines")
    assert capsys.readouterr() == ("", "ensctl: two lines\n")


def test_streams_are_switched_to_utf8() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    use_utf8(stream)
    stream.write("λ")
    stream.flush()
    assert stream.buffer.getvalue() == "λ".encode()
