"""Plots of plans for a continuum: what is drawn is what was computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import ensctl as ec
from ensctl.plot import accuracy_energy, continuum_plan, continuum_states, save_continuum_figure


def test_error_stays_between_its_bounds() -> None:
    plan = ec.continuum("sin(6*x)", (0.1, 0.9), 6)
    ax = Figure().subplots()
    error, peaks, upper, lower = continuum_plan(plan, ax=ax)
    assert np.abs(error.get_ydata()).max() <= upper.get_ydata()[0] == plan.sup_error_bound
    assert lower.get_ydata()[0] == -plan.sup_error_bound
    assert np.allclose(np.abs(peaks.get_ydata()), plan.sup_error, rtol=0.011)
    assert plan.plot(ax=ax)[0].axes is ax
    assert len(continuum_states(plan, ax=Figure().subplots())) == 2


def test_arcs_are_drawn_over_the_angle() -> None:
    plan = ec.continuum(np.conj, ec.Arc(0.0, 1.0), 4)
    ax = Figure().subplots()
    assert len(continuum_plan(plan, ax=ax)) == 3 and "angle" in ax.get_xlabel()
    assert len(continuum_states(plan, ax=Figure().subplots())) == 4


def test_curve_marks_the_best_error() -> None:
    curve = ec.accuracy_energy_curve("sin(6*x)", (0.1, 0.9), 8, [2.0, 0.1, 0.01])
    line, best, free = accuracy_energy(curve, ax=Figure().subplots())
    assert line.get_ydata().tolist() == curve.energies[1:].tolist()
    assert best.get_xdata()[0] == curve.best_error and free.get_xdata().tolist() == [2.0]


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_plan_gives_the_same_picture(tmp_path: Path, suffix: str) -> None:
    plan = ec.continuum("sin(6*x)", (0.1, 0.9), 6)
    first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    save_continuum_figure(plan, first)
    save_continuum_figure(plan, second)
    assert first.read_bytes() == second.read_bytes()
