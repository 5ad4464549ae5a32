"""One suite: its cases by kind, what so many can show of a threshold, and its runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.power import TRUE_RATES, power_of
from denv.records import Json
from denv.release import parse_share
from denv.report.gaming import gaming_lines
from denv.report.power import power_lines
from denv.serve.context import ServeContext
from denv.serve.pages.rendering import render
from denv.store import RunRow, SuiteRow

RUNS = 50
RATES = [f"{float(rate):g}" for rate in TRUE_RATES]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a suite's cases of one kind can show of the threshold of its latest run."""

    name: str
    planned: int
    threshold: float | None = None
    counted: int = 0
    power: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """All that the page shows; ``latest`` is the run whose figures are shown, if one has ended."""

    suite: SuiteRow
    runs: Sequence[RunRow]
    latest: RunRow | None
    kinds: Sequence[Kind]
    power: Sequence[str]
    private: Sequence[str]


def routes(context: ServeContext) -> list[Route]:
    """Give the page."""
    return [Route("/suites/{sha256}", partial(_page, context))]


async def _page(context: ServeContext, request: Request) -> Response:
    shown = await asyncio.to_thread(_read, context, request.path_params["sha256"])
    return render(request, "suite.html.j2", shown=shown, most=RUNS, rates=RATES)


def _read(context: ServeContext, sha256: str) -> Shown:
    browsing = context.store.browsing
    suite = next((each for each in browsing.suites() if each.sha256 == sha256), None)
    if suite is None:
        raise HTTPException(404, "No run has asked such a suite.")
    runs = browsing.runs(suite=sha256, limit=RUNS)
    latest = None if suite.measured is None else browsing.run(suite.measured)
    record = None if latest is None else context.store.get_run(latest.run)
    head = None if record is None else record.head
    return Shown(
        suite=suite,
        runs=runs,
        latest=None if head is None else latest,
        kinds=list(kinds_of(suite, head)),
        power=[] if head is None else power_lines(head),
        private=[] if head is None else gaming_lines(head),
    )


def kinds_of(suite: SuiteRow, head: Mapping[str, Json] | None) -> Iterator[Kind]:
    """Give each kind; what it can show is of the threshold that the latest run was held to."""
    measured = {} if head is None else head["kinds"]
    for name, planned in suite.kinds.items():
        found = measured.get(name)
        counted = 0 if found is None else found["pass"] + found["fail"]
        if found is None or found["threshold"] is None or not counted:
            yield Kind(name, planned)
            continue
        confidence = (head or {})["settings"].get("confidence")
        power = power_of(
            counted,
            Fraction(str(found["threshold"])),
            confidence=None if confidence is None else parse_share(confidence.replace(" ", "")),
        )
        yield Kind(name, planned, found["threshold"], counted, power)
