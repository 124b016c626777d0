"""Files that are right: bit-exact round trips, and every form that is accepted."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.parsing import parse_ensemble, read_ensemble
from ensctl.ensemble.writing import csv_text, json_text, toml_text
from ensctl.errors import InvalidInputError

_TEXTS = {"csv": csv_text, "json": json_text, "toml": toml_text}
_REAL = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)
_COMPLEX = st.builds(complex, _REAL, _REAL)
_NAMES = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=8
) | st.sampled_from(['a "b", c; d', "#1", "'", "\\", "λ house", "0.5"])


@st.composite
def _ensembles(draw: st.DrawFn) -> Ensemble:
    size = draw(st.integers(1, 4))
    channels, outputs = draw(st.integers(1, 2)), draw(st.integers(1, 2))

    def numbers(*shapes: tuple[int, ...]) -> Any:
        kind = draw(st.sampled_from([np.float64, np.complex128]))
        elements = _REAL if kind is np.float64 else _COMPLEX
        return draw(arrays.arrays(kind, draw(st.sampled_from(shapes)), elements=elements))

    b = numbers((size, channels), (size,)) if channels == 1 else numbers((size, channels))
    c = numbers((outputs, size), (size,)) if outputs == 1 else numbers((outputs, size))
    return Ensemble(
        numbers((size,)),
        b,
        c,
        draw(st.just(0.0) | st.just(numbers((outputs, channels), ()))),
        dt=draw(st.just(1.0) | st.floats(5e-324, 1.7e308)),
        names=draw(st.none() | st.lists(_NAMES, min_size=size, max_size=size)),
    )


def _bits(ens: Ensemble) -> tuple[Any, ...]:
    arrays_of_it = [np.asarray(values) for values in (ens.lam, ens.b, ens.c, ens.d)]
    return (
        *((values.shape, values.dtype, values.tobytes()) for values in arrays_of_it),
        ens.dt,
        ens.names,
    )


@pytest.mark.parametrize("form", ["csv", "json", "toml"])
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(ens=_ensembles())
def test_round_trip_is_exact_to_the_bit(form: str, ens: Ensemble) -> None:
    if form == "csv" and not np.any(np.asarray(ens.d)) and not isinstance(ens.d, np.ndarray):
        # No line is written for d = 0, whatever the sign of the zero.
        ens = Ensemble(ens.lam, ens.b, ens.c, dt=ens.dt, names=ens.names)
    text = _TEXTS[form](ens)
    assert _bits(parse_ensemble(text, format=form)) == _bits(ens)
    assert parse_ensemble(text) == ens


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.json", "a.toml", "A.CSV"])
def test_file_round_trip(tmp_path: Path, name: str) -> None:
    ens = Ensemble([0.1 + 0.2, 5e-324, -1j], [1, 2, 3], d=1.5, dt=30.0, names=["ä", "λ", "東"])
    path = tmp_path / name
    ens.to_file(path)
    assert Ensemble.from_file(path) == ens
    assert Ensemble.from_file(str(path)) == ens
    assert [item.name for item in tmp_path.iterdir()] == [name]


def test_format_overrules_the_suffix(tmp_path: Path) -> None:
    ens = Ensemble([0.2, 0.5])
    ens.to_file(tmp_path / "fleet.dat", format="toml")
    assert tomllib.loads((tmp_path / "fleet.dat").read_text())["lam"] == [0.2, 0.5]
    assert Ensemble.from_file(tmp_path / "fleet.dat", format="toml") == ens
    assert Ensemble.from_file(tmp_path / "fleet.dat") == ens


def test_json_file_is_the_versioned_dict(tmp_path: Path) -> None:
    ens = Ensemble([0.2, 0.5 + 1j], names=["a", "b"])
    ens.to_file(tmp_path / "fleet.json")
    data = json.loads((tmp_path / "fleet.json").read_text(encoding="utf-8"))
    assert data == ens.to_dict()
    assert (data["schema"], data["kind"]) == (1, "ensemble")
    assert data["lam"] == [{"re": 0.2, "im": 0.0}, {"re": 0.5, "im": 1.0}]


def test_csv_file_is_what_a_person_would_write() -> None:
    ens = Ensemble([0.2, 0.5j], [[1, 2], [3, 4]], c=1.0, d=[[1, 2]], dt=30.0, names=["a", "b, c"])
    assert csv_text(ens).splitlines() == [
        "# dt = 30.0",
        "# d = [[1.0, 2.0]]",
        "lam_re,lam_im,b_0,b_1,c,name",
        "0.2,0.0,1.0,2.0,1.0,a",
        '0.0,0.5,3.0,4.0,1.0,"b, c"',
    ]


@pytest.mark.parametrize(
    "text",
    [
        "lam,b\n0.2,1\n0.5,2\n",
        "lam,b\n0.2,1\n0.5,2",
        "\ufefflam,b\r\n0.2,1\r\n0.5,2\r\n",
        "lam,b\r0.2,1\r0.5,2\r",
        "lam;b\n0.2;1\n0.5;2\n",
        "lam\tb\n0.2\t1\n0.5\t2\n",
        '"lam","b"\n"0.2","1"\n"0.5","2"\n',
        " Lam , B \n 0.2 , 1 \n 0.5 , 2 \n",
        "# a fleet\n\nlam,b\n# first\n0.2,1\n\n,\n0.5,2\n  \n",
        "b,λ\n1,0.2\n2,0.5\n",
        "lambda,b_re,b_im\n0.2,1,0\n0.5,2,0\n",
        "lam_re,lam_im,b\n0.2,0,1\n0.5,0.0,2\n",
        "lam,b\n0.2+0j,1\n0.5+0i,2\n",
        '{"lam": [0.2, 0.5], "b": [1, 2]}',
        '{"lam": [0.2, "0.5"], "b": [{"re": 1, "im": 0}, 2], "names": null, "c": null}',
        "lam = [0.2, 0.5]\nb = [1, 2]\n",
        '# a fleet\nlam = [0.2, "0.5"]\nb = [1, {re = 2.0, im = 0.0}]\n',
    ],
)
def test_accepted_forms(text: str) -> None:
    assert parse_ensemble(text) == Ensemble([0.2, 0.5], [1.0, 2.0])


@pytest.mark.parametrize(
    "text",
    [
        "0.2\n0.5+0.1j\n",
        "# λ\n 0.2 \n\n0.5+0.1i\n",
        "lam\n0.2\n0.5+0.1j\n",
        "lam_im,lam_re\n0,0.2\n0.1,0.5\n",
        '[0.2, "0.5+0.1j"]',
        '[0.2, {"re": 0.5, "im": 0.1}]',
        'lam = [0.2, "0.5+0.1j"]',
    ],
)
def test_accepted_forms_of_complex_lam(text: str) -> None:
    assert parse_ensemble(text) == Ensemble([0.2, 0.5 + 0.1j])


def test_comments_carry_dt_and_feedthrough() -> None:
    ens = parse_ensemble("# dt = 30\n#d=-1.5\n0.2\n0.5\n")
    assert (ens.dt, ens.d) == (30.0, -1.5)
    assert parse_ensemble("# d = 1+2j\n0.2\n").d == 1 + 2j
    assert parse_ensemble("# dt is not said\n# delta = 3\n0.2\n").dt == 1.0


def test_one_numbered_channel_stays_two_dimensional() -> None:
    ens = parse_ensemble("lam,b_0,c_1,c_0\n0.2,1,3,2\n0.5,4,6,5\n")
    assert ens.b.tolist() == [[1], [4]]
    assert ens.c.tolist() == [[2, 5], [3, 6]]


def test_suffix_that_says_nothing_is_told_from_the_content(tmp_path: Path) -> None:
    for name, text in {
        "a": "[0.2]",
        "b.dat": "lam = [0.2]",
        "c.lst": "0.2",
        "d.": "lam\n0.2",
    }.items():
        (tmp_path / name).write_text(text)
        assert read_ensemble(tmp_path / name) == Ensemble([0.2])


def test_replaced_file_keeps_its_permissions_and_links(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("0.1\n")
    real.chmod(0o640)
    link.symlink_to(real)
    Ensemble([0.2]).to_file(link)
    assert link.is_symlink()
    assert Ensemble.from_file(real) == Ensemble([0.2])
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    mask = os.umask(0o022)
    try:
        Ensemble([0.2]).to_file(tmp_path / "new.csv")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o644


def test_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fleet.csv"
    Ensemble([0.2]).to_file(path)

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InvalidInputError, match=r"path must be writable.*no space left on device"):
        Ensemble([0.5]).to_file(path)
    assert Ensemble.from_file(path) == Ensemble([0.2])
    assert [item.name for item in tmp_path.iterdir()] == ["fleet.csv"]


@pytest.mark.parametrize(
    ("name", "form", "message"),
    [
        ("fleet.xlsx", None, "path must end in .csv, .json or .toml, got 'fleet.xlsx'"),
        ("fleet", None, "path must end in .csv, .json or .toml, got 'fleet'"),
        ("fleet.csv", "xml", "format must be csv, json or toml, got 'xml'"),
        ("no/fleet.csv", None, "path must be writable.*no such file or directory"),
    ],
)
def test_errors_of_writing(tmp_path: Path, name: str, form: str | None, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Ensemble([0.2]).to_file(tmp_path / name, format=form)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_large_csv_is_read_in_seconds(tmp_path: Path) -> None:
    lam = np.random.default_rng(0).uniform(-0.9, 0.9, 200_000)
    ens = Ensemble(lam, names=[f"house {i}" for i in range(lam.size)])
    ens.to_file(tmp_path / "fleet.csv")
    assert Ensemble.from_file(tmp_path / "fleet.csv") == ens
