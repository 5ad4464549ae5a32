"""The runs, the newest first, by stage, suite, verdict and state; two of them to be compared."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.records import Verdict
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import before_of, cursor_of
from denv.serve.pages.naming import stage_words
from denv.serve.pages.rendering import render
from denv.store import RunRow, StageRow, SuiteRow, can_be_kept

PAGE = 50
VERDICTS = tuple(each.value for each in Verdict)
STATES: Mapping[str, str] = {
    "running": "under way, or its process was killed",
    "stopped": "stopped before its end",
    "finished": "finished",
}
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Filters:
    """What the list is narrowed to; None is anything."""

    stage: str | None = None
    suite: str | None = None
    verdict: str | None = None
    state: str | None = None

    def query(self, **more: str) -> str:
        """Write them as the query of an address."""
        names = ("stage", "suite", "verdict", "state")
        given = {name: value for name in names if (value := getattr(self, name))}
        return urlencode({**given, **more})


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in the list; ``done`` is how many cases have a result, of a run that has no end."""

    row: RunRow
    done: int | None = None

    @property
    def can_be_compared(self) -> bool:
        """Whether it has ended."""
        return self.row.verdict is not None and self.row.state != "running"


@dataclass(frozen=True, slots=True)
class Shown:
    """All that is read for the page."""

    rows: Sequence[Listed]
    more: bool
    stages: Sequence[StageRow]
    suites: Sequence[SuiteRow]


def routes(context: ServeContext) -> list[Route]:
    """Give the list."""
    return [Route("/runs", partial(_listed, context))]


async def _listed(context: ServeContext, request: Request) -> Response:
    filters, before = filters_of(request), before_of(request)
    shown = await asyncio.to_thread(_read, context, filters, before)
    last = shown.rows[-1].row if shown.more else None
    newest, query = "/runs", filters.query()
    if query:
        newest = f"/runs?{query}"
    return render(
        request,
        "runs.html.j2",
        filters=filters,
        shown=shown,
        stages=[(each.stage, stage_words(each.url, each.model)) for each in shown.stages],
        suites=[(each.sha256, f"{each.name} ({each.sha256[:8]})") for each in shown.suites],
        verdicts=VERDICTS,
        states=STATES,
        newest=newest if before else None,
        older=last and f"/runs?{filters.query(before=cursor_of(last.started, last.run))}",
        now=context.now().timestamp(),
    )


def filters_of(request: Request) -> Filters:
    """Read the filters of the address.

    Raises
    ------
    HTTPException
        One of them is nothing that a run can have.
    """
    given = {name: request.query_params.get(name) or None for name in Filters.__slots__}
    for name, known in (("verdict", VERDICTS), ("state", STATES)):
        if given[name] is not None and given[name] not in known:
            raise HTTPException(400, f"“{name}” in the address takes one of {', '.join(known)}.")
    for name in ("stage", "suite"):
        value = given[name]
        if value is not None and (len(value) > _LONGEST or not can_be_kept(value)):
            raise HTTPException(400, f"“{name}” in the address takes a digest.")
    return Filters(**given)


def _read(context: ServeContext, filters: Filters, before: tuple[float, str] | None) -> Shown:
    browsing = context.store.browsing
    rows = browsing.runs(
        stage=filters.stage,
        suite=filters.suite,
        verdict=filters.verdict,
        state=filters.state,
        before=before,
        limit=PAGE + 1,
    )
    listed = [Listed(row, done_of(context, row)) for row in rows[:PAGE]]
    return Shown(listed, len(rows) > PAGE, browsing.stages(), browsing.suites())


def done_of(context: ServeContext, row: RunRow) -> int | None:
    """Count the cases that have a result, of a run that is not finished."""
    if row.state == "finished":
        return None
    return sum(context.store.browsing.counts(row.run).values())
