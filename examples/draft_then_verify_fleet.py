"""A million saturating thermostats steered by drafts: when one pass can check eight inputs.

A digital twin computes every house, because houses saturate.  Step by step each input costs a pass
over all of them.  Here 16 mean houses draft K inputs and the powers they expect; one blocked pass
computes all houses over the K steps, and inputs commit as far as the powers before them came
within a tolerance.  Shown are the speed-up over the plain loop at every K, what the cost
a + b K + c J and one survival curve predict from a few cycles, what flat-cost algebra would have
promised, and the price: the tracking error, beside plain re-planning with equally many passes.

When it pays: members that saturate or switch, N of some 10⁵ or more, numba installed, and an error
of about half the tolerance allowed.  A linear ensemble needs none of it; see Ensemble.compress.

Parameter ranges of the houses are illustrative; see ensctl.ThermostatFleet.draw.

Run: python examples/draft_then_verify_fleet.py [FIGURE.png]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ensctl as ec
from ensctl.simulation import FleetDepthStudy, FleetDraftingRun, fleet_depth_study

_DT, _SKIP = 30.0, 40
# Errors are never beyond this, so every draft is committed whole.
_NO_TEST = 1e6


class Result(NamedTuple):
    """The study, the run at the predicted depth, and the same number of passes without tests."""

    study: FleetDepthStudy
    chosen: FleetDraftingRun
    untested: FleetDraftingRun
    replay_error: float


def scenario(steps: int, seed: int = 0) -> tuple[Any, Any]:
    """A regulation signal of ±10 % as a share of nominal power, and an ambient in °C."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(steps + 200)
    signal = (_low_passed(noise, 120.0) - _low_passed(noise, 1200.0))[200:]
    drift = np.sqrt(1.0 - np.exp(-_DT / 900.0)) * _low_passed(
        rng.standard_normal(steps + 200), 1800.0
    )
    day = 1.5 * np.sin(2.0 * np.pi * _DT * np.arange(steps) / (4.0 * 3600.0))
    return 1.0 + 0.1 * signal / np.abs(signal).max(), day + 6.0 * drift[200:]


def main(
    houses: int = 1_000_000,
    steps: int = 480,
    tolerance: float = 4e-3,
    depths: tuple[int, ...] = (1, 2, 4, 6, 8, 10, 12, 16),
    repeats: int = 2,
    figure: Path | None = None,
) -> Result:
    """Predict and measure; draw where ``figure`` says."""
    fleet = ec.ThermostatFleet.draw(houses, seed=1)
    reference, ambient = scenario(steps)
    wanted = fleet.nominal_power * reference
    study = fleet_depth_study(
        fleet,
        wanted,
        depths,
        tolerance=tolerance,
        ambient=ambient,
        skip=_SKIP,
        repeats=repeats,
    )
    place = int(np.argmax(study.depths == max(1, study.predicted.depth)))
    chosen = study.runs[place]
    each = chosen.steps / chosen.cycles.cycles
    untested = ec.fleet_drafting_run(
        fleet,
        wanted,
        # As many passes as with tests, at even distances.
        lambda cycle: int((cycle + 1) * each + 1e-9) - int(cycle * each + 1e-9),
        tolerance=_NO_TEST,
        ambient=ambient,
        skip=_SKIP,
    )
    if figure is not None:
        _draw(study, chosen, figure)
    return Result(study, chosen, untested, chosen.replay_error(ec.duty_model(fleet)))


def _low_passed(noise: Any, seconds: float) -> Any:
    keep = np.exp(-_DT / seconds)
    smooth, value = np.empty_like(noise), 0.0
    for t, sample in enumerate(noise):
        value = keep * value + (1.0 - keep) * sample
        smooth[t] = value
    return smooth


def _draw(study: FleetDepthStudy, chosen: FleetDraftingRun, path: Path) -> None:
    from matplotlib import style
    from matplotlib.figure import Figure

    from ensctl.plot import fleet_depth_speedup, fleet_drafting_cycles

    with style.context("default"):
        figure = Figure(figsize=(9.6, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        fleet_depth_speedup(study, ax=left)
        fleet_drafting_cycles(chosen, ax=right)
        figure.savefig(path, dpi=110)


def _print(result: Result) -> None:
    study, chosen, untested = result.study, result.chosen, result.untested
    print(study)
    print()
    print(chosen)
    print(f"replayed one by one on the houses: powers differ by {result.replay_error:.1e}")
    hazards = [estimate.value for estimate in chosen.counters().hazards().hazards]
    print("acceptance by position: " + ", ".join(f"{value:.2f}" for value in hazards))
    print(
        f"{untested.cycles.cycles} passes without tests: rms error "
        f"{100 * untested.rms_error:.3g} % ({untested.rms_error / chosen.rms_error:.3g} times), "
        f"worst {100 * untested.tracking.worst_error:.3g} % "
        f"({untested.tracking.worst_error / chosen.tracking.worst_error:.3g} times)"
    )
    if chosen.engine == "numpy":
        print("numba is not installed: blocks of numpy calls save little; pip install ensctl[fast]")


if __name__ == "__main__":
    _print(main(figure=Path(sys.argv[1]) if len(sys.argv) > 1 else None))
