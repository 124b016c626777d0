"""Files: the suffix decides, and they appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import ensctl as ec
from ensctl.files import write_whole


@pytest.fixture(scope="module")
def small() -> ec.Report:
    return ec.report(ec.Ensemble([0.2, 0.8], names=["λ one", "two"]))


def test_suffix_decides_on_the_format(small: ec.Report, tmp_path: Path) -> None:
    expected = {
        "a.html": small.to_html(),
        "b.JSON": small.to_json(),
        "c.md": small.to_markdown(),
        "d.txt": small.to_text(),
    }
    for name, text in expected.items():
        assert small.save(tmp_path / name) == tmp_path / name
        assert (tmp_path / name).read_text(encoding="utf-8") == text
    assert sorted(item.name for item in tmp_path.iterdir()) == sorted(expected)


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.html.gz"])
def test_other_suffixes_are_refused(small: ec.Report, tmp_path: Path, name: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=r"path must end in \.html, \.json, \.md, \.txt"):
        small.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_missing_folder_is_one_line(small: ec.Report, tmp_path: Path) -> None:
    with pytest.raises(ec.InvalidInputError, match=r"^path must be writable") as caught:
        small.save(tmp_path / "missing" / "a.html")
    assert "\n" not in str(caught.value)


def test_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ec.InvalidInputError, match="no space left on device"):
        write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_an_ordinary_file(tmp_path: Path) -> None:
    (tmp_path / "ordinary").write_text("", encoding="utf-8")
    write_whole(tmp_path / "new", "")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ordinary", "new")]
    assert modes[0] == modes[1]
    (tmp_path / "new").chmod(0o640)
    write_whole(tmp_path / "new", "again")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
