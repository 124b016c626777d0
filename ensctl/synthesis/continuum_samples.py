"""A target known at samples: a smooth curve through them, and how much it is to be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_vector, read_only
from ensctl.errors import FormatError, InvalidInputError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class SampledFunction:
    """Samples with a monotone cubic between them (no overshoot), constant nowhere else.

    Attributes
    ----------
    lam : (n,) float64
        Increasing.
    values : (n,) float64
        The function there.
    """

    lam: Array
    values: Array

    def __call__(self, lam: Array) -> Array:
        """Values of the curve; NaN outside the samples."""
        from scipy.interpolate import PchipInterpolator

        points = np.asarray(lam, dtype=float)
        return np.asarray(PchipInterpolator(self.lam, self.values, extrapolate=False)(points))


def sampled_function(lam: ArrayLike, values: ArrayLike, name: str = "target") -> SampledFunction:
    """A function through samples (Fritsch and Carlson's monotone cubic).

    Parameters
    ----------
    lam, values : (n,) array_like
        n ≥ 2 distinct λ and the values there.
    name : str
        Argument to blame.

    Returns
    -------
    SampledFunction

    Examples
    --------
    >>> from ensctl.synthesis.continuum_samples import sampled_function
    >>> float(sampled_function([0, 1, 2], [0, 1, 2])([0.5])[0])
    0.5
    """
    points = as_vector(lam, f"{name} samples", real=True)
    heights = as_vector(values, f"{name} samples", size=points.size, real=True)
    order = np.argsort(points)
    points, heights = points[order], heights[order]
    if points.size < 2:
        raise InvalidInputError(f"{name} must have at least two samples, got {points.size}")
    if np.any(np.diff(points) == 0):
        twice = points[:-1][np.diff(points) == 0][0]
        raise InvalidInputError(f"{name} must have distinct λ, got {twice:g} twice")
    return SampledFunction(read_only(points), read_only(heights))


def read_samples(path: Path, name: str = "target") -> SampledFunction:
    """Samples from a CSV file: λ and value on each line, a line of headings allowed.

    Raises
    ------
    FormatError
        The file cannot be read; the line is named.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FormatError(f"cannot be read ({error.strerror})", str(path)) from None
    except UnicodeDecodeError:
        raise FormatError("is not UTF-8 text", str(path)) from None
    pairs: list[tuple[float, float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.replace(";", ",").split(",")]
        if not any(cells) or line.lstrip().startswith("#"):
            continue
        try:
            lam, value = (float(cell) for cell in cells)
        except ValueError:
            if not pairs and len(cells) == 2:
                continue
            raise FormatError(
                f"must be two numbers, λ and {name}, got {line.strip()!r}", str(path), number
            ) from None
        if not (np.isfinite(lam) and np.isfinite(value)):
            raise FormatError(f"must be finite, got {line.strip()!r}", str(path), number)
        pairs.append((lam, value))
    if len(pairs) < 2:
        raise FormatError(f"has {len(pairs)} samples; at least two are needed", str(path))
    points, values = np.array(pairs).T
    return sampled_function(points, values, name)
