"""Depth curves of several engines and models as one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from ensctl.drafting.optimum_result import DepthOptimum
from ensctl.files import require_folder
from ensctl.plot.drafting_depth_curve import depth_curve
from ensctl.plot.names import plot_name


def save_depth_curves(
    optima: Sequence[DepthOptimum], path: str | Path, *, names: Sequence[str] = ()
) -> Path:
    """Write one panel for each optimum, below each other, as an image.

    Parameters
    ----------
    optima : sequence of DepthOptimum
        What to draw, at least one.
    path : str or path
        File name; the suffix decides the format (.png, .svg, .pdf).
    names : sequence of str
        Titles of the panels.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    InvalidInputError
        The folder does not exist.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ensctl.drafting import optimal_depth
    >>> from ensctl.plot import save_depth_curves
    >>> with TemporaryDirectory() as folder:
    ...     save_depth_curves([optimal_depth(0.7, 0.1)], Path(folder) / "depth.png").name
    'depth.png'
    """
    target = Path(path)
    require_folder(target)
    figure = Figure(figsize=(6.4, 3.6 * len(optima)), layout="compressed")
    for i, (optimum, ax) in enumerate(
        zip(optima, figure.subplots(len(optima), squeeze=False).ravel(), strict=True)
    ):
        depth_curve(optimum, ax=ax)
        if i < len(names) and names[i]:
            # Above the legend, which sits above the axes.
            ax.set_title(plot_name(names[i], 60), fontsize="medium", pad=24, loc="left")
    figure.savefig(target, dpi=150)
    return target
