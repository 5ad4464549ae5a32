"""What a run found, written for machines, continuous integration, terminals and people.

Every writer lays out the figures of one report document and computes none of its own.
"""

from denv.report.html import write_html
from denv.report.json import write_json
from denv.report.junit import write_junit
from denv.report.markdown import write_markdown
from denv.report.model import Report, validate
from denv.report.terminal import print_report

__all__ = [
    "Report",
    "print_report",
    "validate",
    "write_html",
    "write_json",
    "write_junit",
    "write_markdown",
]
