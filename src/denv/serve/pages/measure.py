"""One measurement with its figures, intervals, floors, margins, pictures, and what it spent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.client.masking import mask
from denv.records import Json, Side
from denv.report.measure_page import Part, settings_of
from denv.report.speed import COMPARABLE, NO_VERDICT
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import name_of
from denv.serve.pages.instruments import (
    ENDS,
    INSTRUMENTS,
    SPEED,
    STATES,
    parts_of,
    speed_of,
    title_of,
)
from denv.serve.pages.rendering import render
from denv.store import MeasureRecord

MISSING = "There is no such measurement."


@dataclass(frozen=True, slots=True)
class Shown:
    """A measurement that has ended: its verdict, its parts, and what was asked for."""

    head: Part
    parts: Sequence[Part]
    settings: Sequence[tuple[str, Mapping[str, Json]]]
    sides: Sequence[tuple[str, Sequence[Mapping[str, Json]]]]


def routes(context: ServeContext) -> list[Route]:
    """Give the page."""
    return [Route("/measurements/{measure}", partial(_page, context))]


async def _page(context: ServeContext, request: Request) -> Response:
    measure = name_of(request, "measure", missing=MISSING)
    record = await asyncio.to_thread(context.store.get_measure, measure)
    if record is None:
        raise HTTPException(404, MISSING)
    if record.instrument == SPEED and record.document is not None:
        return await _speed(request, record, record.document)
    shown = await asyncio.to_thread(shown_of, record)
    return render(
        request,
        "measure.html.j2",
        record=record,
        title=title_of(record.instrument),
        known=INSTRUMENTS.get(record.instrument),
        state=STATES.get(record.state, ""),
        shown=shown,
        tones=ENDS,
    )


async def _speed(request: Request, record: MeasureRecord, document: Mapping[str, Json]) -> Response:
    """Show a speed run, which has neither verdict nor sides that are held against each other."""
    return render(
        request,
        "speed.html.j2",
        record=record,
        title=title_of(SPEED),
        says=NO_VERDICT,
        comparable=COMPARABLE,
        sections=await asyncio.to_thread(speed_of, document),
        servers=[
            _server(server, document["spent"][name], name=name)
            for name, server in document["servers"].items()
        ],
        settings=document["settings"],
    )


def shown_of(record: MeasureRecord) -> Shown | None:
    """Show a measurement's document; None where it has none that this version knows."""
    if record.document is None or record.instrument not in INSTRUMENTS:
        return None
    head, parts = parts_of(record.instrument, record.document)
    sides = [_side(record.document, side.value) for side in Side]
    return Shown(head, parts, list(settings_of(record.document)), sides)


def _side(document: Mapping[str, Json], name: str) -> tuple[str, Sequence[Mapping[str, Json]]]:
    return _server(document[name], document["spent"][name], name=name)


def _server(
    server: Mapping[str, Json], spent: Mapping[str, Json], *, name: str
) -> tuple[str, Sequence[Mapping[str, Json]]]:
    """Give a side without what its address may hold of keys, and what was spent on it."""
    return name, [{**server, "url": mask(str(server["url"]))}, spent]
