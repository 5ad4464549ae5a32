"""Requests a second of a parity run against a bare aiohttp loop, and against inspect_ai.

    python -m benchmarks.overhead [--cases N] [--rounds N] [--concurrency N] [--inspect]

All talk to the same stub server (a process that answers each request with the same bytes), in
turn, round by round, each in a process of its own. A round counts the time from the first
request to the last answer *and* all that belongs to it: for ``run_parity`` reading the suite,
journaling, scoring and writing the report's figures. inspect_ai is timed at two sizes and the
difference is taken, so that its start-up is left out; so is ours in that comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

TEXT = "The answer is 391."


@contextmanager
def stub(*options: str):
    """Run the stub server; give its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.stubs.server", "--port", "0", "--text", TEXT, *options],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def write_suite(path: Path, cases: int) -> Path:
    """Write a suite of plain text cases."""
    with path.open("w", encoding="utf-8") as file:
        for n in range(cases):
            content = f"What is 17 * 23? Question {n}."
            messages = [{"role": "user", "content": content}]
            case = {"id": f"c{n}", "messages": messages, "expect": {"contains": "391"}}
            file.write(json.dumps(case) + "\n")
    return path


def seconds(module: str, *arguments: object, home: Path) -> float:
    """Run one contestant in a process of its own; it prints the seconds that it took."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        env={**os.environ, "DENV_HOME": str(home), "OPENAI_API_KEY": "none"},
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout.split()[-1])


def against_bare(url: str, folder: Path, *, cases: int, rounds: int, concurrency: int) -> None:
    """Print requests a second of both, and the ratio of each round."""
    suite = write_suite(folder / "suite.jsonl", cases)
    home = folder / "home"
    # The self-check runs once for each state of the package's files, and is then recorded.
    first = write_suite(folder / "first.jsonl", 10)
    seconds("benchmarks.contestants.ours", url, first, concurrency, home=home)
    ratios = []
    for number in range(rounds):
        bare_s = seconds("benchmarks.contestants.bare", url, suite, concurrency, home=folder)
        ours_s = seconds("benchmarks.contestants.ours", url, suite, concurrency, home=home)
        ratios.append(bare_s / ours_s)
        print(
            f"round {number + 1}: bare aiohttp {2 * cases / bare_s:,.0f} requests/s, "
            f"parity run {2 * cases / ours_s:,.0f} requests/s, ratio {ratios[-1]:.2f}"
        )
    print(f"parity run / bare aiohttp: median {statistics.median(ratios):.2f}")


def against_inspect(url: str, folder: Path, *, rounds: int, concurrency: int) -> None:
    """Print microseconds a request of both without start-up, and the ratio."""
    small, large = 200, 2200
    suites = {n: write_suite(folder / f"suite{n}.jsonl", n) for n in (small, large)}
    ratios = []
    for number in range(rounds):
        each = {}
        for name, sides in (("inspect", 1), ("ours", 2)):
            took = [
                seconds(
                    f"benchmarks.contestants.{name}",
                    url,
                    suites[n],
                    concurrency,
                    home=folder / f"{name}-{number}-{n}",
                )
                for n in (small, large)
            ]
            each[name] = (took[1] - took[0]) / (sides * (large - small))
        ratios.append(each["inspect"] / each["ours"])
        print(
            f"round {number + 1}: inspect_ai {each['inspect'] * 1e6:,.0f} µs a request, "
            f"parity run {each['ours'] * 1e6:,.0f} µs, ratio {ratios[-1]:.1f}"
        )
    print(f"inspect_ai / parity run, time a request: median {statistics.median(ratios):.1f}")


STUBS = {
    "a server that answers after 20 ms": ("--delay-ms", "20"),
    "an aiohttp server that answers at once": ("--aiohttp",),
    "fixed bytes at once, the hardest there is": (),
}


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--cases", type=int, default=10000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--concurrency", type=int, default=32)
    options.add_argument("--inspect", action="store_true", help="also measure inspect_ai")
    chosen = options.parse_args()
    for about, flags in STUBS.items():
        print(f"stub: {about}")
        with tempfile.TemporaryDirectory() as name, stub(*flags) as url:
            against_bare(
                url,
                Path(name),
                cases=chosen.cases,
                rounds=chosen.rounds,
                concurrency=chosen.concurrency,
            )
    if chosen.inspect:
        print("inspect_ai, fixed bytes at once")
        with tempfile.TemporaryDirectory() as name, stub() as url:
            against_inspect(url, Path(name), rounds=chosen.rounds, concurrency=chosen.concurrency)


if __name__ == "__main__":
    main()
