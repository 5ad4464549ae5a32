"""The public page: a function of the public document alone, so that anybody can make it again."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from denv.report import Report, text, wording
from denv.report.caseview import view
from denv.report.chart import rows as chart_rows
from denv.report.environment import environment
from denv.report.gaming import gaming_lines
from denv.report.html import NOT_COUNTED, Bounds, Bucket, figure
from denv.report.model import Document
from denv.report.noise import noise_lines
from denv.report.power import power_lines

BOUNDS = Bounds(full=200, full_bytes=3_000_000)
STALE = "Published {}; stale after {}: a deployment changes, and so does its reference."
_MOST_MESSAGES = 50


def render(report: Report) -> str:
    """Give the page of a public report."""
    page = page_environment().get_template("public.html.j2").render(_context(report))
    return text.without_surrogates(page)


@cache
def page_environment() -> Environment:
    """Give what the public pages are made with."""
    return environment(
        line=text.line,
        percent=text.percent,
        threshold=text.threshold,
        interval=text.interval,
        figure=figure,
    )


def _context(report: Report) -> Mapping[str, Any]:
    head = report.head
    style = Markup(files("denv.report").joinpath("templates", "report.css").read_text("utf-8"))  # noqa: S704 - a file of this package
    digest = hashlib.sha256(style.encode()).digest()
    return {
        "head": head,
        "stage": stage_name(head),
        "failed": report.failed,
        "walk": Walk(report),
        "chart": chart_rows(head["kinds"]),
        "verdict_says": wording.VERDICTS[head["verdict"]],
        "about": about(head),
        "hints": head["hints"],
        "causes": wording.ranked(head),
        "cause_meanings": wording.CAUSES,
        "outcomes": wording.OUTCOMES,
        "not_counted": NOT_COUNTED,
        "sides": wording.sides(head),
        "gaming": [] if head["gaming"] is None else gaming_lines(head),
        "noise": noise_lines(head),
        "power": power_lines(head),
        "bounds": BOUNDS,
        "style": style,
        "style_hash": base64.b64encode(digest).decode(),
    }


def stage_name(head: Document) -> str:
    """Give what a reader knows the stage by: its name, the release's, or its model's."""
    names = (head["stage"]["name"], head["release"], head["stage"]["model"], "a stage")
    return next(str(name) for name in names if name)


def about(head: Document) -> list[str]:
    """Say how much weight this one run has: which of how many it is, and until when it is fresh."""
    cases = head["suite"].get("drawn", head["suite"]["cases"])
    reference = head["reference"]["name"] or head["reference"]["model"] or "a reference"
    return [
        f"The answers of {stage_name(head)} to {cases} cases, beside those of {reference}.",
        _place(head["log"]),
        STALE.format(head["published"][:10], head["stale_after"]),
    ]


def _place(log: Document | None) -> str:
    if log is None:
        return "The publisher's log does not hold this run: it says nothing of how many there were."
    cancelled = f", {log['cancelled']} of them interrupted" if log["cancelled"] else ""
    return (
        f"Run {log['position']} of {log['runs']} with this suite against this stage{cancelled}, "
        f"by the publisher's log (entry {log['number']} of {log['entries']}, "
        f"{log['entry'][:16]}…)."
    )


@dataclass(slots=True)
class Walk:
    """One walk over the cases: gives the failing ones in full, and names the others as it goes."""

    report: Report
    full: int = 0
    rest: Bucket = field(default_factory=Bucket)
    uncounted: dict[str, dict[str, Bucket]] = field(
        default_factory=lambda: {outcome: {} for outcome in NOT_COUNTED}
    )
    _bytes: int = 0
    _ids: int = 0

    def failing(self) -> Iterator[Markup]:
        """Give the HTML of each failing case that is shown in full."""
        for document in self.report.cases():
            outcome = document["outcome"]
            if outcome == "fail":
                html = self._in_full(document)
                if html is not None:
                    yield html
            elif outcome in self.uncounted:
                self._name(document, self._reason(outcome, document["reason"]))

    def _in_full(self, document: Document) -> Markup | None:
        if self.full < BOUNDS.full and self._bytes < BOUNDS.full_bytes:
            html = case_html(document, first=self.full == 0)
            self._bytes += len(html.encode())
            if self._bytes <= BOUNDS.full_bytes:
                self.full += 1
                return html
        self._name(document, self.rest)
        return None

    def _reason(self, outcome: str, reason: str) -> Bucket:
        found = self.uncounted[outcome]
        key = text.line(reason, 200)
        if key not in found and len(found) >= BOUNDS.reasons:
            key = "other reasons"
        return found.setdefault(key, Bucket())

    def _name(self, document: Document, bucket: Bucket) -> None:
        if self._ids < BOUNDS.ids:
            self._ids += 1
            bucket.ids.append(text.line(document["id"], 120))
        else:
            bucket.more += 1


def case_html(document: Document, *, first: bool, limit: int = 4000) -> Markup:
    """Lay out one failing case: what was asked, what was expected, and both answers."""
    asked = document["asked"]
    shown = view({**document, "detail": {}}, limit=limit, first=first)
    html = (
        page_environment()
        .get_template("public_case.html.j2")
        .render(
            case=shown,
            prompt=text.visible(text.clipped(_prompt(asked), limit)),
            expect=json.dumps(asked["expect"], ensure_ascii=False),
        )
    )
    return Markup(html)  # noqa: S704 - the template that made it escapes every value by itself


def _prompt(asked: Document) -> str:
    """Write messages and tools to be read; what is no text stands as JSON."""
    lines = [_message(one) for one in asked["messages"][:_MOST_MESSAGES]]
    if more := len(asked["messages"]) - _MOST_MESSAGES:
        lines += [f"({more} more messages)"] if more > 0 else []
    for name in ("tools", "tool_choice", "response_format"):
        if name in asked:
            lines.append(f"[{name}] {json.dumps(asked[name], ensure_ascii=False)}")
    return "\n\n".join(lines)


def _message(message: Document) -> str:
    content = message.get("content")
    if isinstance(content, str) and not message.keys() - {"role", "content"}:
        return f"[{message['role']}] {content}"
    rest = {name: value for name, value in message.items() if name != "role"}
    return f"[{message['role']}] {json.dumps(rest, ensure_ascii=False)}"
