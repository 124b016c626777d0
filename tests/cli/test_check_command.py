"""``ensctl check``: verdicts, exit codes, every way to give a population."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


def test_reachable_exits_0_and_says_so_on_stdout(ensctl: Call) -> None:
    run = ensctl("check", "0.2", "0.5", "0.8")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("reachable: rank 3 of 3")
    assert "practical" in run.out


def test_not_reachable_exits_3_and_names_the_members(ensctl: Call) -> None:
    run = ensctl("check", "0.3", "0.3", "0.9")
    assert (run.code, run.err) == (3, "")
    assert run.out.startswith("not reachable")
    assert "members 0 and 1" in run.out


def test_reachable_and_impractical_shows_both_numbers(ensctl: Call) -> None:
    run = ensctl("check", "0.3", repr(0.1 + 0.2))
    assert run.code == 0
    assert "rank 2 of 2" in run.out
    assert "κ₂ = " in run.out and ": no, not for every target" in run.out


@pytest.mark.parametrize(
    "tokens",
    [
        ("-0.5", "0.5"),
        ("0.5", "-0.5", "--gains", "1,2"),
        ("-0.5,0.5",),
        ("-b", "-1,2", "-0.5", "0.5"),
        ("-5e-1", "+.5"),
        ("-0.5-0.2j", "-0.5+0.2j"),
        ("--", "-0.5", "0.5"),
    ],
)
def test_negative_numbers_are_lam(ensctl: Call, tokens: tuple[str, ...]) -> None:
    run = ensctl("check", *tokens)
    assert (run.code, run.err) == (0, "")
    assert "rank 2 of 2" in run.out


@pytest.mark.parametrize("token", ["--jsn", "-j", "-x", "--0.5x", "-0.5x"])
def test_misspelt_options_are_not_lam(ensctl: Call, token: str) -> None:
    run = ensctl("check", "0.2", token)
    assert (run.code, run.out) == (2, "")
    assert "No such option" in run.err


def test_nearest_option_is_suggested(ensctl: Call) -> None:
    assert "--json" in ensctl("check", "0.2", "--jsn").err
    assert "check" in ensctl("chek", "0.2").err


def test_no_lam_is_a_wrong_command_line(ensctl: Call) -> None:
    assert ensctl("check").code == 2


def test_json_is_versioned_and_complete(ensctl: Call) -> None:
    run = ensctl("check", "0.3", "0.3", "0.9", "--json")
    content = json.loads(run.out, parse_constant=_refuse)
    assert run.code == 3
    assert content["schema"] == 1 and content["kind"] == "check"
    assert content["reachable"] is False
    assert content["controllability"]["locked"] == [[0, 1]]
    assert content["practical"]["log10_cond"] == "inf"
    assert content["note"] is None


def test_horizon_decides(ensctl: Call) -> None:
    short = ensctl("check", "0.2", "0.5", "0.8", "--horizon", "2")
    assert short.code == 3 and "rank 2 of 3" in short.out
    assert ensctl("check", "0.2", "0.5", "0.8", "-H", "3").code == 0
    assert ensctl("check", "0.2", "0.5", "0.8", "--horizon", "inf").code == 0


def test_real_inputs_count_real_dimensions(ensctl: Call) -> None:
    pair = ensctl("check", "0.5+0.2j", "0.5-0.2j", "--real-inputs")
    assert pair.code == 0 and "rank 2 of 2 real" in pair.out
    alone = ensctl("check", "0.5+0.2j", "--real-inputs")
    assert alone.code == 0 and "rank 2 of 2 real" in alone.out


def test_files_and_stdin(ensctl: Call, tmp_path: Path) -> None:
    text = "lam,b,name\n0.2,1,a\n0.5,0,b\n"
    path = tmp_path / "fleet.csv"
    path.write_text(text, encoding="utf-8")
    from_file = ensctl("check", str(path))
    from_stdin = ensctl("check", "-", stdin=text.encode())
    assert from_file.code == from_stdin.code == 3
    assert from_file.out == from_stdin.out
    assert "b has b = 0" in from_file.out
    assert ensctl("check", str(path), "--gains", "1").code == 0


@pytest.mark.parametrize(
    ("tokens", "named"),
    [
        (("nan", "0.5"), "lam"),
        (("-inf", "0.5"), "lam"),
        (("1e999",), "lam"),
        (("0.2", "abc"), "lam"),
        (("nowhere.csv",), "nowhere.csv"),
        (("0.2", "--gains", "1,x"), "gains"),
        (("0.2", "--gains", "1,2,3"), "b"),
        (("0.2", "--gains", ""), "gains"),
        (("0.2", "--horizon", "0"), "horizon"),
        (("0.2", "--horizon", "2.5"), "horizon"),
        (("0.2", "--horizon", "-3"), "horizon"),
        (("-", "--format", "xml"), "format"),
        (("-",), "-"),
    ],
)
def test_wrong_values_are_one_line_and_exit_1(
    ensctl: Call, tokens: tuple[str, ...], named: str
) -> None:
    run = ensctl("check", *tokens)
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("ensctl: ") and run.err.count("\n") == 1
    assert named in run.err


@pytest.mark.parametrize(
    "content",
    [b"", b"lam,b\n", b"lam,b\n0.2,1\nx,1\n", b"\x00\x01\xff\xfe\x80", b"lam\nnan\n"],
    ids=["empty", "header only", "broken row", "binary", "nan"],
)
def test_wrong_files_name_the_file(ensctl: Call, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fleet.csv"
    path.write_bytes(content)
    for run in (ensctl("check", str(path)), ensctl("check", "-", stdin=content)):
        assert (run.code, run.out) == (1, "")
        assert run.err.startswith("ensctl: ") and run.err.count("\n") == 1
    assert "fleet.csv" in ensctl("check", str(path)).err


def test_broken_row_names_its_line(ensctl: Call) -> None:
    assert "line 3" in ensctl("check", "-", stdin=b"lam,b\n0.2,1\nx,1\n").err


def test_exact_verdict_has_no_limit_of_size(ensctl: Call) -> None:
    many = "\n".join(f"{k}e-6" for k in range(1, 20_001)).encode()
    run = ensctl("check", "-", "--json", stdin=many)
    content = json.loads(run.out)
    assert run.code == 0
    assert content["controllability"]["rank"] == 20_000
    assert content["practical"] is None and "20000 members" in content["note"]
    assert "practical: not judged: 20000 members" in ensctl("check", "-", stdin=many).out


def test_infinite_horizon_of_an_unstable_set_has_no_practical_verdict(ensctl: Call) -> None:
    run = ensctl("check", "1.5", "0.5", "--horizon", "inf")
    assert run.code == 0 and "practical: not judged: horizon must be finite" in run.out


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
