"""Plans and fleets under control: what is drawn is what was computed."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import ensctl as ec
from ensctl.errors import InvalidInputError
from ensctl.plot import fleet_errors, fleet_inputs, fleet_power, mpc_plan
from ensctl.simulation import InputPlan


def _axes() -> Axes:
    return Figure().subplots()


def _run(inputs: Any, name: str, reference: Any = None) -> ec.FleetRun:
    model = ec.duty_model(ec.ThermostatFleet.draw(50, seed=1))
    wanted = np.full(20, model.nominal_power) if reference is None else reference
    return ec.run_fleet(model, InputPlan(inputs), wanted, u_max=0.5, skip=5, name=name)


@pytest.fixture(scope="module")
def runs() -> list[ec.FleetRun]:
    return [_run([0.1], "first"), _run([-0.1, 0.2], "second")]


@pytest.fixture(scope="module")
def planned() -> Any:
    ens = ec.Ensemble([0.3, 0.6], np.array([[1.0, 0.0], [0.5, 1.0]]))
    mpc = ec.MPC(ens, 8, ec.Limits(u_max=0.4))
    return mpc.step(mpc.init(), reference=1.0, x=[0.0, 0.0])[1]


def test_power_over_reference(runs: list[ec.FleetRun]) -> None:
    ax = _axes()
    first, second, reference = fleet_power(runs, ax=ax)
    for line, run in ((first, runs[0]), (second, runs[1])):
        assert line.axes is ax
        assert line.get_xdata() == pytest.approx(run.times / 3600.0)
        assert line.get_ydata() == pytest.approx(100.0 * run.power / run.nominal)
        assert f"{100.0 * run.rms_error:.2g} %" in str(line.get_label())
    assert reference.get_ydata() == pytest.approx(100.0)
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()


def test_nothing_asked_for_has_no_reference_and_no_error() -> None:
    lines = fleet_power(_run([0.1], "alone", np.full(20, np.nan)), ax=_axes())
    assert len(lines) == 1 and lines[0].get_label() == "alone"


def test_inputs_with_limits(runs: list[ec.FleetRun]) -> None:
    *drawn, upper, lower = fleet_inputs(runs, ax=_axes())
    assert [list(line.get_ydata()) for line in drawn] == [list(run.inputs) for run in runs]
    assert (upper.get_ydata()[0], lower.get_ydata()[0]) == (0.5, -0.5)


def test_errors_with_their_rms(runs: list[ec.FleetRun]) -> None:
    ax = _axes()
    lines = fleet_errors(runs, ax=ax)
    assert ax.get_yscale() == "log" and len(lines) == 4
    for line, level, run in zip(lines[:2], lines[2:], runs, strict=True):
        assert line.get_ydata() == pytest.approx(100.0 * np.abs(run.errors))
        assert level.get_ydata() == pytest.approx(100.0 * run.rms_error)
        # The level is drawn where errors count.
        assert level.get_xdata()[0] == pytest.approx(run.times[run.skip] / 3600.0)
        assert level.get_color() == line.get_color()


def test_plan_with_limits(planned: Any) -> None:
    *inputs, upper, lower = mpc_plan(planned, ax=_axes())
    assert len(inputs) == 2
    for line, values in zip(inputs, planned.plan, strict=True):
        assert line.get_ydata() == pytest.approx([*values, values[-1]])
    assert (upper.get_ydata()[0], lower.get_ydata()[0]) == (0.4, -0.4)


def test_plan_without_limits_or_steps() -> None:
    mpc = ec.MPC(ec.Ensemble([0.3]), 4)
    assert len(mpc_plan(mpc.init(), ax=_axes())) == 1


def test_results_plot_themselves(runs: list[ec.FleetRun], planned: Any) -> None:
    ax = _axes()
    assert runs[0].plot(ax=ax)[0].axes is ax
    assert planned.plot(ax=ax)[0].axes is ax


def test_new_figure_and_untouched_settings(runs: list[ec.FleetRun], planned: Any) -> None:
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    figures = {
        function(value)[0].axes.figure
        for function, value in (
            (fleet_power, runs),
            (fleet_inputs, runs),
            (fleet_errors, runs),
            (mpc_plan, planned),
        )
    }
    assert len(figures) == 4 and dict(matplotlib.rcParams) == before
    for figure in figures:
        pyplot.close(figure)


@pytest.mark.parametrize("function", [fleet_power, fleet_inputs, fleet_errors])
def test_wrong_things_are_refused(function: Any, runs: list[ec.FleetRun]) -> None:
    for wrong in ([], runs * 3, [1, 2]):
        with pytest.raises(InvalidInputError, match="runs must be 1 to 5 FleetRun"):
            function(wrong, ax=_axes())
    with pytest.raises(InvalidInputError, match="ax must be"):
        function(runs, ax=3)
