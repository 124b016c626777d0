"""Designs, repair advice and sampling curves drawn: every number is where it belongs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import ensctl as ec
from ensctl.plot import node_design, repair, sampling_curve, save_node_design_figure


@pytest.fixture(scope="module")
def design() -> ec.NodeDesign:
    return ec.choose_nodes(3, ec.Interval(-0.9, 0.9), fixed=[0.3])


def test_real_members_in_rows(design: ec.NodeDesign) -> None:
    ax = Figure().subplots()
    chosen, fixed, *others = node_design(design, ax=ax)
    assert chosen.get_xdata().tolist() == design.lam.tolist()
    assert fixed.get_xdata().tolist() == [0.3]
    assert len(others) == len(design.comparisons)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[0].startswith("chosen") and "Chebyshev" in labels[2]


def test_complex_members_in_the_plane() -> None:
    ax = Figure().subplots()
    design = ec.choose_nodes(2, ec.Circle(0.8))
    artists = design.plot(ax=ax)
    np.testing.assert_array_equal(artists[0].get_ydata(), design.lam.imag)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any(text.startswith("chosen") for text in texts)
    assert ax.get_aspect() == 1.0


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_pictures_are_the_same_bytes_each_time(
    design: ec.NodeDesign, tmp_path: Path, suffix: str
) -> None:
    first = save_node_design_figure(design, tmp_path / f"a{suffix}").read_bytes()
    assert first == save_node_design_figure(design, tmp_path / f"b{suffix}").read_bytes()
    with pytest.raises(ec.InvalidInputError, match="end in"):
        save_node_design_figure(design, tmp_path / "a.txt")


def test_repair_bars_show_what_is_reached() -> None:
    ax = Figure().subplots()
    advice = ec.repair(
        ec.Ensemble([0.2, 0.5, 0.5, 0.8]), 20.0, tolerance=0.01, allow=["move", "drop"]
    )
    bars = repair(advice, ax=ax)
    assert len(bars) == 3
    widths = [bar.get_width() for bar in bars]
    assert widths[1:] == pytest.approx([option.log10_cond for option in advice.options])
    assert [bar.get_hatch() for bar in bars[1:]] == ["//", ""]
    assert ax.texts[0].get_text() == "infinite"


def test_sampling_curve_marks_the_best() -> None:
    ax = Figure().subplots()
    curve = ec.sampling_curve([-0.2, -1.0, -3.0], dts=[0.1, 1.0, 800.0])
    line, best, equal = sampling_curve(curve, ax=ax)
    assert best.get_xdata()[0] == curve.best_dt
    assert equal.get_xdata().tolist() == [800.0]
    assert np.isnan(line.get_ydata()[-1])
