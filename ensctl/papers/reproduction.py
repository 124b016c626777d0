"""``reproduce``: every claim of both papers checked, and on request every experiment run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from ensctl.arguments import as_count
from ensctl.errors import InvalidInputError
from ensctl.papers.claim import ClaimResult, Paper, check_claim
from ensctl.papers.claims import claims
from ensctl.papers.experiment import LINE, Experiment
from ensctl.papers.experiments import run_experiments
from ensctl.papers.reproduction_document import FOUND, overview_document, reproduction_document
from ensctl.papers.verdicts import ClaimVerdict, Outcome
from ensctl.progress import Progress
from ensctl.reporting.html import document_as_fragment, document_as_page
from ensctl.reporting.markdown import document_as_markdown
from ensctl.reporting.saved_document import SavedDocument
from ensctl.reporting.text import document_as_text
from ensctl.serialization import versioned


@dataclass(frozen=True, eq=False)
class Reproduction(SavedDocument):
    """Result of :func:`reproduce`: verdicts first, documents on request.

    Attributes
    ----------
    claims : tuple of ClaimResult
        Every printed claim of both papers in reading order.
    experiments : tuple of Experiment
        The falsification experiments; empty when they were not asked for.
    seed : int
        Seed of the experiments.
    """

    claims: tuple[ClaimResult, ...]
    experiments: tuple[Experiment, ...]
    seed: int

    @property
    def counts(self) -> dict[ClaimVerdict, int]:
        """How many claims have each verdict."""
        found = Counter(result.verdict for result in self.claims)
        return {verdict: found[verdict] for verdict in ClaimVerdict}

    @property
    def findings(self) -> tuple[ClaimResult, ...]:
        """The claims about which something is to be said."""
        return tuple(result for result in self.claims if result.verdict in FOUND)

    @property
    def sentence(self) -> str:
        """The verdicts in one line."""
        said = ", ".join(f"{count} {verdict.value}" for verdict, count in self.counts.items())
        return f"{len(self.claims)} claims of two papers: {said}"

    def of(self, paper: Paper) -> tuple[ClaimResult, ...]:
        """The claims of one paper."""
        return tuple(result for result in self.claims if result.claim.paper is paper)

    def claim(self, name: str) -> ClaimResult:
        """The claim of this name."""
        for result in self.claims:
            if result.claim.name == name:
                return result
        raise InvalidInputError(
            f"name must be that of a claim such as {self.claims[0].claim.name!r}, got {name!r}"
        )

    def experiment(self, name: str) -> Experiment:
        """The experiment of this name."""
        for result in self.experiments:
            if result.name == name:
                return result
        known = ", ".join(result.name for result in self.experiments)
        raise InvalidInputError(
            f"name must be one of {known}, got {name!r}"
            if known
            else f"there is no experiment {name!r}: call reproduce with experiments=True"
        )

    def to_text(self) -> str:
        """Plain text of at most 96 columns where words allow it."""
        return document_as_text(reproduction_document(self.claims, self.experiments))

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown."""
        return document_as_markdown(reproduction_document(self.claims, self.experiments))

    def to_html(self) -> str:
        """One HTML page without external resources."""
        return document_as_page(reproduction_document(self.claims, self.experiments), {})

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1."""
        return versioned(
            "reproduction",
            {
                "papers": {
                    paper.value: {"title": paper.title, "subtitle": paper.subtitle}
                    for paper in Paper
                },
                "counts": {verdict.value: count for verdict, count in self.counts.items()},
                "claims": [result.to_dict() for result in self.claims],
                "experiments": [result.to_dict() for result in self.experiments],
                "seed": self.seed,
            },
        )

    def __str__(self) -> str:
        lines = wrap(self.sentence, LINE)
        slips = [r for r in self.claims if r.verdict is ClaimVerdict.ARITHMETIC_SLIP]
        lines += [
            f"{r.claim.paper.value} {r.claim.where}: {r.claim.statement}: printed "
            f"{r.claim.printed}, recomputed {r.recomputed}"
            for r in slips[:5]
        ]
        if self.experiments:
            found = Counter(result.outcome for result in self.experiments)
            said = ", ".join(f"{found[o]} {o.value}" for o in Outcome if found[o])
            lines.append(f"{len(self.experiments)} experiments: {said}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return document_as_fragment(overview_document(self.claims, self.experiments))


def reproduce(
    experiments: bool = False, *, seed: int = 0, progress: Progress | bool | None = None
) -> Reproduction:
    """Recompute every printed number of both papers, and run their falsification criteria.

    Parameters
    ----------
    experiments : bool
        Whether to run the experiments too, about ten seconds.
    seed : int
        Of the experiments' random numbers, ≥ 0.
    progress : callable, bool or None
        ``progress(done, total)``; True draws a bar on stderr when that is a terminal.

    Returns
    -------
    Reproduction
        Printed beside recomputed values with a verdict and the function that computes each;
        ``to_text``, ``to_markdown``, ``to_html``, ``to_json`` and ``save``.

    Raises
    ------
    InvalidInputError
        A seed that is not an integer ≥ 0.

    Notes
    -----
    Nothing is stored: each value comes from the function named beside it.

    Examples
    --------
    >>> from ensctl.papers import ClaimVerdict, reproduce
    >>> result = reproduce()
    >>> slip = result.claim("a-triple")
    >>> slip.claim.printed, slip.recomputed
    ('2.270076473', '2.27007616')
    >>> result.counts[ClaimVerdict.ARITHMETIC_SLIP]
    4
    """
    start = as_count(seed, "seed", minimum=0)
    checked = tuple(check_claim(claim) for claim in claims())
    run = run_experiments(start, progress=progress) if experiments else ()
    return Reproduction(checked, run, start)
