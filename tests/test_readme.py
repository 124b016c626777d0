"""The README's Python examples run as they stand, and its two commands are what it says."""

import doctest
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from ensctl.cli import main


def test_python_examples(repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (repository / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", None, 0)
    result = doctest.DocTestRunner(optionflags=flags).run(examples)
    assert result.attempted >= 10
    assert result.failed == 0
    assert (tmp_path / "fleet.html").stat().st_size > 10_000


def test_first_two_commands_install_run_the_demo_and_the_tests(repository):
    text = (repository / "README.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL)[:2]
    assert "ensctl demo" in first
    assert "pytest" in second
    assert text.index("<!-- test-command -->") < text.index(second)


def test_pictures_exist(repository):
    text = (repository / "README.md").read_text(encoding="utf-8")
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (repository / picture).is_file(), picture


def _command_lines(repository):
    """Every line of the README that starts with ensctl, without its comment."""
    text = (repository / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("ensctl ")]


@pytest.mark.slow
def test_command_lines_run(repository, tmp_path, monkeypatch, capsys):
    lines = _command_lines(repository)
    assert len(lines) >= 8
    shutil.copytree(repository / "examples" / "data", tmp_path / "examples" / "data")
    monkeypatch.chdir(tmp_path)
    # The demo makes the files that later lines read.
    assert main(["demo"]) == 0
    codes = {" ".join(line): main(line) for line in lines}
    assert {line: code for line, code in codes.items() if code != 0} == {}
    for written in ("fleet.html", "plan.json", "plan.svg", "schedule.json"):
        assert (tmp_path / written).stat().st_size > 50, written


@pytest.mark.slow
def test_reference_is_built_by_one_command(repository, tmp_path):
    pytest.importorskip("pdoc", reason="pdoc (extra docs) is not installed")
    text = (repository / "README.md").read_text(encoding="utf-8")
    assert "pdoc ensctl -o site --docformat numpy" in text
    command = [sys.executable, "-m", "pdoc", "ensctl", "-o", str(tmp_path), "--docformat", "numpy"]
    subprocess.run(command, check=True, cwd=repository, capture_output=True)
    page = (tmp_path / "ensctl.html").read_text(encoding="utf-8")
    assert all(name in page for name in ("controllability", "steer", "identify", "choose_nodes"))
    assert (tmp_path / "ensctl" / "drafting.html").is_file()
