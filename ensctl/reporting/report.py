"""``ensctl.report``: one λ set in, verdicts, numbers and advice out, in four formats."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray

from ensctl import __version__
from ensctl.analysis.conditioning import Conditioning, conditioning
from ensctl.analysis.controllability import Controllability
from ensctl.analysis.horizon_sweep import HorizonSweep, horizon_sweep
from ensctl.analysis.observability import Observability, observability
from ensctl.analysis.practicality import PracticalVerdict, practicality
from ensctl.arguments import as_vector, read_only
from ensctl.ensemble.ensemble import Ensemble
from ensctl.ensemble.require import require_ensemble
from ensctl.errors import InvalidInputError
from ensctl.files import write_whole
from ensctl.formatting import power_text
from ensctl.reporting.figures import drawings
from ensctl.reporting.horizons import sweep_horizons
from ensctl.reporting.html import document_as_fragment, document_as_page
from ensctl.reporting.markdown import document_as_markdown
from ensctl.reporting.report_document import (
    fingerprint,
    overview_document,
    report_document,
    title,
)
from ensctl.reporting.text import document_as_text
from ensctl.reporting.verdicts import practical_sentence
from ensctl.serialization import versioned

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Report:
    """Result of :func:`report`: numbers first, documents on request.

    Attributes
    ----------
    ensemble : Ensemble
        The population.
    horizon : int or math.inf
        Number of steps H.
    controllability : Controllability
        The exact verdict at this horizon.
    observability : Observability
        The exact verdict about the aggregate outputs.
    conditioning : Conditioning
        Singular values, energies, distances, bounds and advice.
    sweep : HorizonSweep
        κ and worst energy at several horizons.
    practicality : PracticalVerdict or None
        The practical verdict about ``target``.
    target : (N,) or None
        The end state that was judged.
    """

    ensemble: Ensemble
    horizon: int | float
    controllability: Controllability
    observability: Observability
    conditioning: Conditioning
    sweep: HorizonSweep
    practicality: PracticalVerdict | None = None
    target: Array | None = None

    def to_text(self) -> str:
        """Plain text of at most 96 columns."""
        return document_as_text(report_document(self))

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown, without plots."""
        return document_as_markdown(report_document(self))

    def to_html(self) -> str:
        """One HTML page with inline SVG plots and no external resources."""
        return document_as_page(report_document(self), drawings(self))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1.

        Keys: ``schema``, ``kind`` ("report"), ``ensctl`` (version), ``fingerprint`` (SHA-256 of
        the data), ``horizon``, ``target``, then ``ensemble``, ``controllability``,
        ``observability``, ``conditioning`` and ``horizon_sweep`` as their own ``to_dict``, and
        ``practicality`` (null without a target).
        Complex numbers are {"re", "im"}; "inf" and "-inf" are strings.
        """
        ens = self.ensemble
        return versioned(
            "report",
            {
                "ensctl": __version__,
                "fingerprint": fingerprint(ens),
                "ensemble": ens.to_dict(),
                "horizon": self.horizon,
                "target": self.target,
                "controllability": self.controllability.to_dict(),
                "observability": self.observability.to_dict(),
                "conditioning": self.conditioning.to_dict(),
                "horizon_sweep": self.sweep.to_dict(),
                "practicality": self.practicality,
            },
        )

    def to_json(self) -> str:
        """``to_dict`` as JSON text; ends in a newline."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report; the suffix decides on the format: .html, .json, .md or .txt.

        The file appears whole or not at all: it is written under a temporary name in the same
        folder and renamed.

        Parameters
        ----------
        path : str or path
            Where to.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        InvalidInputError
            Another suffix, or a place that cannot be written to.
        """
        place = Path(path)
        renderer = renderer_for(place)
        write_whole(place, renderer(self))
        return place

    def __str__(self) -> str:
        result = self.conditioning
        reasons = [f"- {reason}" for reason in self.controllability.reasons[:2]]
        return "\n".join(
            [
                self.controllability.sentence,
                *reasons,
                practical_sentence(result, self.practicality),
                title(self.ensemble),
                f"κ₂ {power_text(result.log10_cond)}, worst energy "
                f"{power_text(result.log10_worst_energy)}, distance to uncontrollable "
                f"{result.distance.value:.4g}",
                f"aggregate: {self.observability.sentence}",
                f"- {result.advice[0]}" if result.advice else "no advice",
            ]
        )

    def _repr_html_(self) -> str:
        return document_as_fragment(overview_document(self))


_RENDERERS = {
    ".html": Report.to_html,
    ".json": Report.to_json,
    ".md": Report.to_markdown,
    ".txt": Report.to_text,
}


def renderer_for(path: Path) -> Any:
    """The method that renders for this file name.

    Raises
    ------
    InvalidInputError
        The suffix is none of the four.
    """
    renderer = _RENDERERS.get(path.suffix.lower())
    if renderer is None:
        raise InvalidInputError(
            f"path must end in {', '.join(_RENDERERS)}, got {str(path)!r}; the suffix decides on "
            f"the format"
        )
    return renderer


def report(
    ens: Ensemble,
    horizon: int | float | None = None,
    *,
    target: ArrayLike | None = None,
    real_inputs: bool | None = None,
) -> Report:
    """Analyse an ensemble and collect verdicts, numbers and advice in one report.

    Parameters
    ----------
    ens : Ensemble
        The population.
    horizon : int or math.inf, optional
        Number of steps H ≥ 1; N by default.
    target : (N,) array_like, optional
        End state, from x_0 = 0, whose practical verdict is asked for; needs a finite horizon.
    real_inputs : bool, optional
        True: inputs are real and dimensions are counted as real ones.

    Returns
    -------
    Report

    Raises
    ------
    InvalidInputError
        A horizon or target that does not fit, or a set too large for an O(N (N + H)) report.
    NotReachableError
        The target cannot be reached.

    Notes
    -----
    Accuracy is that of the parts: verdicts exact, every σ with its bound.  N = 50, H = 200 takes
    well under two seconds; plots are drawn by :meth:`Report.to_html` only.

    Examples
    --------
    >>> import ensctl as ec
    >>> result = ec.report(ec.Ensemble([0.2, 0.5, 0.8]), 12)
    >>> print(str(result).splitlines()[0])
    reachable in 12 steps: rank 3 of 3 (exact)
    """
    require_ensemble(ens)
    end = None if target is None else read_only(as_vector(target, "target", size=ens.size))
    if end is not None and horizon == math.inf:
        raise InvalidInputError("horizon must be finite to judge a target, got inf")
    result = conditioning(ens, horizon, real_inputs=real_inputs)
    steps = result.horizon
    sweep = horizon_sweep(
        ens,
        sweep_horizons(result.verdict.dimension, ens.channels, steps),
        real_inputs=real_inputs,
    )
    judged = None
    if end is not None:
        judged = practicality(ens, int(steps), target=end, real_inputs=real_inputs)
    return Report(
        ensemble=ens,
        horizon=steps,
        controllability=result.verdict,
        observability=observability(ens, real_inputs=real_inputs),
        conditioning=result,
        sweep=sweep,
        practicality=judged,
        target=end,
    )
