"""Regret drawn: one curve and one band for each policy, above the line of the best arm."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from ensctl import scheduling
from ensctl.errors import InvalidInputError
from ensctl.plot import regret_curves, save_regret_figure


@cache
def _result(seeds: int) -> scheduling.ReplayResult:
    traces = scheduling.token_chain("iid", requests=30)
    policy = scheduling.policies.KFUCB(scheduling.fixture_arms())
    return scheduling.replay(traces, policy, batch=4, cycles=150, seed=list(range(seeds)))


def test_curve_is_the_mean_regret_and_band_its_error() -> None:
    ax = Figure().subplots()
    result = _result(3)
    _, curve, band = regret_curves(result, ax=ax)
    mean, error = result.regret()
    assert np.array_equal(curve.get_xdata(), result.marks)  # type: ignore[attr-defined]
    assert np.array_equal(curve.get_ydata(), mean)  # type: ignore[attr-defined]
    ends = band.get_paths()[0].vertices[:, 1]  # type: ignore[attr-defined]
    assert ends.max() == pytest.approx((mean + error).max())
    assert ax.get_xscale() == "log" and "tokens" in ax.get_ylabel()
    assert "kf-ucb" in curve.get_label()


def test_one_seed_has_no_band_and_results_draw_themselves() -> None:
    assert len(_result(1).plot(ax=Figure().subplots())) == 2
    assert len(regret_curves([_result(1), _result(3)], ax=Figure().subplots())) == 4


def test_files_are_whole_and_repeat(tmp_path: Path) -> None:
    places = [save_regret_figure(_result(3), tmp_path / name) for name in ("a.svg", "b.svg")]
    assert places[0].read_bytes() == places[1].read_bytes()
    with pytest.raises(InvalidInputError, match="plot must end in"):
        save_regret_figure(_result(3), tmp_path / "a.txt")
    for nothing in ([], [3], "x"):
        with pytest.raises(InvalidInputError, match="results"):
            regret_curves(nothing)  # type: ignore[arg-type]
