"""Reports: result → document → text, Markdown, JSON, HTML, and what notebooks show."""

from ensctl.reporting.continuum import continuum_page
from ensctl.reporting.fragments import conditioning_html, controllability_html, observability_html
from ensctl.reporting.node_design import node_design_html, save_node_design
from ensctl.reporting.plan_report import PlanReport, plan_html, plan_report
from ensctl.reporting.report import Report, report

__all__ = [
    "PlanReport",
    "Report",
    "conditioning_html",
    "continuum_page",
    "controllability_html",
    "node_design_html",
    "observability_html",
    "plan_html",
    "plan_report",
    "report",
    "save_node_design",
]
