"""A run's report over the API, by the writers that write its files."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import IO, Any, BinaryIO, TextIO, cast

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.responses import StreamingResponse

from denv.errors import StoreError
from denv.report import Report, write_html, write_json, write_junit, write_markdown
from denv.runner.ledger import stored_report
from denv.serve.actions import ended_run
from denv.serve.api.answers import CONFLICT
from denv.serve.api.parameters import Context, Name
from denv.serve.context import ServeContext

PIECE = 64 * 1024
MOST_IN_MEMORY = 4 * 1024 * 1024

HTML_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox"
)
"""The page brings its own style along; its script, which only folds, does not run here."""

router = APIRouter(tags=["runs"], responses=CONFLICT)


def _answers(media: str, schema: Mapping[str, str]) -> dict[int | str, dict[str, Any]]:
    """Describe a report of a media type."""
    return {200: {"description": "The report.", "content": {media: {"schema": dict(schema)}}}}


_TEXT = {"type": "string"}


@router.get(
    "/runs/{run}/report.json",
    response_class=StreamingResponse,
    responses=_answers("application/json", {"$ref": "#/components/schemas/report"}),
)
async def report_as_json(context: Context, run: Name) -> StreamingResponse:
    """Give the whole report, one case a line."""
    return await _written(context, run, write_json, "application/json")


@router.get(
    "/runs/{run}/report.html",
    response_class=StreamingResponse,
    responses=_answers("text/html", _TEXT),
)
async def report_as_html(context: Context, run: Name) -> StreamingResponse:
    """Give the report as one web page."""
    return await _written(context, run, write_html, "text/html")


@router.get(
    "/runs/{run}/report.xml",
    response_class=StreamingResponse,
    responses=_answers("application/xml", _TEXT),
)
async def report_as_junit(context: Context, run: Name) -> StreamingResponse:
    """Give the report as JUnit XML."""
    return await _written(context, run, write_junit, "application/xml")


@router.get(
    "/runs/{run}/report.md",
    response_class=StreamingResponse,
    responses=_answers("text/markdown", _TEXT),
)
async def report_as_markdown(context: Context, run: Name) -> StreamingResponse:
    """Give the report as a CI step summary."""
    return await _written(context, run, write_markdown, "text/markdown")


async def _written(
    context: ServeContext, run: str, write: Callable[[Report, TextIO], None], media: str
) -> StreamingResponse:
    """Write the report to a file that nobody else sees, then send that.

    So what goes wrong is told by the status, and no reader is given half a report; of a large one
    only a piece is in memory.
    """
    file, size = await context.large.make(partial(_file, context, run, write))
    headers = {"Content-Length": str(size)}
    if media == "text/html":
        headers["Content-Security-Policy"] = HTML_POLICY
    return StreamingResponse(
        _pieces(file), media_type=media, headers=headers, background=BackgroundTask(file.close)
    )


def _file(
    context: ServeContext, run: str, write: Callable[[Report, TextIO], None]
) -> tuple[IO[bytes], int]:
    """Write the report; give its file, at its begin, and how long it is."""
    record = ended_run(context, run)
    report = stored_report(context.store, record.run, record.head or {})
    file = tempfile.SpooledTemporaryFile(max_size=MOST_IN_MEMORY)  # noqa: SIM115 - sent, then closed
    try:
        stream = io.TextIOWrapper(cast("BinaryIO", file), encoding="utf-8", newline="\n")
        write(report, stream)
        stream.detach()
        size = file.tell()
        file.seek(0)
    except OSError as error:
        file.close()
        raise StoreError(f"there is no room to write the report: {error.strerror}") from None
    except BaseException:
        file.close()
        raise
    return file, size


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece
