"""A hundred thousand air conditioners follow a regulation signal; only their total power is known.

All houses hear one shift u of their set-points, |u| ≤ 0.5 °C.  The ambient moves and nobody
measures it.  The controller chooses u_t before the power of step t is metered, with 16 mean houses
as its model and a level and trend for what these miss.  Beside it: the plan it would make if it
measured nothing, and a PI controller tuned by search.  Then an ambient step that drives the input
to its limit, and the rebound after half an hour of reduced power, left alone and limited.

Parameter ranges of the houses are illustrative; see ensctl.ThermostatFleet.draw.

Run: python examples/thermostat_fleet.py [FIGURE.png]
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ensctl as ec
from ensctl.simulation import FleetPI, InputPlan

_DT, _STEPS, _SKIP, _U_MAX = 30.0, 480, 40, 0.5
# The event: half an hour at 85 % of nominal power after twenty minutes of rest.
_EVENT, _REDUCTION, _PEAK = slice(40, 100), 0.15, 1.05
_AMBIENT_STEP = 1.5


class Result(NamedTuple):
    """Errors are rms, in % of nominal power."""

    houses: int
    mpc: tuple[float, ...]
    pi: tuple[float, ...]
    pi_current: tuple[float, ...]
    open_loop: tuple[float, ...]
    largest_input: float
    worst_residual: float
    step_error_in_reach: float
    step_error_at_limit: float
    step_saturated: int
    step_message: str
    rebound_peak: float
    limited_peak: float
    minutes_to_return: float


class Scenario(NamedTuple):
    """Reference as a share of nominal power, ambient in °C, meter errors as a share."""

    reference: Any
    ambient: Any
    meter: Any


def regulation(seed: int) -> Scenario:
    """A regulation signal of ±10 %, an ambient that nobody measures, and a noisy meter."""
    rng = np.random.default_rng(seed)
    warm_up = 200
    noise = rng.standard_normal(warm_up + _STEPS)
    signal = (_low_passed(noise, 120.0) - _low_passed(noise, 1200.0))[warm_up:]
    keep = np.exp(-_DT / 1800.0)
    drift = np.empty(_STEPS)
    drift[0] = 0.2 * rng.standard_normal()
    for t in range(1, _STEPS):
        drift[t] = keep * drift[t - 1] + 0.2 * np.sqrt(1.0 - keep**2) * rng.standard_normal()
    day = 1.5 * np.sin(2.0 * np.pi * _DT * np.arange(_STEPS) / (4.0 * 3600.0))
    return Scenario(
        1.0 + 0.1 * signal / np.abs(signal).max(),
        day + drift,
        1e-3 * rng.standard_normal(_STEPS),
    )


def main(houses: int = 100_000, seeds: int = 5, figure: Path | None = None) -> Result:
    """Run all scenarios; draw them where ``figure`` says."""
    fleet = ec.ThermostatFleet.draw(houses, seed=1)
    plant, small = ec.duty_model(fleet), ec.reduced_duty_model(fleet, 16)
    gains, gains_current = tuned_pi(small, current=False), tuned_pi(small, current=True)
    runs = [_regulated(plant, small, regulation(seed), gains) for seed in range(seeds)]
    current = [
        _run(plant, gains_current, regulation(seed), "PI, reference of now")
        for seed in range(seeds)
    ]
    hot = _ambient_step(plant, small)
    event = _event(plant, small)
    if figure is not None:
        _draw(runs[0], hot, event, figure)
    mpc = [run[0] for run in runs]
    # Near the limit the controller already gives way, since it looks ten minutes ahead.
    within = slice(_SKIP, int(np.flatnonzero(np.abs(hot.inputs) >= 0.8 * hot.u_max)[0]))
    returned = np.flatnonzero(np.abs(event[0].inputs) > 0.02)[-1] + 1 - _EVENT.stop
    return Result(
        houses=houses,
        mpc=tuple(100.0 * run.rms_error for run in mpc),
        pi=tuple(100.0 * run[1].rms_error for run in runs),
        pi_current=tuple(100.0 * run.rms_error for run in current),
        open_loop=tuple(100.0 * run[2].rms_error for run in runs),
        largest_input=max(float(np.abs(run.inputs).max()) for run in (*mpc, hot, *event)),
        worst_residual=max(run.residual for run in (*mpc, hot, event[0])),
        step_error_in_reach=100.0 * float(np.sqrt(np.mean(hot.errors[within] ** 2))),
        step_error_at_limit=100.0 * hot.worst_error,
        step_saturated=hot.saturated_steps,
        step_message=hot.message,
        rebound_peak=float(event[1].power[_EVENT.stop :].max() / event[1].nominal),
        limited_peak=float(event[0].power[_EVENT.stop :].max() / event[0].nominal),
        minutes_to_return=float(returned) * _DT / 60.0,
    )


def tuned_pi(small: ec.DutyModel, *, current: bool) -> FleetPI:
    """The best gains on a grid, over a signal of their own (seed 100), on 16 mean houses."""
    scenario = regulation(100)
    grid = [
        FleetPI(small.nominal_power, kp, ki, _U_MAX, current_reference=current)
        for kp in (0.0, 0.01, 0.03, 0.1)
        for ki in np.geomspace(0.05, 0.4, 13)
    ]
    return min(grid, key=lambda pi: _run(small, pi, scenario, "PI").rms_error)


def _run(plant: ec.DutyModel, controller: Any, scenario: Scenario, name: str) -> ec.FleetRun:
    return ec.run_fleet(
        plant,
        controller,
        plant.nominal_power * scenario.reference,
        ambient=scenario.ambient,
        meter_errors=plant.nominal_power * scenario.meter,
        u_max=_U_MAX,
        skip=_SKIP,
        name=name,
    )


def _regulated(
    plant: ec.DutyModel, small: ec.DutyModel, scenario: Scenario, pi: FleetPI
) -> tuple[ec.FleetRun, ...]:
    controller = ec.FleetController(small, 20, _U_MAX)
    # Without measurements its own model is all the controller would know of the fleet.
    calm = Scenario(scenario.reference, np.zeros(_STEPS), np.zeros(_STEPS))
    planned = InputPlan(_run(small, controller, calm, "plan").inputs)
    return (
        _run(plant, controller, scenario, "MPC"),
        _run(plant, pi, scenario, "PI"),
        _run(plant, planned, scenario, "open loop"),
    )


def _ambient_step(plant: ec.DutyModel, small: ec.DutyModel) -> ec.FleetRun:
    ambient = np.where(np.arange(_STEPS) < 40, 0.0, _AMBIENT_STEP)
    meter = 1e-3 * np.random.default_rng(7).standard_normal(_STEPS)
    scenario = Scenario(np.ones(_STEPS), ambient, meter)
    return _run(plant, ec.FleetController(small, 20, _U_MAX), scenario, "MPC")


def _event(plant: ec.DutyModel, small: ec.DutyModel) -> tuple[ec.FleetRun, ec.FleetRun]:
    """Reduced power for half an hour: released under a soft peak, and by a plain shift."""
    wanted = np.ones(_STEPS)
    wanted[_EVENT] -= _REDUCTION
    # Afterwards nothing is asked but to bring the set-points back below the peak.
    wanted[_EVENT.stop :] = np.nan
    meter = 1e-3 * np.random.default_rng(8).standard_normal(_STEPS)
    scenario = Scenario(wanted, np.zeros(_STEPS), meter)
    limited = ec.FleetController(small, 30, _U_MAX, peak=_PEAK * plant.nominal_power)
    first = _run(plant, limited, scenario, "MPC, peak softly limited to 105 %")
    shift = np.zeros(_STEPS)
    shift[_EVENT] = float(first.inputs[_EVENT].mean())
    return first, _run(plant, InputPlan(shift), scenario, "plain shift and back")


def _low_passed(noise: Any, seconds: float) -> Any:
    keep = np.exp(-_DT / seconds)
    smooth, value = np.empty_like(noise), 0.0
    for t, sample in enumerate(noise):
        value = keep * value + (1.0 - keep) * sample
        smooth[t] = value
    return smooth


def _draw(
    runs: tuple[ec.FleetRun, ...],
    hot: ec.FleetRun,
    event: tuple[ec.FleetRun, ec.FleetRun],
    path: Path,
) -> None:
    from matplotlib import style
    from matplotlib.figure import Figure
    from PIL import Image

    from ensctl.plot import fleet_errors, fleet_inputs, fleet_power

    with style.context("default"):
        figure = Figure(figsize=(9.6, 9.0), layout="constrained")
        grid = figure.add_gridspec(5, 2, height_ratios=(1.5, 1.0, 1.0, 1.15, 1.0))
        for row, draw in enumerate((fleet_power, fleet_inputs, fleet_errors)):
            ax = figure.add_subplot(grid[row, :])
            draw(runs, ax=ax)
            if row < 2:
                ax.set_xlabel("")
        titles = (
            f"ambient +{_AMBIENT_STEP} °C at 20 minutes: the input saturates",
            "half an hour at 85 %, then released",
        )
        for column, shown in enumerate((hot, event)):
            above, beneath = (figure.add_subplot(grid[row, column]) for row in (3, 4))
            fleet_power(shown, ax=above)
            fleet_inputs(shown, ax=beneath)
            above.set_xlabel("")
            bottom, top = above.get_ylim()
            above.set_ylim(bottom, top + 0.4 * (top - bottom))
            above.set_title(titles[column], fontsize="medium", loc="left")
            # No room above for a title and a legend; the colours below are the same.
            above.get_legend().remove()
            above.legend(loc=("upper left", "upper right")[column], fontsize="small")
            beneath.get_legend().remove()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=110)
    # 128 colours are enough, and half the bytes.
    Image.open(buffer).convert("RGB").quantize(128).save(path, optimize=True)


def _print(result: Result) -> None:
    def listed(values: tuple[float, ...]) -> str:
        return ", ".join(f"{value:.3g}" for value in values)

    print(f"{result.houses} houses, rms error in % of nominal power, one number for each seed")
    print(f"  MPC from aggregate power   {listed(result.mpc)}")
    print(f"  PI on the last error       {listed(result.pi)}")
    print(f"  PI on the reference of now {listed(result.pi_current)}")
    print(f"  open-loop plan             {listed(result.open_loop)}")
    print(f"optimality residual at most {result.worst_residual:.1e}")
    print(
        f"ambient +{_AMBIENT_STEP} °C: rms error {result.step_error_in_reach:.3g} % until u is at "
        f"80 % of its limit, up to {result.step_error_at_limit:.3g} % at the limit"
    )
    print(f"  {result.step_message}")
    print(
        f"after the event: peak {100 * result.rebound_peak:.4g} % when shifted back at once, "
        f"{100 * result.limited_peak:.4g} % under MPC, back within "
        f"{result.minutes_to_return:.4g} minutes"
    )


if __name__ == "__main__":
    _print(main(figure=Path(sys.argv[1]) if len(sys.argv) > 1 else None))
