"""Pictures and films of a swarm in files, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from ensctl.errors import InvalidInputError
from ensctl.plot.steering_figure import require_picture
from ensctl.plot.swarm_picture import Plan, swarm_picture

_SIZE = (7.2, 4.0)
# No date: the same plan gives the same bytes.
_UNDATED: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a name in the same folder to write to; it replaces ``path`` when nothing failed.

    A link is followed.

    Raises
    ------
    InvalidInputError
        The file cannot be written; nothing is left behind.
    """
    target = Path(os.path.realpath(path))
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            part = Path(folder, target.name)
            yield part
            os.replace(part, target)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InvalidInputError(
            f"path must be writable, got {path}: {reason}; choose another place"
        ) from None


def save_swarm_picture(plan: Plan, path: str | Path) -> Path:
    """Draw start, paths and end of a swarm and write the picture.

    Parameters
    ----------
    plan : SwarmPlan or BroadcastPlan
        A plan with inputs.
    path : str or Path
        Ends in .svg, .png or .pdf.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InvalidInputError
        Another suffix, or the file cannot be written.
    NotReachableError, InfeasibleError, PrecisionError, SolverError
        The plan has no speeds; the message says why.

    Notes
    -----
    rcParams are those of a fresh matplotlib while drawing and are put back afterwards.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ensctl.plot import save_swarm_picture, text_points
    >>> from ensctl.simulation import Swarm
    >>> plan = Swarm.scattered(20).steer_to(text_points("I", 20))
    >>> save_swarm_picture(plan, pathlib.Path(tempfile.mkdtemp(), "i.png")).name
    'i.png'
    """
    from matplotlib import style

    file = Path(path)
    require_picture(file)
    suffix = file.suffix.lower()
    with style.context("default"), matplotlib.rc_context({"svg.hashsalt": "swarm"}):
        figure = Figure(figsize=_SIZE, layout="compressed")
        swarm_picture(plan, ax=figure.subplots())
        with whole_file(file) as part:
            figure.savefig(part, format=suffix[1:], dpi=150, metadata=_UNDATED.get(suffix, {}))
    return file
