"""Reports: result → document → text, Markdown, JSON, HTML, and what notebooks show."""

from ensctl.reporting.fragments import (
    conditioning_html,
    controllability_html,
    observability_html,
)
from ensctl.reporting.report import Report, report

__all__ = [
    "Report",
    "conditioning_html",
    "controllability_html",
    "observability_html",
    "report",
]
