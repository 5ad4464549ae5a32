"""Time the page of a large run: keep one in a folder of its own, serve it, and ask for its pages.

Usage: python scripts/large_run.py [CASES]

One case in a hundred fails. Prints the seconds of each page, the slowest of five.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from denv.report import Report
from denv.serve.context import ServeContext
from denv.store import RunRecord, open_store
from tests.report import samples
from tests.serve.pages.keeping import REFERENCE, STAGE, results
from tests.serve.pages.showing import app_of, served
from tests.serve.pages.site import Someone

RUN, AT_ONCE, ASKED = "large", 5_000, 5


def cases(number: int) -> Iterator[dict[str, Any]]:
    """Give cases whose answers are of some length; each hundredth fails."""
    words = "The harbour opens at six and closes at nine; ferries leave on the hour. " * 8
    for index in range(number):
        failed = index % 100 == 99
        said = samples.side(words + ("wrong" if failed else "right"))
        both = {"stage": said, "reference": samples.side(words + "right")}
        yield samples.case(index, "fail" if failed else "pass", **both)


def keep(store: Any, number: int) -> None:
    """Write the run."""
    suite = {"name": "large.jsonl", "sha256": "cd" * 32, "cases": number}
    identity = {"suite": suite, "stage": STAGE, "reference": REFERENCE, "release": None}
    settings = {"identity": identity, "options": {}}
    store.create_run(RunRecord(RUN, 1.0, "running", settings, {}))
    rest = cases(number)
    while part := list(islice(rest, AT_ONCE)):
        store.append(RUN, [], results(part))
    kinds = {"exact": samples.kind(number, number - number // 100, number // 100)}
    head = samples.head(run=RUN, suite=suite, kinds=kinds, causes={"unknown": number // 100})
    store.update_run(RUN, state="finished", head=Report(head, list).head, finished=2.0)


def main() -> None:
    """Keep the run and time its pages."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        store = open_store(Path(name))
        keep(store, number)
        context = ServeContext(store, Path(name))
        last = number - 1
        paths = [
            "/",
            "/runs",
            f"/runs/{RUN}",
            f"/runs/{RUN}?outcome=all",
            f"/runs/{RUN}?outcome=pass&after={number // 2}",
            f"/runs/{RUN}?cause=unknown&check=equals",
            f"/runs/{RUN}?outcome=all&check=none-of-this-name",
            f"/runs/{RUN}/cases/{last}",
            f"/compare?a={RUN}&b={RUN}",
        ]
        with served(app_of(context, Someone())) as address:
            for path in paths:
                sys.stdout.write(f"{max(_asked(address + path)):6.2f} s  {path}\n")
        store.close()


def _asked(address: str) -> Iterator[float]:
    for _ in range(ASKED):
        began = time.perf_counter()
        with urlopen(address) as answer:  # noqa: S310 - an address of this script's own server
            answer.read()
        yield time.perf_counter() - began


if __name__ == "__main__":
    main()
