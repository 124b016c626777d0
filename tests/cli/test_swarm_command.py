"""``ensctl swarm``: what it prints and writes, and how it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensctl.simulation import Swarm

Call = Callable[..., Any]


def test_writes_a_film_a_picture_the_plan_and_the_speeds(ensctl: Call, tmp_path: Path) -> None:
    names = ("hi.gif", "hi.png", "hi.json", "hi.csv")
    outputs = [part for name in names for part in ("-o", str(tmp_path / name))]
    run = ensctl("swarm", "HI", "--robots", "40", *outputs)
    assert run.code == 0
    assert run.out.startswith("optimal, certified: one speed signal brings 40 robots")
    assert "turn-rate tolerance" in run.out
    assert run.err.splitlines() == [f"ensctl: wrote {tmp_path / name}" for name in names]
    assert (tmp_path / "hi.gif").read_bytes().startswith(b"GIF89a")
    plan = json.loads((tmp_path / "hi.json").read_text(encoding="utf-8"))
    swarm = Swarm(plan["turn_rates"], plan["headings"], plan["positions"])
    final = swarm.final_positions(plan["inputs"])
    assert np.abs(final - np.array(plan["points"]) @ [1, 1j]).max() < 1e-12


def test_json_on_stdout_is_the_plan_and_the_seed_counts(ensctl: Call) -> None:
    plans = [
        json.loads(ensctl("swarm", "I", "-n", "10", "--json", "--seed", seed).out)
        for seed in ("1", "1", "2")
    ]
    assert (plans[0]["schema"], plans[0]["kind"]) == (1, "swarm_plan")
    assert plans[0] == plans[1]
    assert plans[0]["inputs"] != plans[2]["inputs"]
    assert plans[0]["horizon"] == plans[0]["rule_horizon"]


def test_a_limit_is_a_speed_or_a_multiple(ensctl: Call) -> None:
    options = ("swarm", "I", "-n", "20", "--horizon", "80", "--json")
    free = json.loads(ensctl(*options).out)
    rms = np.sqrt(free["minimum_energy"] / 80)
    multiple = json.loads(ensctl(*options, "--v-max", "2x").out)
    assert multiple["v_max"] == pytest.approx(2.0 * rms)
    speed = json.loads(ensctl(*options, "--v-max", repr(multiple["v_max"])).out)
    assert speed["inputs"] == multiple["inputs"]
    assert max(abs(v) for v in speed["inputs"]) <= speed["v_max"]


def test_too_slow_exits_3_and_writes_nothing(ensctl: Call, tmp_path: Path) -> None:
    run = ensctl("swarm", "I", "-n", "20", "--v-max", "1.01x", "-o", str(tmp_path / "i.gif"))
    assert run.code == 3
    assert run.out.startswith("infeasible, proved")
    assert list(tmp_path.iterdir()) == []
    data = json.loads(ensctl("swarm", "I", "-n", "20", "--v-max", "1.01x", "--json").out)
    assert data["certificate"]["verified"] and data["inputs"] is None


def test_too_few_steps_exit_3_and_name_the_horizon(ensctl: Call) -> None:
    run = ensctl("swarm", "I", "-n", "20", "--horizon", "39")
    assert run.code == 3
    assert "take at least 40 steps" in run.out


def test_an_image_gives_the_shape(ensctl: Call, tmp_path: Path) -> None:
    from PIL import Image

    picture = np.full((30, 30), 255, dtype=np.uint8)
    picture[10:20, :] = 0
    Image.fromarray(picture).save(tmp_path / "bar.png")
    run = ensctl("swarm", "--image", str(tmp_path / "bar.png"), "-n", "20", "--json")
    points = np.array(json.loads(run.out)["points"])
    assert np.ptp(points[:, 0]) > 2.0 and np.ptp(points[:, 1]) <= 1.0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("",), "text must have at least one visible character"),
        (("日",), "choose another font"),
        (("I", "-n", "0"), "robots must be from 1 to 2000"),
        (("I", "--jitter", "0.5"), "jitter must be < 0.5"),
        (("I", "--seed", "-1"), "seed must be an integer ≥ 0"),
        (("I", "--horizon", "inf"), "horizon must be an integer ≥ 1"),
        (("I", "--horizon", "ten"), "horizon must be an integer ≥ 1"),
        (("I", "--v-max", "fast"), "v_max must be a speed"),
        (("I", "--v-max", "0.5x"), "v_max must be > 0, or a multiple ≥ 1x"),
        (("I", "-n", "4", "--v-max", "-1"), "v_max must be > 0"),
        (("I", "-o", "i.txt"), "output must end in .gif"),
        (("I", "-o", "no-such-folder/i.gif"), "folder that exists"),
        (("--image", "no-such-file.png"), "image cannot be read"),
    ],
)
def test_wrong_values_exit_1_in_one_line(
    ensctl: Call, arguments: tuple[str, ...], named: str
) -> None:
    run = ensctl("swarm", *arguments)
    assert (run.code, run.out) == (1, "")
    assert named in run.err.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments", [(), ("I", "--image", "x.png"), ("I", "-n", "many"), ("I", "--jumble")]
)
def test_wrong_command_lines_exit_2(ensctl: Call, arguments: tuple[str, ...]) -> None:
    assert ensctl("swarm", *arguments).code == 2
