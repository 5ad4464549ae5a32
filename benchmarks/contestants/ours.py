"""A whole parity run, without its imports: both sides are the same stub."""

from __future__ import annotations

import sys
import time

from denv import Endpoint, load_suite, run_parity
from denv.cli import loop


async def run(url: str, path: str, concurrency: int) -> float:
    """Run the suite; give the seconds."""
    started = time.perf_counter()
    suite = load_suite(path)
    side = Endpoint(url=url, model="stub", concurrency=concurrency)
    report = await run_parity(suite, stage=side, reference=side)
    assert report.head["verdict"] == "pass", report.head["reasons"]
    return time.perf_counter() - started


if __name__ == "__main__":
    print(loop.run(run(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
