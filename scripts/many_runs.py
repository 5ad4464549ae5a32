"""Time what is read of many runs: keep them in a folder of its own, and ask for each answer.

Usage: python -m scripts.many_runs [RUNS]

The runs are spread over twenty stages and thirty days, and have reports of the usual length.
Prints the seconds of the first answer of a fresh server, and the slowest of those after it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from denv.serve import metrics
from denv.serve.api import api_app
from denv.serve.context import ServeContext
from denv.serve.metrics import metrics_routes
from denv.store import RunRecord, SqlStore, open_store
from tests.report import samples
from tests.serve.pages.keeping import REFERENCE
from tests.serve.pages.showing import app_of
from tests.serve.pages.site import Someone

STAGES, DAYS, ASKED = 20, 30, 5
BEGAN = 1_796_083_200.0
NOW = datetime.fromtimestamp(BEGAN + 86_400, UTC)


def keep(store: SqlStore, number: int) -> None:
    """Write the runs, one after another, as they would have ended."""
    reports = [samples.passing().head, samples.failing().head]
    suite = {"name": "core.jsonl", "sha256": "cd" * 32, "cases": 120}
    rows = []
    for place in range(number):
        stage = {"url": f"http://10.0.0.{place % STAGES}:8000/v1", "model": "m"}
        identity = {"suite": suite, "stage": stage, "reference": REFERENCE, "release": None}
        head = {**reports[place % 7 == 0], "run": f"run-{place:06}", "suite": suite}
        at = BEGAN - DAYS * 86_400 * (1 - place / number)
        rows.append(
            RunRecord(
                head["run"], at, "finished", {"identity": identity, "options": {}}, {},
                head=json.loads(json.dumps(head)), finished=at + 0.5,
            )
        )  # fmt: skip
    for row in rows:
        store.create_run(row)


def main() -> None:
    """Keep the runs and time the answers."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    metrics.KEPT_S = -1.0  # each scrape reads the data
    with tempfile.TemporaryDirectory() as name:
        store = open_store(Path(name))
        keep(store, number)
        context = ServeContext(store, Path(name), now=lambda: NOW)
        served: dict[str, Callable[[], Any]] = {
            "/metrics": lambda: Starlette(routes=metrics_routes(context)),
            "/": lambda: app_of(context, Someone()),
            "/stages": lambda: api_app(context),
        }
        for path, app in served.items():
            first, *others = _asked(app(), path)
            sys.stdout.write(f"{path:9} first {first:6.3f} s, then {max(others):6.3f} s\n")
        store.close()


def _asked(app: Any, path: str) -> Iterator[float]:
    with TestClient(app) as client:
        for _ in range(ASKED):
            began = time.perf_counter()
            answer = client.get(path)
            yield time.perf_counter() - began
            assert answer.status_code == 200, answer.text  # noqa: S101


if __name__ == "__main__":
    main()
