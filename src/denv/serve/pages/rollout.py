"""One rollout, live: where it stands, what it waits for, its decisions, and what may be said."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.rollout.documents import document_of
from denv.serve import actions
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import name_of
from denv.serve.pages.confirming import Field, Given, Question, action, by, may_act
from denv.serve.pages.rendering import render
from denv.serve.pages.standing import WORDS, Document, Said, Standing, standing_of
from denv.store import Latch, Override, RolloutRecord

LIVE_EVERY_S = 3
MISSING = "There is no such rollout."
REASON = Field("reason", "Why", hint="It is shown in the log.", required=True)
TITLES = {"promote": "Promote now", "rollback": "Roll back", "cancel": "Cancel"}
DONE = {
    "promote": "The rollout was told to promote; its log says what follows.",
    "rollback": "The rollout was told to roll back; its log says what follows.",
    "cancel": "The rollout was told to cancel; its log says what follows.",
    "override": "The next rollout of this release may try once more.",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """All that is read for the page."""

    document: Document
    standing: Standing
    latch: Latch | None
    overrides: Sequence[Override]


def routes(context: ServeContext) -> list[Route]:
    """Give the page, and each word that can be said."""
    said = [
        action(
            f"/rollouts/{{rollout}}/{word}",
            partial(_ask, context, word),
            partial(_do, context, word),
        )
        for word in WORDS
    ]
    return [Route("/rollouts/{rollout}", partial(_page, context)), *said]


async def _page(context: ServeContext, request: Request) -> Response:
    now = context.now()
    rollout = name_of(request, "rollout", missing=MISSING)
    shown = await asyncio.to_thread(_read, context, rollout)
    return render(
        request,
        "rollout.html.j2",
        **{name: getattr(shown, name) for name in Shown.__slots__},
        now=now.timestamp(),
        every_s=LIVE_EVERY_S,
        may=shown.standing.may if may_act(request) else (),
        titles={**TITLES, "override": "Override"},
        engine=context.engine is not None,
        done=DONE.get(request.query_params.get("done", "")),
    )


def _read(context: ServeContext, rollout: str) -> Shown:
    store = context.store
    record = store.rollouts.get_rollout(rollout)
    if record is None:
        raise HTTPException(404, MISSING)
    latch, overrides = store.rollouts.latched(record.proof), store.rollouts.overrides(record.proof)
    document = document_of(store, rollout, now=context.now().timestamp())
    waits = latch is not None and all(given.used_by is not None for given in overrides)
    standing = standing_of(document, plan=record.plan, latched=waits)
    return Shown(document, standing, latch, overrides)


async def _ask(context: ServeContext, word: Said, request: Request) -> Question:
    record = await _record(context, request)
    grave = word in {"rollback", "cancel"}
    title = TITLES.get(word, "Override what failed")
    return Question(
        title=title,
        says=WORDS[word],
        button=title,
        back=f"/rollouts/{record.rollout}",
        about={
            "Rollout": record.rollout,
            "Release": record.release,
            "Stage": record.stage,
            "Phase": record.phase,
        },
        fields=(REASON,) if word in {"rollback", "override"} else (),
        grave=grave,
        entry="rollouts",
    )


async def _record(context: ServeContext, request: Request) -> RolloutRecord:
    rollout = name_of(request, "rollout", missing=MISSING)
    record = await asyncio.to_thread(context.store.rollouts.get_rollout, rollout)
    if record is None:
        raise HTTPException(404, MISSING)
    return record


async def _do(context: ServeContext, word: Said, request: Request, given: Given) -> str:
    rollout, reason = request.path_params["rollout"], given.get("reason", "")
    if word == "override":
        await actions.override(context, rollout, by=by(request), reason=reason)
    else:
        await actions.say_word(context, rollout, word, by=by(request), reason=reason)
    return f"/rollouts/{rollout}?done={word}"
