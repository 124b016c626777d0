"""Symmetric sets of nodes: which points are images of which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ensctl.analysis.node_regions import Annulus, Circle, Disk, Interval, Rates, Region
from ensctl.analysis.node_starts import plain

Array = NDArray[Any]
Symmetry = Literal["none", "mirror", "conjugate"]

_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Pattern:
    """Free points as images of representatives (see ``Coordinates``)."""

    source: Array
    sign: Array
    conjugate: Array
    real: Array
    constants: Array


def natural_symmetry(region: Region) -> Symmetry:
    """The symmetry that the region has, if any."""
    inside = plain(region)
    if isinstance(inside, Interval):
        # e^{a dt} is not symmetric about 0 whatever the rates are.
        mirrored = inside.low == -inside.high and not isinstance(region, Rates)
        return "mirror" if mirrored else "none"
    if isinstance(inside, Disk | Circle | Annulus) and np.imag(inside.center) == 0:
        return "conjugate"
    return "none"


def closed(points: Array, symmetry: Symmetry) -> bool:
    """Whether a set of numbers is its own image, exactly."""
    images = -points if symmetry == "mirror" else points.conj()
    return bool(np.array_equal(np.sort_complex(points + 0.0), np.sort_complex(images + 0.0)))


def free_pattern(count: int) -> Pattern:
    """Every point moves on its own."""
    return Pattern(
        np.arange(count),
        np.ones(count),
        np.zeros(count, dtype=bool),
        np.zeros(count, dtype=bool),
        np.zeros(count),
    )


def pattern_of(points: Array, symmetry: Symmetry, region: Region) -> Pattern | None:
    """Pair up points that are images of each other (nearly); None when they do not pair up.

    A mirror image in the middle becomes the constant 0; points on the real axis of a disk stay on
    it, and those of a circle stay where they are.
    """
    size = float(np.max(np.abs(points), initial=1.0))
    inside = plain(region)
    source = np.full(points.size, -2)
    image_of_other = np.zeros(points.size, dtype=bool)
    real: list[bool] = []
    constants = np.zeros(points.size, dtype=points.dtype)
    for i in range(points.size):
        if source[i] != -2:
            continue
        image = -points[i] if symmetry == "mirror" else np.conj(points[i])
        if abs(points[i] - image) <= _SAME * size:
            if symmetry == "mirror" or isinstance(inside, Circle):
                source[i] = -1
                constants[i] = 0.0 if symmetry == "mirror" else _real_end(region, points[i])
            else:
                source[i] = len(real)
                real.append(True)
            continue
        partners = [
            j
            for j in range(points.size)
            if j != i and source[j] == -2 and abs(points[j] - image) <= _SAME * size
        ]
        if not partners:
            return None
        source[i] = source[partners[0]] = len(real)
        image_of_other[partners[0]] = True
        real.append(False)
    mirrored = image_of_other & (symmetry == "mirror")
    return Pattern(
        source,
        np.where(mirrored, -1.0, 1.0),
        image_of_other & (symmetry == "conjugate"),
        np.array(real, dtype=bool),
        constants,
    )


def symmetrised(points: Array, symmetry: Symmetry) -> Array:
    """A set with the symmetry, near one that has it only roughly: the upper half and its images."""
    keep = points.size // 2
    weight = points.real if symmetry == "mirror" else points.imag
    half = points[np.argsort(-weight, kind="stable")][:keep]
    images = -half if symmetry == "mirror" else half.conj()
    middle = np.zeros(points.size % 2, dtype=points.dtype)
    if symmetry == "conjugate" and middle.size:
        middle[0] = np.max(points.real)
    return np.concatenate([half, images, middle])


def _real_end(region: Region, point: Any) -> float:
    """The real point of a circle on the side of ``point``."""
    inside = plain(region)
    center, radius = (
        (float(np.real(inside.center)), inside.radius)
        if isinstance(inside, Circle)
        else (float(np.real(point)), 0.0)
    )
    return center + radius if np.real(point) >= center else center - radius
