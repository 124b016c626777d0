"""A steering plan as a picture in a file: its inputs above, the members below."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from ensctl.errors import InvalidInputError
from ensctl.files import write_whole
from ensctl.plot.steering_plan import steering_plan, steering_states
from ensctl.synthesis.plan import SteeringPlan

_SIZE = (7.2, 6.0)
# No date: the same plan gives the same bytes.
_METADATA: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}


def require_picture(path: Path) -> None:
    """Refuse a file that is no picture, before any work is done for it.

    Raises
    ------
    InvalidInputError
        The suffix is none of .svg, .png and .pdf.
    """
    if path.suffix.lower() not in _METADATA:
        raise InvalidInputError(f"plot must end in {', '.join(_METADATA)}, got {path.name!r}")


def save_steering_figure(plan: SteeringPlan, path: str | Path) -> Path:
    """Draw inputs and states one above the other and write the picture, whole or not at all.

    Parameters
    ----------
    plan : SteeringPlan
        What :func:`ensctl.steer` returned.
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
    InfeasibleError, NotReachableError, PrecisionError, SolverError
        The plan has no inputs; the message says why.

    Notes
    -----
    rcParams are those of a fresh matplotlib while drawing and are put back afterwards.

    Examples
    --------
    >>> import ensctl as ec, pathlib, tempfile
    >>> from ensctl.plot import save_steering_figure
    >>> plan = ec.steer(ec.Ensemble([0.3, 0.6]), [1, 0], 6)
    >>> path = save_steering_figure(plan, pathlib.Path(tempfile.mkdtemp(), "plan.svg"))
    >>> path.name
    'plan.svg'
    """
    from matplotlib import style

    file = Path(path)
    require_picture(file)
    suffix = file.suffix.lower()
    buffer = io.BytesIO()
    with style.context("default"), matplotlib.rc_context({"svg.hashsalt": "steering"}):
        figure = Figure(figsize=_SIZE, layout="compressed")
        above, below = figure.subplots(2, 1)
        steering_plan(plan, ax=above)
        steering_states(plan, ax=below)
        figure.savefig(buffer, format=suffix[1:], dpi=150, metadata=_METADATA[suffix])
    write_whole(file, buffer.getvalue())
    return file
