"""The reports that anybody may read who has their address: published, shown, taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.errors import UsageError
from denv.publish.folder import BADGE
from denv.records import Json
from denv.release import parse_duration
from denv.serve import actions
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import name_of
from denv.serve.pages.confirming import Field, Given, Question, action, may_act
from denv.serve.pages.rendering import render
from denv.store import Publication, RunRecord, can_be_kept

DAY_S = 86_400
MISSING = "There is no such public report."
STATES = {"served": "pass", "expired": "inconclusive", "taken back": "ungated"}
FIELDS = (
    Field(
        "expires", "Expires after", hint="As 90d or 12h; left empty, it does not expire.", most=20
    ),
    Field("stale_after", "Stale after", hint="In days, from 1d to 3650d.", value="30d", most=20),
    Field("indexed", "Search engines may list it", "checkbox"),
    Field("with_suite", "The suite lies beside it, so that others can ask it too", "checkbox"),
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A published report: its address, whether it is served, and the badge's address."""

    publication: str
    run: str
    head: Mapping[str, Json]
    state: str
    tone: str
    created: float
    expires: float | None
    indexed: bool
    path: str
    address: str
    stale: bool

    @property
    def badge(self) -> str:
        """Where the badge of it is."""
        return f"{self.path}{BADGE}"

    @property
    def markdown(self) -> str:
        """What is pasted into a README: the badge, which leads to the report."""
        return f"[![denv parity]({self.address}{BADGE})]({self.address})"


def routes(context: ServeContext) -> list[Route]:
    """Give the list, one report, and what may be done."""
    return [
        Route("/published", partial(_listed, context)),
        action("/published/new", partial(_ask_new, context), partial(_publish, context)),
        Route("/published/{publication}", partial(_page, context)),
        action(
            "/published/{publication}/revoke",
            partial(_ask_back, context),
            partial(_revoke, context),
        ),
    ]


async def _listed(context: ServeContext, request: Request) -> Response:
    found = await asyncio.to_thread(context.store.publications.all)
    rows = [_shown(context, request, each) for each in found]
    return render(request, "published.html.j2", rows=rows, may=may_act(request))


async def _page(context: ServeContext, request: Request) -> Response:
    found = await _record(context, request)
    shown = _shown(context, request, found)
    may = may_act(request) and shown.state == "served"
    return render(request, "publication.html.j2", shown=shown, may=may)


def _shown(context: ServeContext, request: Request, found: Publication) -> Shown:
    return shown_of(found, now=context.now().timestamp(), base=str(request.base_url))


def shown_of(found: Publication, *, now: float, base: str) -> Shown:
    """Show a published report as it is at a time, at a server of some address."""
    state = "served" if found.is_open(now) else "taken back" if found.revoked else "expired"
    path = f"/r/{found.publication}/"
    return Shown(
        publication=found.publication,
        run=found.run,
        head=found.head,
        state=state,
        tone=STATES[state],
        created=found.created,
        expires=found.expires,
        indexed=found.indexed,
        path=path,
        address=f"{base.rstrip('/')}{path}",
        stale=_day(now) > str(found.head["stale_after"]),
    )


def _day(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")


async def _record(context: ServeContext, request: Request) -> Publication:
    publication = name_of(request, "publication", missing=MISSING)
    found = await asyncio.to_thread(context.store.publications.get, publication)
    if found is None:
        raise HTTPException(404, MISSING)
    return found


# ---------------------------------------------------------------- publish


async def _ask_new(context: ServeContext, request: Request) -> Question:
    run = request.query_params.get("run", "")
    record = await asyncio.to_thread(_ended, context, run)
    head = record.head or {}
    return Question(
        title="Publish a report",
        says="Whoever has its address can read it, with all of the suite's public cases. Hosts, "
        "addresses and keys are cut out. It can be taken back.",
        button="Publish",
        back=f"/runs/{record.run}",
        about={"Run": record.run, "Verdict": head["verdict"], "Suite": head["suite"]["name"]},
        fields=FIELDS,
        entry="published",
    )


def _ended(context: ServeContext, run: str) -> RunRecord:
    if not run or not can_be_kept(run):
        raise HTTPException(404, "Choose a run and publish it from its page.")
    return actions.ended_run(context, run)


async def _publish(context: ServeContext, request: Request, given: Given) -> str:
    found = await actions.publish_run(
        context,
        request.query_params["run"],
        stale_days=_days(given.get("stale_after", "")),
        expires_s=_span("Expires after", given["expires"]) if given.get("expires") else None,
        indexed="indexed" in given,
        with_suite="with_suite" in given,
    )
    return f"/published/{found.publication}"


def _days(text: str) -> int:
    days = _span("Stale after", text or "30d") / DAY_S
    if days != int(days) or not 1 <= days <= 3650:
        raise actions.ActionError("“Stale after” takes whole days, from 1d to 3650d")
    return int(days)


def _span(label: str, text: str) -> float:
    try:
        return parse_duration(text.strip())
    except UsageError as error:
        raise actions.ActionError(f"“{label}”: {error}") from None


# ---------------------------------------------------------------- take back


async def _ask_back(context: ServeContext, request: Request) -> Question:
    found = await _record(context, request)
    return Question(
        title="Take this report back",
        says="Its address answers as one that never was. Others may have kept copies.",
        button="Take back",
        back=f"/published/{found.publication}",
        about={"Report": found.publication, "Run": found.run, "Verdict": found.head["verdict"]},
        grave=True,
        entry="published",
    )


async def _revoke(context: ServeContext, request: Request, given: Given) -> str:
    publication = request.path_params["publication"]
    await actions.revoke_publication(context, publication)
    return f"/published/{publication}"
