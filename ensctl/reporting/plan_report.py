"""``plan_report``: a plan over loads as text, Markdown, JSON or one HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ensctl.errors import InvalidInputError
from ensctl.reporting.html import document_as_fragment, document_as_page
from ensctl.reporting.markdown import document_as_markdown
from ensctl.reporting.plan_document import plan_document, plan_overview
from ensctl.reporting.saved_document import SavedDocument
from ensctl.reporting.text import document_as_text
from ensctl.scheduling.plan_table_result import PlanTable

_WIDE = (7.2, 3.4)


@dataclass(frozen=True, eq=False)
class PlanReport(SavedDocument):
    """Result of :func:`plan_report`: a plan, and documents about it on request.

    Attributes
    ----------
    plan : PlanTable
        The plan.
    source : str
        Where its inputs come from, in words.
    """

    plan: PlanTable
    source: str = ""

    def to_text(self) -> str:
        """Plain text of at most 96 columns where words allow it."""
        return document_as_text(plan_document(self.plan, self.source))

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown, without plots."""
        return document_as_markdown(plan_document(self.plan, self.source))

    def to_html(self) -> str:
        """One HTML page with inline SVG plots and no external resources."""
        return document_as_page(plan_document(self.plan, self.source), _drawings(self.plan))

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe content, schema 1: that of the plan."""
        return self.plan.to_dict()

    def __str__(self) -> str:
        return str(self.plan)

    def _repr_html_(self) -> str:
        return plan_html(self.plan)


def plan_report(plan: PlanTable, *, source: str = "") -> PlanReport:
    """Report on a plan: verdicts, schedule, predictions, what wrong inputs cost, configuration.

    Parameters
    ----------
    plan : PlanTable
        What :func:`ensctl.scheduling.plan_table` returned.
    source : str
        Where its inputs come from, in words.

    Returns
    -------
    PlanReport
        With ``to_html``, ``to_markdown``, ``to_text``, ``to_json`` and ``save``.

    Raises
    ------
    InvalidInputError
        Not a plan.

    Examples
    --------
    >>> from ensctl.drafting import BatchTable
    >>> from ensctl.reporting import plan_report
    >>> from ensctl.scheduling import plan_table
    >>> plan = plan_table(0.7, BatchTable([1, 64], [10, 14], [1.0, 9.0], [9, 12]), 64, max_depth=5)
    >>> print(plan_report(plan).to_text().splitlines()[0])
    Speculation plan: depth for batches 1 to 64
    """
    if not isinstance(plan, PlanTable):
        raise InvalidInputError(
            f"plan must be a PlanTable, got {type(plan).__name__}; make one with plan_table"
        )
    return PlanReport(plan, str(source))


def plan_html(plan: PlanTable) -> str:
    """A :class:`PlanTable` in a notebook: its verdicts and its schedule."""
    return document_as_fragment(plan_overview(plan))


def _drawings(plan: PlanTable) -> dict[str, str]:
    from ensctl.plot import plan_table, plan_throughput, to_svg

    return {
        "plan-depths": to_svg(
            lambda ax: plan_table(plan, ax=ax),
            _WIDE,
            name="plan-depths",
            title="Draft depth against batch",
        ),
        "plan-throughput": to_svg(
            lambda ax: plan_throughput(plan, ax=ax),
            _WIDE,
            name="plan-throughput",
            title="Predicted throughput over no drafter against batch",
        ),
    }
