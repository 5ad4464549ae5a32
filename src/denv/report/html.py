"""The report as one page that needs nothing else: no network and no other file.

The page is generated piece by piece. It shows as many failing cases in full as fit into its
budget, the others as ids and then as counts, so that its size does not grow with the suite.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, Template
from markupsafe import Markup

from denv.report import text, wording
from denv.report.caseview import CaseView, view
from denv.report.chart import rows as chart_rows
from denv.report.environment import environment
from denv.report.gaming import gaming_lines
from denv.report.model import Document, Report
from denv.report.noise import noise_lines
from denv.report.output import Target, opened
from denv.report.power import power_lines

NOT_COUNTED = ("reference-fail", "unmeasured", "reference-error")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one page holds at the most."""

    full: int = 500
    full_bytes: int = 5_000_000
    ids: int = 5_000
    reasons: int = 200
    list: int = 100


@dataclass(slots=True)
class Bucket:
    """Cases that are only named: as many ids as there is room for, and the number of the rest."""

    ids: list[str] = field(default_factory=list)
    more: int = 0


@dataclass(slots=True)
class Walk:
    """One walk over the cases: gives the failing ones in full, and names the others as it goes.

    ``rest`` and ``uncounted`` are complete once ``failing`` is used up.
    """

    report: Report
    bounds: Bounds
    case: Template
    full: int = 0
    rest: Bucket = field(default_factory=Bucket)
    uncounted: dict[str, dict[str, Bucket]] = field(
        default_factory=lambda: {outcome: {} for outcome in NOT_COUNTED}
    )
    _bytes: int = 0
    _ids: int = 0

    def failing(self) -> Iterator[Markup]:
        """Give the HTML of each failing case that is shown in full."""
        limit = _text_limit(min(self.report.failed, self.bounds.full))
        for document in self.report.cases():
            outcome = document["outcome"]
            if outcome == "fail":
                shown = self._in_full(document, limit)
                if shown is not None:
                    yield shown
            elif outcome in self.uncounted:
                self._name(document, self._reason(self.uncounted[outcome], document["reason"]))

    def _in_full(self, document: Document, limit: int) -> Markup | None:
        if self.full < self.bounds.full and self._bytes < self.bounds.full_bytes:
            shown: CaseView = view(document, limit=limit, first=self.full == 0)
            html = self.case.render(case=shown)
            size = len(html.encode())
            if self._bytes + size <= self.bounds.full_bytes:
                self._bytes += size
                self.full += 1
                # the template that made it escapes every value by itself
                return Markup(html)  # noqa: S704
            self._bytes = self.bounds.full_bytes
        self._name(document, self.rest)
        return None

    def _reason(self, found: dict[str, Bucket], reason: str) -> Bucket:
        key = text.line(reason, 200)
        if key not in found and len(found) >= self.bounds.reasons:
            key = "other reasons"
        return found.setdefault(key, Bucket())

    def _name(self, document: Document, bucket: Bucket) -> None:
        if self._ids < self.bounds.ids:
            self._ids += 1
            bucket.ids.append(text.line(document["id"], 120))
        else:
            bucket.more += 1


def _text_limit(cases: int) -> int:
    """Give each text its share of the page: few failing cases are shown at greater length."""
    return max(1000, min(6000, 1_500_000 // max(1, cases)))


@cache
def _environment() -> Environment:
    return environment(
        line=text.line,
        visible=text.visible,
        percent=text.percent,
        threshold=text.threshold,
        interval=text.interval,
        figure=figure,
    )


def figure(value: object) -> str:
    """Write a value; a number gets four significant digits, and its thousands set apart."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return text.line(", ".join(map(str, value)), 400) or "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else text.line(value)


def _own(name: str) -> Markup:
    """Read a style sheet or script of the package, which is trusted as it stands."""
    found = files("denv.report").joinpath("templates", name).read_text("utf-8")
    return Markup(found)  # noqa: S704 - a file of this package, no text of a run


def _context(report: Report, bounds: Bounds) -> Mapping[str, Any]:
    head = report.head
    script = _own("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {
        "head": head,
        "failed": report.failed,
        "walk": Walk(report, bounds, _environment().get_template("case.html.j2")),
        "chart": chart_rows(head["kinds"]),
        "verdict_says": wording.VERDICTS[head["verdict"]],
        "next_steps": wording.next_steps(head),
        "causes": wording.ranked(head),
        "cause_meanings": wording.CAUSES,
        "outcomes": wording.OUTCOMES,
        "not_counted": NOT_COUNTED,
        "sides": wording.sides(head),
        "gaming": gaming_lines(head),
        "noise": noise_lines(head),
        "power": power_lines(head),
        "bounds": bounds,
        "style": _own("report.css"),
        "script": script,
        "script_hash": digest,
    }


def write_html(report: Report, path_or_file: Target, *, bounds: Bounds | None = None) -> None:
    """Write the report as one self-contained page."""
    context = _context(report, bounds or Bounds())
    page = _environment().get_template("report.html.j2").stream(context)
    page.enable_buffering(50)
    with opened(path_or_file) as stream:
        stream.writelines(text.without_surrogates(part) for part in page)
