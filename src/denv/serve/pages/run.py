"""One run: its verdict with what follows from it, its figures, and its cases a page at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.records import Cause, Json, Outcome
from denv.report import wording
from denv.report.caseview import CaseView, view
from denv.report.chart import rows as chart_rows
from denv.report.gaming import gaming_lines
from denv.report.html import Bounds
from denv.report.noise import noise_lines
from denv.report.power import power_lines
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import name_of
from denv.serve.pages.confirming import may_act
from denv.serve.pages.naming import stage_words
from denv.serve.pages.rendering import render
from denv.store import LogPlace, RunRecord, RunRow

MISSING = "There is no such run."
PAGE = 50
TEXT = 2000
"""Characters of each answer in the list; a case's own page has all."""

OUTCOMES: Mapping[str, str] = {
    "fail": "failed",
    "reference-fail": "the reference itself fails",
    "unmeasured": "not measured",
    "reference-error": "no answer of the reference",
    "pass": "passed",
}
ALL = "all"
FORMS = (("json", "JSON"), ("html", "Web page"), ("xml", "JUnit"), ("md", "Markdown"))


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which cases are listed, from beyond index ``after``."""

    outcome: str
    cause: str | None = None
    check: str | None = None
    after: int = -1

    def query(self, **more: Any) -> str:
        """Write it as the query of an address, without the place in the list."""
        given = {"outcome": self.outcome, "cause": self.cause, "check": self.check, **more}
        return urlencode({name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Shown:
    """All that is read for the page."""

    row: RunRow
    record: RunRecord
    place: LogPlace | None
    counts: Mapping[str, int]
    causes: Mapping[str, int]
    cases: Sequence[tuple[int, CaseView]]
    more: bool

    @property
    def done(self) -> int:
        """How many cases have a result."""
        return sum(self.counts.values())


def routes(context: ServeContext) -> list[Route]:
    """Give the page."""
    return [Route("/runs/{run}", partial(_page, context))]


async def _page(context: ServeContext, request: Request) -> Response:
    run = name_of(request, "run", missing=MISSING)
    chosen = chosen_of(request)
    shown = await asyncio.to_thread(_read, context, run, chosen)
    head = shown.record.head
    return render(
        request,
        "run.html.j2",
        shown=shown,
        row=shown.row,
        head=head,
        stage=stage_words(shown.row.stage_url, shown.row.stage_model),
        **({} if head is None else _of_head(head)),
        chosen=chosen,
        outcomes=OUTCOMES,
        outcome_says=wording.OUTCOMES,
        every=ALL,
        known_causes=sorted(shown.causes),
        known_checks=sorted(head["checks"]) if head else [],
        first=_at(run, chosen.query()) if chosen.after >= 0 else None,
        next_page=_at(run, chosen.query(after=shown.cases[-1][0])) if shown.more else None,
        forms=FORMS,
        may=may_act(request),
        now=context.now().timestamp(),
    )


def _at(run: str, query: str) -> str:
    return f"?{query}#cases"


def chosen_of(request: Request) -> Chosen:
    """Read which cases are asked for; those that failed where nothing is said.

    Raises
    ------
    HTTPException
        It is nothing that a case can be.
    """
    given = request.query_params
    outcome = given.get("outcome") or (ALL if given.get("cause") or given.get("check") else "fail")
    if outcome != ALL and outcome not in OUTCOMES:
        raise HTTPException(400, f"“outcome” takes one of {', '.join([*OUTCOMES, ALL])}.")
    cause, check = given.get("cause") or None, given.get("check") or None
    if cause is not None and cause not in {each.value for each in Cause}:
        raise HTTPException(400, f"“cause” takes one of {', '.join(each.value for each in Cause)}.")
    if check is not None and len(check) > 64:
        raise HTTPException(400, "“check” takes the name of a check.")
    return Chosen(outcome, cause, check, _index(given.get("after")))


def _index(text: str | None) -> int:
    if text is None:
        return -1
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise HTTPException(400, "“after” takes the index of a case.")
    return int(text)


def _read(context: ServeContext, run: str, chosen: Chosen) -> Shown:
    store = context.store
    row, record = store.browsing.run(run), store.get_run(run)
    if row is None or record is None:
        raise HTTPException(404, MISSING)
    found = store.browsing.cases(
        run,
        outcome=None if chosen.outcome == ALL else chosen.outcome,
        cause=chosen.cause,
        check=chosen.check,
        after=chosen.after,
        limit=PAGE + 1,
    )
    counts: dict[str, int] = {each.value: 0 for each in Outcome}
    causes: dict[str, int] = {}
    for (outcome, cause), number in store.browsing.counts(run).items():
        counts[outcome] = counts.get(outcome, 0) + number
        if cause is not None:
            causes[cause] = causes.get(cause, 0) + number
    return Shown(
        row=row,
        record=record,
        place=store.log.place(run),
        counts=counts,
        causes=causes,
        cases=[(index, view(document, limit=TEXT)) for index, document in found[:PAGE]],
        more=len(found) > PAGE,
    )


def _of_head(head: Mapping[str, Json]) -> dict[str, Any]:
    """Give what the report says beside its figures; nothing of it is computed here."""
    return {
        "verdict_says": wording.VERDICTS[head["verdict"]],
        "next_steps": wording.next_steps(head),
        "chart": chart_rows(head["kinds"]),
        "causes": wording.ranked(head),
        "cause_meanings": wording.CAUSES,
        "sides": wording.sides(head),
        "gaming": gaming_lines(head),
        "noise": noise_lines(head),
        "power": power_lines(head),
        "bounds": Bounds(),
    }
