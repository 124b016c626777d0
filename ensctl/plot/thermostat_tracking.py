"""A thermostat fleet under control: power beside reference, input, and what is missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ensctl.errors import InvalidInputError
from ensctl.plot.axes import Array, axes_for, legend_above, quiet_frame
from ensctl.plot.names import plot_name
from ensctl.plot.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from ensctl.simulation.thermostat_runs import FleetRun

_COLOURS = (BLUE, VERMILLION, ORANGE, GREEN, PURPLE)
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), "-.")
_LIMIT: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": 1.0, "zorder": 1}
_SIZE = (7.2, 3.0)
_LONGEST_NAME = 24
_SECONDS_PER_HOUR = 3600.0


def fleet_power(
    runs: FleetRun | Sequence[FleetRun], *, ax: Axes | None = None
) -> tuple[Line2D, ...]:
    """Draw the power of runs in % of nominal against hours, over the reference of the first one.

    Parameters
    ----------
    runs : FleetRun or sequence of FleetRun
        What :func:`ensctl.run_fleet` returned; up to five.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        One line for each run, then the reference where there is one.

    Raises
    ------
    InvalidInputError
        No runs, more than five, or ax is no Axes.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import fleet_power
    >>> from ensctl.simulation import InputPlan
    >>> model = ec.duty_model(ec.ThermostatFleet.draw(50))
    >>> run = ec.run_fleet(model, InputPlan([0.1]), [model.nominal_power] * 10)
    >>> len(fleet_power(run, ax=Figure().subplots()))
    2
    """
    listed = _runs(runs)
    ax = _framed(ax)
    lines = [
        *_lines(ax, listed, [100.0 * run.power / run.nominal for run in listed], _with_error),
    ]
    first = listed[0]
    if not np.isnan(first.reference).all():
        lines += ax.plot(
            _hours(first),
            100.0 * first.reference / first.nominal,
            color="black",
            linewidth=0.9,
            label="reference",
            zorder=1.5,
        )
    ax.set_ylabel("power (% of nominal)")
    legend_above(ax)
    return tuple(lines)


def fleet_inputs(
    runs: FleetRun | Sequence[FleetRun], *, ax: Axes | None = None
) -> tuple[Line2D, ...]:
    """Draw the inputs of runs in °C against hours, with the limits of the first one.

    Parameters
    ----------
    runs : FleetRun or sequence of FleetRun
        Up to five.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        One line for each run, then the upper and the lower limit.

    Raises
    ------
    InvalidInputError
        No runs, more than five, or ax is no Axes.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import fleet_inputs
    >>> from ensctl.simulation import InputPlan
    >>> model = ec.duty_model(ec.ThermostatFleet.draw(50))
    >>> run = ec.run_fleet(model, InputPlan([0.1]), [model.nominal_power] * 10)
    >>> len(fleet_inputs(run, ax=Figure().subplots()))
    3
    """
    listed = _runs(runs)
    ax = _framed(ax)
    lines = _lines(ax, listed, [run.inputs for run in listed], _name)
    limit = listed[0].u_max
    lines.append(ax.axhline(limit, label="limits", **_LIMIT))
    lines.append(ax.axhline(-limit, **_LIMIT))
    ax.set_ylim(-1.15 * limit, 1.15 * limit)
    ax.set_ylabel("shift u (°C)")
    legend_above(ax)
    return tuple(lines)


def fleet_errors(
    runs: FleetRun | Sequence[FleetRun], *, ax: Axes | None = None
) -> tuple[Line2D, ...]:
    """Draw |y − r| of runs in % of nominal power against hours, on a logarithmic axis.

    Parameters
    ----------
    runs : FleetRun or sequence of FleetRun
        Up to five.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure is made when it is not given.

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        One line for each run, then its rms error after the steps that do not count.

    Raises
    ------
    InvalidInputError
        No runs, more than five, or ax is no Axes.

    Examples
    --------
    >>> import ensctl as ec
    >>> from matplotlib.figure import Figure
    >>> from ensctl.plot import fleet_errors
    >>> from ensctl.simulation import InputPlan
    >>> model = ec.duty_model(ec.ThermostatFleet.draw(50))
    >>> run = ec.run_fleet(model, InputPlan([0.1]), [model.nominal_power] * 10)
    >>> len(fleet_errors(run, ax=Figure().subplots()))
    2
    """
    listed = _runs(runs)
    ax = _framed(ax)
    sizes = [100.0 * np.abs(run.errors) for run in listed]
    lines = _lines(ax, listed, sizes, _name, linewidth=0.6, alpha=0.55)
    for run, line in zip(listed, tuple(lines), strict=True):
        hours = _hours(run)[run.skip :]
        lines += ax.plot(
            hours[[0, -1]],
            [100.0 * run.rms_error] * 2,
            color=line.get_color(),
            linestyle=line.get_linestyle(),
            linewidth=1.8,
        )
    largest = max(float(np.nan_to_num(size).max()) for size in sizes)
    ax.set_yscale("log")
    ax.set_ylim(1e-2, max(3.0 * largest, 1.0))
    ax.set_ylabel("|error| (% of nominal)")
    legend_above(ax)
    return tuple(lines)


def _runs(runs: FleetRun | Sequence[FleetRun]) -> list[FleetRun]:
    listed = [runs] if isinstance(runs, FleetRun) else list(runs)
    if not 0 < len(listed) <= len(_COLOURS) or not all(isinstance(run, FleetRun) for run in listed):
        raise InvalidInputError(
            f"runs must be 1 to {len(_COLOURS)} FleetRun, got {len(listed)} things; choose some"
        )
    return listed


def _framed(ax: Axes | None) -> Axes:
    ax = axes_for(ax, _SIZE)
    quiet_frame(ax)
    ax.set_xlabel("time (hours)")
    return ax


def _lines(
    ax: Axes, runs: list[FleetRun], values: list[Array], label: Any, **style: Any
) -> list[Line2D]:
    lines: list[Line2D] = []
    # The first run lies on top.
    for rank, (run, value) in enumerate(zip(runs, values, strict=True)):
        looks = {
            "color": _COLOURS[rank],
            "linestyle": _DASHES[rank],
            "linewidth": 1.2,
            "zorder": 3.0 - 0.1 * rank,
            **style,
        }
        lines += ax.plot(_hours(run), value, label=label(run), **looks)
    ax.set_xlim(0.0, max(float(_hours(run)[-1]) for run in runs) or 1.0)
    return lines


def _hours(run: FleetRun) -> Array:
    return run.times / _SECONDS_PER_HOUR


def _name(run: FleetRun) -> str:
    return plot_name(run.name, _LONGEST_NAME)


def _with_error(run: FleetRun) -> str:
    # Where nothing is asked for most of the time an error says little.
    if np.isnan(run.reference).any():
        return _name(run)
    return f"{_name(run)} (rms error {100.0 * run.rms_error:.2g} %)"
