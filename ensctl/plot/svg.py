"""Inline SVG of a plot: the same bytes every time, and ids that share a page with other plots."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import escape
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from ensctl.plot.palette import BLUE, GREEN, ORANGE, PURPLE, VERMILLION

# Drawn in a colour nothing else has, and exchanged for the text colour of the page.
_INK = "#010203"
_PAGE_COLOURS = {
    _INK: "currentColor",
    BLUE: f"var(--ec-blue, {BLUE})",
    GREEN: f"var(--ec-green, {GREEN})",
    ORANGE: f"var(--ec-orange, {ORANGE})",
    PURPLE: f"var(--ec-purple, {PURPLE})",
    VERMILLION: f"var(--ec-vermillion, {VERMILLION})",
}
# Glyphs as paths: the print looks like the screen whatever fonts there are.
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "font.size": 9.5,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}
_HEAD = re.compile(r"^.*?(?=<svg\b)", re.DOTALL)
# A style element inside the drawing would apply to the whole page.
_NOT_FOR_PAGES = re.compile(
    r"\s*(?:<metadata>.*?</metadata>|<style\b.*?</style>|<!--.*?-->)", re.DOTALL
)
_LINES = "stroke-linejoin: round; stroke-linecap: butt"
_REFERENCE = re.compile(r'(\bid="|\bhref="#|url\(#)([^")]+)')


def to_svg(
    draw: Callable[[Axes], object], size: tuple[float, float], *, name: str, title: str
) -> str:
    """Draw on fresh axes and return one ``<svg>`` element for an HTML page.

    Text and axes take the colour of the page (``currentColor``); the series colours can be
    changed by the page through the custom properties ``--ec-blue``, ``--ec-green``,
    ``--ec-orange``, ``--ec-purple`` and ``--ec-vermillion``.

    Parameters
    ----------
    draw : callable
        Takes the axes.
    size : (width, height)
        Inches; the page scales it.
    name : str
        Prefix of every id, unique on the page.
    title : str
        What a screen reader says.

    Returns
    -------
    str

    Notes
    -----
    The same data give the same bytes (no date, fixed hash salt).  rcParams are those of a fresh
    matplotlib while drawing and are put back afterwards.

    Examples
    --------
    >>> from ensctl.plot import to_svg
    >>> text = to_svg(lambda ax: ax.plot([0, 1]), (3, 2), name="line", title="A line")
    >>> text.startswith("<svg"), 'aria-label="A line"' in text
    (True, True)
    """
    from matplotlib import style

    buffer = io.StringIO()
    with style.context("default"), matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=size, layout="compressed")
        FigureCanvasSVG(figure)
        draw(figure.subplots())
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return _for_page(buffer.getvalue(), name, title)


def _for_page(text: str, name: str, title: str) -> str:
    text = _NOT_FOR_PAGES.sub("", _HEAD.sub("", text))
    text = _REFERENCE.sub(rf"\1{name}-\2", text)
    opening, rest = text.split(">", 1)
    opening = re.sub(r'\s(?:width|height)="[^"]*"', "", opening)
    for colour, replacement in _PAGE_COLOURS.items():
        rest = rest.replace(colour.lower(), replacement)
    label = escape(title, quote=True)
    return f'{opening} style="{_LINES}" role="img" aria-label="{label}">{rest}'.strip()
