"""Files that are wrong: one line that names the file, the line or key, and what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.parsing import parse_ensemble, read_ensemble
from ensctl.errors import FormatError, InvalidInputError


def _error(text: str, form: str | None) -> FormatError:
    with pytest.raises(FormatError) as caught:
        parse_ensemble(text, format=form, source="fleet")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250
    assert caught.value.path == "fleet"
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "is empty; give one λ a line"),
        (" \n\n", None, "is empty"),
        ("# only a comment\n", None, "has no λ"),
        ("lam,b\n", 1, "has a header and no members; add one line for each"),
        ("# x\nlam,b\n\n;,\n", 2, "has a header and no members"),
        ("lam,b\n0.2,1\n0.5\n", 3, "has 1 cell where the header has 2"),
        ("lam,b\n0.2,1\n0.5,2,3\n", 3, "has 3 cells where the header has 2"),
        ("lam,b\n0.2,1\n0.5x,2\n", 3, "lam must be a number, got '0.5x'"),
        ("lam,b\n0.2,one\n", 2, "b must be a number, got 'one'"),
        ("lam,b\n0.2,\n", 2, "b must be a number, got nothing"),
        ("lam,b\n0.2,nan\n", 2, "b must be a number, got 'nan', which is not finite"),
        ("lam\n0.2\n\n-inf\n", 4, "lam must be a number, got '-inf', which is not finite"),
        ("lam\n1e400\n", 2, "got '1e400', which is not finite"),
        ("lam\n1_000\n", 2, "got '1_000'"),
        ("lam;b\n0,5;1\n", 2, "got '0,5'; write 0.5, not 0,5"),
        ("0.2\nabc\n", 2, "λ must be a number, got 'abc'"),
        ("nan\n", 1, "λ must be a number, got 'nan', which is not finite"),
        ("0.2\n0.5,1\n", 2, "has 2 cells and no header says what they are"),
        ("0,5\n0,2\n", 1, "has 2 cells and no header .* decimal point"),
        ("0.2x\n0.5\n", 1, "λ must be a number, or the first line a header .* got '0.2x'"),
        ("b,c\n1,2\n", 1, "has no column lam, got 'b, c'; name the column that holds λ 'lam'"),
        ("lamda,b\n1,2\n", 1, "column 'lamda' is unknown, did you mean 'lam'"),
        ("lam,gain\n1,2\n", 1, "column 'gain' is unknown, did you mean 'b'"),
        ("lam,temperature\n1,2\n", 1, "column 'temperature' is unknown; known columns are lam,"),
        ("lam,b,\n1,2,\n", 1, "column 3 has no name"),
        ("lam,b,b\n1,2,3\n", 1, "column 'b' stands twice; keep one"),
        ("lam,λ\n1,2\n", 1, "column 'λ' stands twice"),
        ("lam,name,names\n1,2,3\n", 1, "column 'names' stands twice"),
        ("lam_re,b\n1,2\n", 1, "lam must be one column lam, or two columns lam_re and lam_im"),
        ("lam,lam_im\n1,2\n", 1, "lam must be one column .* got lam, lam_im"),
        ("lam,b_0,b\n1,2,3\n", 1, "columns of b must be all numbered or not at all"),
        ("lam,b_1,b_2\n1,2,3\n", 1, "columns of b must be numbered b_0, .* got b_1, b_2"),
        ("lam,c_0_re\n1,2\n", 1, "c_0 must be one column c_0, or two columns"),
        ("lam,b_re,b_im\n1,2j,0\n", 2, "b_re must be a real number, got '2j'"),
        ('lam,name\n0.2,"a\n0.5,b\n', 2, "cannot be split into cells: .* check its quotes"),
        ("# dt = 0\n0.2\n", 1, "dt must be a number > 0, got '0'"),
        ("0.2\n# dt = soon\n", 2, "dt must be a number, got 'soon'"),
        ("# dt = 1j\n0.2\n", 1, "dt must be a number > 0"),
        ("# dt = [1]\n0.2\n", 1, "dt must be a number > 0"),
        ("# dt = 1\n# dt = 2\n0.2\n", 2, "dt stands twice; keep one"),
        ("# d = [[1, 2]]\n0.2\n", None, r"d must be .* got \(1, 2\)"),
        ("# d = [[1, nan]]\n0.2\n", 1, "d must be"),
        ("# d = [[1,\n0.2\n", 1, "d must be a number"),
        ("lam,name\n0.2,a\x07\n", None, r"names must have no line breaks .* 'a\\x07'"),
    ],
)
def test_csv(text: str, line: int | None, message: str) -> None:
    error = _error(text, "csv")
    assert error.line == line
    assert re.search(message, str(error)), str(error)
    if line is not None:
        assert str(error).startswith(f"fleet, line {line}: ")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"lam": [0.2,\n 0.5', 2, "is not valid JSON"),
        ("[0.2, 0.5,]", 1, "is not valid JSON"),
        ("[]", None, "lam must have at least one entry, got none"),
        ("3", None, "must hold a list of λ or the key lam, got 3"),
        ("{}", None, "key lam is missing; give the list of λ"),
        ('{"lam": null}', None, "key lam is missing"),
        ('{"lam": [0.2, NaN]}', None, "NaN is not a finite number; remove or replace it"),
        ('{"lam": [0.2, -Infinity]}', None, "-Infinity is not a finite number"),
        ('{"lam": [0.2, "inf"]}', None, r"key lam\[1\] must be a number, got 'inf', which is not"),
        ('{"lam": [0.2, 1e400]}', None, r"key lam\[1\] must be a number, got inf"),
        (f'{{"lam": [1{"0" * 400}]}}', None, r"key lam\[0\] must be a number, got inf"),
        (f'{{"lam": [1{"0" * 9000}]}}', None, "is not valid here"),
        ('{"lam": [0.2, true]}', None, r"key lam\[1\] must be a number, got True"),
        ('{"lam": [0.2, null]}', None, r"key lam\[1\] must be a number, got None"),
        ('{"lam": [0.2, {"re": 1}]}', None, r"key lam\[1\] must be a number, got {'re': 1}"),
        ('{"lam": [0.2, "a key "]}', None, r"key lam\[1\] must be a number, got 'a key'"),
        ('{"lam": [0.2], "b": [[1, 2], [3]]}', None, "b must be"),
        ('{"lam": [[0.2], [0.5, 1]]}', None, "lam must be"),
        ('{"lam": [0.2], "b": [1, 2]}', None, r"b must be a scalar or have shape \(1,\)"),
        ('{"lamda": [0.2]}', None, "key 'lamda' is unknown, did you mean 'lam'"),
        ('{"lam": [0.2], "gains": [1]}', None, "key 'gains' is unknown, did you mean 'b'"),
        ('{"lam": [0.2], "colour": 1}', None, "key 'colour' is unknown; known keys are lam, b,"),
        ('{"lam": [0.2], "lam": [0.5]}', None, "key 'lam' stands twice; keep one"),
        ('{"lam": [0.2], "dt": -1}', None, "dt must be > 0"),
        ('{"lam": [0.2], "dt": [1]}', None, "dt must be"),
        ('{"lam": [0.2], "names": [1]}', None, "names must be strings, got int at index 0"),
        ('{"lam": [0.2], "names": "a"}', None, "names must be a sequence of 1 strings"),
        ('{"schema": 2, "lam": [0.2]}', None, "key schema must be 1, got 2"),
        ('{"kind": "report", "lam": [0.2]}', None, "key kind must be 'ensemble', got 'report'"),
        ("[" * 100_000, None, "is nested too deeply|is not valid JSON"),
    ],
)
def test_json(text: str, line: int | None, message: str) -> None:
    error = _error(text, "json")
    assert error.line == line
    assert re.search(message, str(error)), str(error)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("lam = [0.2,\nb = 3\n", 2, "is not valid TOML"),
        ("lam = [0.2]\nlam = [0.5]\n", 2, "is not valid TOML"),
        ("lam = [0.2, nan]\n", None, r"key lam\[1\] must be a number, got nan"),
        ("lam = [0.2, 1979-05-27]\n", None, r"key lam\[1\] must be a number, got datetime.date"),
        ("b = [0.2]\n", None, "key lam is missing"),
        ("lam = [0.2]\nlamm = 1\n", None, "key 'lamm' is unknown, did you mean 'lam'"),
        ("[members]\nlam = [0.2]\n", None, "key 'members' is unknown"),
        ("lam = []\n", None, "lam must have at least one entry"),
    ],
)
def test_toml(text: str, line: int | None, message: str) -> None:
    error = _error(text, "toml")
    assert error.line == line
    assert re.search(message, str(error)), str(error)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x00\x01\x02binary", "is a binary file; save it as CSV, JSON or TOML"),
        (b"PK\x03\x04\x14\x00\x06\x00", "is a binary file"),
        (b"lam\n0.2\n\xff\xfa\n", r"line 3: is not UTF-8 text \(byte 0xff\); save it as UTF-8"),
        ("lam\n0.2\n".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        (b"", "is empty"),
    ],
)
@pytest.mark.parametrize("name", ["fleet.csv", "fleet.json", "fleet.toml", "fleet"])
def test_bytes(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        Ensemble.from_file(path)
    assert caught.value.path == str(path)
    assert str(caught.value).startswith(str(path))


def test_binary_in_a_stream() -> None:
    assert "is a binary file" in str(_error("lam\n0.2\0\n", None))


def test_file_that_is_not_there_or_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no\.csv: cannot be read: no such file or directory"):
        read_ensemble(tmp_path / "no.csv")
    with pytest.raises(FormatError, match="cannot be read: is a directory"):
        read_ensemble(tmp_path)
    with pytest.raises(FormatError, match="cannot be read: embedded null byte"):
        read_ensemble("a\0b")


def test_unknown_format_is_the_callers_error(tmp_path: Path) -> None:
    (tmp_path / "fleet.csv").write_text("0.2\n")
    for call in (
        lambda: parse_ensemble("0.2", format="xml"),
        lambda: read_ensemble(tmp_path / "fleet.csv", format="xml"),
    ):
        with pytest.raises(InvalidInputError, match="format must be csv, json or toml, got 'xml'"):
            call()


@pytest.mark.parametrize("depth", [100, 500, 900, 5000])
def test_deeply_nested_json_is_one_line(depth):
    text = '{"lam":' + "[" * depth + "1" + "]" * depth + "}"
    with pytest.raises(FormatError) as caught:
        parse_ensemble(text, format="json")
    assert "\n" not in str(caught.value)
