"""Points from text, images and outlines: inside, even, repeatable; no shape is an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextPath
from scipy.spatial import cKDTree

import ensctl as ec
from ensctl.plot.shapes import image_points, region_points, text_points


def test_points_lie_inside_the_letters() -> None:
    points = text_points("HELLO", 400)
    outline = TextPath((0, 0), "HELLO", size=100, prop={"family": "DejaVu Sans", "weight": "bold"})
    box = outline.get_extents()
    scale = box.height
    back = points * scale + 0.5 * (box.min + box.max)
    # Half a pixel of the mask.
    inside = outline.contains_points(back, radius=0.01 * scale) | outline.contains_points(
        back, radius=-0.01 * scale
    )
    assert inside.all()


def test_points_are_even() -> None:
    points = region_points([[0, 0], [4, 0], [4, 1], [0, 1]], 400)
    distance = cKDTree(points).query(points, k=2)[0][:, 1]
    spacing = np.sqrt(4.0 / 400)
    assert 0.6 * spacing < distance.min() and distance.max() < 1.3 * spacing
    assert np.histogram(points[:, 0], 8)[0].tolist() == pytest.approx([50] * 8, abs=6)


def test_equal_letters_get_equally_many_points() -> None:
    points = text_points("II", 200)
    assert abs(np.count_nonzero(points[:, 0] < 0) - 100) <= 3


def test_height_and_centre() -> None:
    points = text_points("H", 300, height=3.0)
    assert np.ptp(points[:, 1]) == pytest.approx(3.0, rel=0.1)
    assert np.abs(points[:, 1]).max() <= 1.5
    assert np.abs(points.mean(axis=0)).max() < 0.05


def test_the_same_seed_gives_the_same_points() -> None:
    first = text_points("A", 50, seed=1)
    assert np.array_equal(first, text_points("A", 50, seed=1))
    assert not np.array_equal(first, text_points("A", 50, seed=2))
    assert not first.flags.writeable


def test_lines_are_stacked_and_dollars_are_letters() -> None:
    stacked = text_points("I\nI", 100)
    assert np.ptp(stacked[:, 1]) > 3 * np.ptp(stacked[:, 0])
    assert len(text_points("$x$", 40)) == 40


def test_holes_stay_empty() -> None:
    ring = Outline.make_compound_path(
        Outline.circle(radius=1.0), Outline(Outline.circle(radius=0.6).vertices[::-1])
    )
    points = region_points(ring, 80, height=2.0)
    radius = np.hypot(*points.T)
    assert radius.min() > 0.58 and radius.max() < 1.02


def test_more_points_than_pixels() -> None:
    points = image_points(np.array([[1.0, 0.0], [1.0, 1.0]]), 200)
    assert len(np.unique(points, axis=0)) == 200


def test_dark_light_and_first_row_on_top() -> None:
    image = np.ones((20, 20))
    image[:5, :10] = 0.0
    image[10:, 15:] = 0.0
    points = image_points(image, 100)
    assert points[points[:, 1] > 0.3][:, 0].max() < 0
    light = image_points(image, 100, dark=False)
    assert light[light[:, 1] > 0.3][:, 0].min() > 0


def test_image_files(tmp_path: Path) -> None:
    from PIL import Image

    image = np.zeros((40, 60, 4), dtype=np.uint8)
    image[10:30, 10:30] = (0, 0, 0, 255)
    image[:, 40:] = (255, 255, 0, 255)
    # The rest is black and wholly transparent: that counts as white.
    Image.fromarray(image).save(tmp_path / "square.png")
    points = image_points(tmp_path / "square.png", 60, height=2.0)
    assert np.ptp(points, axis=0) == pytest.approx([1.8, 1.8], abs=0.2)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: text_points("", 5), "text must have at least one visible character"),
        (lambda: text_points(" \n", 5), "text must have at least one visible character"),
        (lambda: text_points("A日", 5), "got '日'"),
        (lambda: text_points("A", 5, font="No Such Font"), "font must be one"),
        (lambda: text_points("A", 0), "count must be an integer ≥ 1"),
        (lambda: text_points("A", 5, height=0.0), "height must be > 0"),
        (lambda: image_points(np.ones((5, 5)), 5), "all lighter than 0.5"),
        (lambda: image_points(np.zeros((5, 5)), 5), "all darker than 0.5"),
        (lambda: image_points(np.zeros((5, 5)), 5, dark=False), "all darker than 0.5"),
        (lambda: image_points(np.zeros((5, 5, 3)), 5), "image must be a file or"),
        (lambda: image_points(np.full((5, 5), np.nan), 5), "image must be finite"),
        (lambda: image_points(np.eye(4), 5, threshold=1.0), "threshold must be < 1"),
        (lambda: image_points("no-such-file.png", 5), "image cannot be read"),
        (lambda: image_points(Path(__file__), 5), "image must be a picture"),
        (lambda: region_points([[0, 0], [1, 1]], 5), "at least 3 corners"),
        (lambda: region_points([[0, 0], [1, 0], [2, 0]], 5), "must enclose an area"),
        (lambda: region_points([[0, 0], [1, 1], [2, 2]], 5), "must enclose an area"),
        (lambda: region_points([[0, 0], [1, np.inf], [2, 2]], 5), "outline must be finite"),
    ],
)
def test_no_shape_is_an_error(call: Callable[[], Any], named: str) -> None:
    with pytest.raises(ec.InvalidInputError, match=named):
        call()
