"""What all commands have in common: help, JSON that is documented, streams, completion, order."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ensctl.cli import app as application
from ensctl.cli.standard_input import as_file
from ensctl.cli.waiting import waiting
from ensctl.errors import InvalidInputError

Call = Callable[..., Any]
_CALL = [sys.executable, "-c", "import sys; from ensctl.cli import main; sys.exit(main())"]
_COMMANDS = [command.__name__ for command, _ in application._COMMANDS]
_COST = "batch,K,cycle\n" + "".join(
    f"{b},{k},{10 + k + b / 8}\n" for b in (1, 8) for k in (0, 1, 3)
)
_LOG = (
    "SpecDecoding metrics: Mean acceptance length: 2.40, Accepted throughput: 14.00 tokens/s, "
    "Drafted throughput: 30.00 tokens/s, Accepted: 140 tokens, Drafted: 300 tokens, Per-position "
    "acceptance rate: 0.700, 0.450, 0.250, Avg Draft acceptance rate: 46.7%\n"
)


@pytest.mark.parametrize("command", _COMMANDS)
def test_help_ends_with_the_json_schema(ensctl: Call, command: str) -> None:
    run = ensctl(command, "--help")
    assert run.code == 0
    last = run.out.rstrip().split("\n\n")[-1]
    assert last.startswith("  JSON (schema 1): schema, kind")
    assert max(map(len, run.out.splitlines())) <= 100


def _calls(folder: Path) -> dict[str, list[str]]:
    (folder / "cost.csv").write_text(_COST, encoding="utf-8")
    (folder / "server.log").write_text(_LOG, encoding="utf-8")
    log, cost = str(folder / "server.log"), str(folder / "cost.csv")
    replayed = ["--fixture", "iid", "--cycles", "50", "--seeds", "1", "--batch", "4"]
    return {
        "demo": [str(folder / "demo")],
        "check": ["0.2", "0.5"],
        "report": ["0.2", "0.5"],
        "design": ["-n", "2", "-r", "-0.9:0.9"],
        "steer": ["0.2", "0.5", "-t", "1", "-H", "4"],
        "continuum": ["-t", "x", "-i", "0.1:0.9", "-H", "4"],
        "simulate": ["0.2", "0.5", "-u", "1,2"],
        "swarm": ["L", "-n", "12"],
        "depth": [log, "--draft-cost", "0.1"],
        "plan": [log, "--cost", cost],
        "replay": replayed,
        "reproduce": [],
    }


@pytest.mark.parametrize("command", _COMMANDS)
def test_every_key_of_json_is_documented(ensctl: Call, tmp_path: Path, command: str) -> None:
    run = ensctl(command, *_calls(tmp_path)[command], "--json")
    assert run.code == 0, run.err
    content = json.loads(run.out)
    text = ensctl(command, "--help").out
    words = set(re.findall(r"\w+", text[text.index("JSON (schema 1)") :]))
    results = content.get("results", [{}]) if command == "depth" else [{}]
    assert set(content) | set(results[0]) <= words
    assert content["kind"] in words


def test_commands_stand_in_the_order_of_use(ensctl: Call) -> None:
    listed = re.findall(r"^  (\w+) {2,}\w", ensctl("--help").out.split("Commands:")[1], re.M)
    assert listed == _COMMANDS
    assert (listed[0], listed[-1]) == ("demo", "reproduce")
    widths = [len(line) for line in ensctl("--help").out.splitlines()]
    assert max(widths) <= 80


def test_options_mean_the_same_everywhere() -> None:
    from typer.main import get_command

    meanings: dict[str, set[str]] = {}
    for name, command in get_command(application.app).commands.items():  # type: ignore[attr-defined]
        assert {"--json"} <= {option for one in command.params for option in one.opts}, name
        for one in command.params:
            for option in one.opts:
                if re.fullmatch("-[A-Za-z]", option):
                    meanings.setdefault(option, set()).add(max(one.opts, key=len))
    # How many there are: of members, or of robots.
    assert meanings.pop("-n") == {"--count", "--robots"}
    assert {option: names for option, names in meanings.items() if len(names) > 1} == {}
    assert meanings["-o"] == {"--output"} and meanings["-H"] == {"--horizon"}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("chek", "0.2"), "check"),
        (("check", "0.2", "--horizn", "3"), "--horizon"),
        (("report", "0.2", "--jsn"), "--json"),
        (("design", "--contu", "3"), "--count"),
    ],
)
def test_a_slip_of_the_pen_is_recognised(ensctl: Call, typed: tuple[str, ...], meant: str) -> None:
    run = ensctl(*typed)
    assert (run.code, run.out) == (2, "")
    assert meant in run.err.splitlines()[-1]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize("words", [("check", "0.2"), ("--help",), ("--version",), ("plan", "-h")])
def test_a_full_disk_is_one_line(words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        run = subprocess.run([*_CALL, *words], stdout=full, stderr=subprocess.PIPE, check=False)
    assert run.returncode == 1
    assert run.stderr.decode() == (
        "ensctl: stdout cannot be written: no space left on device; choose another place\n"
    )


@pytest.mark.parametrize(
    ("line", "blamed"),
    [
        ("check - <&-", "stdin is closed"),
        ("depth - --draft-cost 0.1 <&-", "stdin is closed"),
        ("steer 0.2 0.5 -t - -H 4 <&-", "stdin is closed"),
        ("check 0.2 >&-", "stdout is closed"),
    ],
)
def test_closed_streams_are_one_line(line: str, blamed: str) -> None:
    program = f'{_CALL[0]} -c "{_CALL[2]}"'
    run = subprocess.run(["sh", "-c", f"{program} {line}"], capture_output=True, check=False)
    assert run.returncode == 1
    assert run.stderr.decode().startswith(f"ensctl: {blamed}") and run.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("words", "piped", "file"),
    [
        (("simulate", "0.2", "0.5", "-u"), "1\n2\n", "u.csv"),
        (("steer", "0.2", "0.5", "-H", "4", "-t"), "target\n1\n0\n", "t.csv"),
        (("design", "-n", "2", "-r"), "0.1\n0.5\n-0.4\n", "r.csv"),
        (("continuum", "-i", "0.1:0.9", "-H", "4", "-t"), "0.1,1\n0.5,2\n0.9,1\n", "t.csv"),
        (("depth", "--alpha", "0.7", "--cost-from"), _COST, "c.csv"),
    ],
)
def test_dash_is_stdin_where_a_file_is_read(
    ensctl: Call, tmp_path: Path, words: tuple[str, ...], piped: str, file: str
) -> None:
    (tmp_path / file).write_text(piped, encoding="utf-8")
    named = ensctl(*words, str(tmp_path / file))
    run = ensctl(*words, "-", stdin=piped.encode())
    assert (run.code, run.out) == (0, named.out)


def test_a_copy_of_stdin_is_called_stdin(ensctl: Call) -> None:
    run = ensctl("continuum", "-i", "0:1", "-H", "4", "-t", "-", stdin=b"0.1,x\n0.2,y\n")
    assert run.code == 1 and "stdin" in run.err and "/tmp" not in run.err
    with as_file("some/file.csv") as path:
        assert path == Path("some/file.csv")


def test_shell_completion() -> None:
    def complete(words: str, position: int) -> list[str]:
        told = {"COMP_WORDS": words, "COMP_CWORD": str(position)}
        environment = {**os.environ, **told, "_ENSCTL_COMPLETE": "complete_bash"}
        run = subprocess.run(_CALL, capture_output=True, text=True, env=environment, check=False)
        return run.stdout.split()

    assert complete("ensctl re", 1) == ["report", "replay", "reproduce"]
    assert complete("ensctl steer --u-", 2) == ["--u-max", "--u-min"]


def test_completion_is_offered(ensctl: Call) -> None:
    text = ensctl("--help").out
    assert "--install-completion" in text and "--show-completion" in text


def test_demo_leaves_nothing_behind_when_it_fails(
    ensctl: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ensctl.reporting.report import Report

    def refuse(self: Report, path: Path) -> Path:
        raise InvalidInputError("path must be writable, got a full disk")

    monkeypatch.setattr(Report, "save", refuse)
    assert ensctl("demo", str(tmp_path / "a" / "b")).code == 1
    assert list(tmp_path.iterdir()) == []


def test_waiting_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting("thinking") as done:
        done(1, 2)
        time.sleep(1.2)
    assert capsys.readouterr() == ("", "")


def test_waiting_says_what_share_is_done_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = pty.openpty()
    before = threading.active_count()
    with os.fdopen(writer, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with waiting("thinking") as done:
            done(1, 4)
            time.sleep(1.3)
        seen = os.read(reader, 4096).decode("utf-8")
    os.close(reader)
    assert "ensctl: thinking … 25 %, 1 s" in seen
    assert seen.endswith("\r\x1b[K") and threading.active_count() == before
