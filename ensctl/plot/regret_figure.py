"""Regret of replayed policies as a picture in a file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from ensctl.files import write_whole
from ensctl.plot.regret_lines import regret_curves
from ensctl.plot.steering_figure import require_picture
from ensctl.scheduling.replay_policy import ReplayResult

_SIZE = (7.2, 4.2)
# No date: the same results give the same bytes.
_METADATA: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}


def save_regret_figure(results: ReplayResult | Sequence[ReplayResult], path: str | Path) -> Path:
    """Draw regret curves and write the picture, whole or not at all.

    Parameters
    ----------
    results : ReplayResult or sequence of ReplayResult
        What :func:`ensctl.scheduling.replay` returned, of one policy or of several.
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

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ensctl import scheduling
    >>> from ensctl.plot import save_regret_figure
    >>> policy = scheduling.policies.KFUCB(scheduling.fixture_arms())
    >>> traces = scheduling.token_chain("iid", requests=20)
    >>> result = scheduling.replay(traces, policy, batch=4, cycles=50)
    >>> folder = tempfile.TemporaryDirectory()
    >>> save_regret_figure(result, pathlib.Path(folder.name, "regret.svg")).name
    'regret.svg'
    >>> folder.cleanup()
    """
    from matplotlib import style

    file = Path(path)
    require_picture(file)
    suffix = file.suffix.lower()
    buffer = io.BytesIO()
    with style.context("default"), matplotlib.rc_context({"svg.hashsalt": "regret"}):
        figure = Figure(figsize=_SIZE, layout="compressed")
        regret_curves(results, ax=figure.subplots())
        figure.savefig(buffer, format=suffix[1:], dpi=150, metadata=_METADATA[suffix])
    write_whole(file, buffer.getvalue())
    return file
