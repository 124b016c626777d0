"""How results show themselves: ``.plot(ax=)`` and ``_repr_html_`` looked up by name.

Results live in low rooms, drawing and documents in high ones.  This is the one deliberate
exception to downward imports: the function is found by name in :mod:`ensctl.plot` or
:mod:`ensctl.reporting` when it is called, so results stay free of matplotlib and jinja2.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar


class Plotted:
    """Mixin for results that :mod:`ensctl.plot` can draw; names the plot function."""

    _plot_function: ClassVar[str]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw this result with the function of :mod:`ensctl.plot` made for it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure is made when it is not given.

        Returns
        -------
        object
            What was drawn (matplotlib artists).
        """
        function = getattr(import_module("ensctl.plot"), self._plot_function)
        return function(self, ax=ax)


class Documented:
    """Mixin for results that :mod:`ensctl.reporting` can show as HTML in a notebook."""

    _html_function: ClassVar[str]

    def _repr_html_(self) -> str:
        function = getattr(import_module("ensctl.reporting"), self._html_function)
        return str(function(self))


class Summarised:
    """Mixin for results that a notebook shows as the text of ``print``."""

    def _repr_html_(self) -> str:
        from html import escape

        return f'<pre style="white-space: pre-wrap">{escape(str(self))}</pre>'
