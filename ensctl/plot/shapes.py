"""Points that fill a shape evenly: text in matplotlib's own fonts, the dark part of an image.

A shape becomes a mask of pixels; points are spread over them by Lloyd's algorithm, so that they
are as even as tiles in a floor and every one lies inside.
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import numpy as np
from matplotlib.path import Path
from numpy.typing import ArrayLike, NDArray

from ensctl.arguments import as_array, as_count, as_scalar, read_only
from ensctl.errors import InvalidInputError

Array = NDArray[Any]

# Pixels along the longer side of a shape that is drawn, and at most of an image.
_RESOLUTION = 700
# Pixels for each point: fewer show as a grid, more only take time.
_FEWEST_PIXELS, _MOST_PIXELS = 25, 400
_LINE_HEIGHT = 1.35
_ROUNDS = 15


def text_points(
    text: str,
    count: int,
    *,
    height: float = 1.0,
    font: str = "DejaVu Sans",
    weight: str = "bold",
    seed: int = 0,
) -> Array:
    """Points inside the letters of a text.

    Parameters
    ----------
    text : str
        At least one character that leaves ink; several lines are stacked.
    count : int
        Number of points ≥ 1.
    height : float
        Extent in y of the letters, > 0; the points are centred at the origin.
    font : str
        Family of a font that matplotlib finds; the default comes with it.
    weight : str
        "normal", "bold", … as in matplotlib.
    seed : int
        ≥ 0; the same points every time.

    Returns
    -------
    (count, 2) float64, read-only
        Rows x, y.

    Raises
    ------
    InvalidInputError
        Text without ink, characters that the font lacks, or an argument out of range.

    Examples
    --------
    >>> from ensctl.plot import text_points
    >>> points = text_points("HI", 200)
    >>> points.shape, bool(0.9 < points[:, 1].max() - points[:, 1].min() <= 1.0)
    ((200, 2), True)
    """
    return region_points(_text_path(text, font, weight), count, height=height, seed=seed)


def image_points(
    image: str | FilePath | ArrayLike,
    count: int,
    *,
    height: float = 1.0,
    dark: bool = True,
    threshold: float = 0.5,
    seed: int = 0,
) -> Array:
    """Points in the dark (or light) part of an image.

    Parameters
    ----------
    image : str, Path or array_like
        A file that Pillow reads, or (rows, columns) brightness in [0, 1], first row on top.
        Transparent parts of a file are white.
    count : int
        Number of points ≥ 1.
    height : float
        Extent in y of the shape, > 0; centred at the origin.
    dark : bool
        Whether the shape is what is darker than the threshold, or what is lighter.
    threshold : float
        Brightness in (0, 1).
    seed : int
        ≥ 0.

    Returns
    -------
    (count, 2) float64, read-only
        Rows x, y.

    Raises
    ------
    InvalidInputError
        Not an image, an image without a shape (all dark or all light), or an argument out of
        range.

    Examples
    --------
    >>> import numpy as np
    >>> from ensctl.plot import image_points
    >>> y, x = np.mgrid[-1:1:80j, -1:1:80j]
    >>> disc = np.where(x**2 + y**2 < 0.5, 0.0, 1.0)
    >>> points = image_points(disc, 50, height=2.0)
    >>> bool(np.hypot(*points.T).max() <= 1.05)
    True
    """
    level = as_scalar(threshold, "threshold", above=0.0, below=1.0)
    brightness = _brightness(image)
    mask = brightness < level if dark else brightness >= level
    if not mask.any() or mask.all():
        side = "darker" if mask.any() == dark else "lighter"
        raise InvalidInputError(
            f"image must show a shape, got one that is all {side} than {level:g} (its brightness "
            f"runs from {brightness.min():.3g} to {brightness.max():.3g}); change the threshold"
        )
    return _spread(mask, count, height, seed)


def region_points(
    outline: Path | ArrayLike, count: int, *, height: float = 1.0, seed: int = 0
) -> Array:
    """Points inside an outline.

    Parameters
    ----------
    outline : matplotlib.path.Path or (M, 2) array_like
        A path, which may have holes, or the corners of a polygon.
    count : int
        Number of points ≥ 1.
    height : float
        Extent in y of the outline, > 0; centred at the origin.
    seed : int
        ≥ 0.

    Returns
    -------
    (count, 2) float64, read-only
        Rows x, y.

    Raises
    ------
    InvalidInputError
        An outline without area, not finite, or an argument out of range.

    Examples
    --------
    >>> from ensctl.plot import region_points
    >>> points = region_points([[0, 0], [2, 0], [1, 1]], 30)
    >>> points.shape, bool((abs(points[:, 1]) <= 0.5).all())
    ((30, 2), True)
    """
    if isinstance(outline, Path):
        path = outline
    else:
        corners = as_array(outline, "outline", real=True)
        if corners.ndim != 2 or corners.shape[1] != 2 or corners.shape[0] < 3:
            raise InvalidInputError(
                f"outline must be a path or at least 3 corners (M, 2), got shape {corners.shape}"
            )
        path = Path(np.vstack([corners, corners[:1]]), closed=True)
    return _spread(_drawn(path), count, height, seed)


def _text_path(text: str, font: str, weight: str) -> Path:
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font
    from matplotlib.textpath import text_to_path

    if not isinstance(text, str) or not text.strip():
        raise InvalidInputError(f"text must have at least one visible character, got {text!r}")
    properties = FontProperties(family=font, weight=weight)
    try:
        file = findfont(properties, fallback_to_default=False)
    except ValueError:
        raise InvalidInputError(
            f"font must be one that matplotlib finds, got {font!r}; take 'DejaVu Sans'"
        ) from None
    known = FT2Font(file).get_charmap()
    missing = sorted({letter for letter in text if ord(letter) not in known} - {"\n"})
    if missing:
        raise InvalidInputError(
            f"text must consist of characters of {font}, got {''.join(missing)!r}; choose another "
            f"font"
        )
    paths = []
    for number, line in enumerate(text.splitlines()):
        if line.strip():
            corners, codes = text_to_path.get_text_path(properties, line)
            low, high = Path(np.asarray(corners), codes).get_extents().intervalx
            drop = _LINE_HEIGHT * number * text_to_path.FONT_SCALE
            paths.append(Path(np.asarray(corners) - [0.5 * (low + high), drop], codes))
    return Path.make_compound_path(*paths)


def _drawn(path: Path) -> Array:
    """The path, filled, as a mask that it touches on all four sides."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch

    extent = path.get_extents()
    if not np.all(np.isfinite(extent.get_points())) or not min(extent.size) > 0.0:
        raise InvalidInputError("outline must enclose an area, got none; give more corners")
    scale = _RESOLUTION / max(extent.size)
    wide, tall = (max(np.ceil(scale * side), 1.0) for side in extent.size)
    moved = Path(scale * (np.asarray(path.vertices) - extent.min), path.codes)
    figure = Figure(figsize=(wide / 100.0, tall / 100.0), dpi=100)
    canvas = FigureCanvasAgg(figure)
    patch = PathPatch(moved, facecolor="black", edgecolor="none", transform=None)
    figure.add_artist(patch)
    canvas.draw()
    mask = np.asarray(canvas.buffer_rgba())[:, :, 0] < 128
    if not mask.any():
        raise InvalidInputError("outline must enclose an area, got none; give more corners")
    return mask


def _brightness(image: str | FilePath | ArrayLike) -> Array:
    if not isinstance(image, str | FilePath):
        brightness = as_array(image, "image", real=True)
        if brightness.ndim != 2 or brightness.size == 0:
            raise InvalidInputError(
                f"image must be a file or (rows, columns) brightness, got shape {brightness.shape}"
            )
        step = -(-max(brightness.shape) // _RESOLUTION)
        return brightness[::step, ::step]
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(image) as file:
            picture = file.convert("RGBA")
    except UnidentifiedImageError:
        raise InvalidInputError(f"image must be a picture, got {str(image)!r}") from None
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InvalidInputError(f"image cannot be read: {image}: {reason}") from None
    picture.thumbnail((_RESOLUTION, _RESOLUTION))
    paper = Image.new("RGBA", picture.size, "white")
    return np.asarray(Image.alpha_composite(paper, picture).convert("L")) / 255.0


def _spread(mask: Array, count: int, height: float, seed: int) -> Array:
    """Points spread over the pixels of a mask, scaled to its height."""
    number = as_count(count, "count")
    tall = as_scalar(height, "height", above=0.0)
    rng = np.random.default_rng(as_count(seed, "seed", minimum=0))
    filled = _cropped(mask)
    per_point = np.count_nonzero(filled) / number
    factor = int(np.ceil(np.sqrt(_FEWEST_PIXELS / per_point)))
    stride = max(int(np.sqrt(per_point / _MOST_PIXELS)), 1)
    fine = np.kron(filled, np.ones((factor, factor), dtype=bool))[::stride, ::stride]
    rows, columns = fine.shape
    y, x = np.nonzero(fine)
    pixels = np.column_stack([x - 0.5 * (columns - 1), 0.5 * (rows - 1) - y])
    return read_only(_even(pixels, number, rng) * (tall / rows))


def _cropped(mask: Array) -> Array:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _even(pixels: Array, count: int, rng: np.random.Generator) -> Array:
    """Lloyd's algorithm: every point moves to the middle of the pixels nearest to it."""
    from scipy.spatial import cKDTree

    points = _strewn(pixels, count, rng)
    for _ in range(_ROUNDS):
        nearest = cKDTree(points).query(pixels)[1]
        share = np.bincount(nearest, minlength=count)
        sums = [np.bincount(nearest, pixels[:, k], minlength=count) for k in (0, 1)]
        middles = np.column_stack(sums) / np.maximum(share, 1)[:, None]
        points = np.where(share[:, None] > 0, middles, points)
    # The middle of a bent cell may lie outside: its nearest pixel does not.
    return np.asarray(pixels[cKDTree(pixels).query(points)[1]])


def _strewn(pixels: Array, count: int, rng: np.random.Generator) -> Array:
    """Every k-th pixel of a walk up and down through strips: equally many for equal areas.

    Lloyd's algorithm mends distances at once, but takes very long to move points between letters.
    """
    width = np.sqrt(len(pixels) / count)
    strip = np.floor((pixels[:, 0] - pixels[:, 0].min()) / width).astype(int)
    upwards = np.where(strip % 2 == 0, 1.0, -1.0)
    walk = np.lexsort((pixels[:, 0], upwards * pixels[:, 1], strip))
    places = (np.arange(count) + rng.uniform(0.0, 1.0, count)) * (len(pixels) / count)
    return np.asarray(pixels[walk[places.astype(int)]])
