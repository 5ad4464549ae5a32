"""What the router adds to an answer's time, and what it loses when replicas die: nothing.

    python -m benchmarks.router_load latency [--rate 200] [--seconds 60]
    python -m benchmarks.router_load endurance [--requests 200000]
    python -m benchmarks.router_load streams [--streams 2000]

``latency`` asks the stub and the router in an open loop: requests start at their own times,
whether or not earlier ones are answered, so that a stall counts for all that it delays. In
``endurance`` stub replicas are killed and started again, and weights are moved, all the time;
each answer must echo its own request. ``streams`` holds streams open and reads the router's
resident memory. The stubs answer with what they were asked; none of them is a model.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import numpy as np

from benchmarks.router import KEY, free_port, router, running
from denv.rollout.weights import Table

HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
MIB = 1 << 20
QUICK = "health: {every: 0.2s, passes: 1}\nretries: {attempts: 3}\n"
"""Replicas die every 3 s: one that is back must be seen to be, else all are out at times."""


def _body(token: str, *, stream: bool = False) -> bytes:
    messages = [{"role": "user", "content": token}]
    return json.dumps({"model": "m", "messages": messages, "stream": stream}).encode()


def _echo(port: int, **options: object) -> list[str]:
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "benchmarks.contestants.echo", f"--port={port}", *given]


@contextmanager
def _routed(*, replicas: int, **options: object) -> Iterator[tuple[int, list[int], Path, int]]:
    """Run echo stubs and a router; give its port, theirs, its folder and its process id."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports = [free_port() for _ in range(replicas)]
        for port in ports:
            stack.enter_context(running(_echo(port, **options), port))
        own = free_port()
        process = stack.enter_context(running(router(folder / "router", own, *ports), own))
        yield own, ports, folder / "router", process.pid


# ---------------------------------------------------------------- latency


async def _open_loop(port: int, *, rate: float, seconds: float) -> np.ndarray:
    """Give the milliseconds from each request's due time to the end of its answer."""
    loop, taken = asyncio.get_running_loop(), []
    due = np.cumsum(np.random.default_rng(0).exponential(1 / rate, int(rate * seconds)))
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:

        async def ask(at: float, token: str) -> None:
            async with session.post(url, data=_body(token)) as answer:
                content = await answer.read()
            assert token.encode() in content, (answer.status, content[:200])
            taken.append((loop.time() - at) * 1e3)

        for n in range(20):  # connections are made before they are timed
            await ask(loop.time(), f"warm-{n}")
        taken.clear()
        start = loop.time() + 0.1
        async with asyncio.TaskGroup() as tasks:
            for n, offset in enumerate(due):
                await asyncio.sleep(max(0.0, start + offset - loop.time()))
                tasks.create_task(ask(start + offset, f"token-{n}"))
    return np.array(taken)


def latency(*, rate: float, seconds: float, rounds: int) -> None:
    """Print medians and p99 of both, and what is added, round by round."""
    with _routed(replicas=1, delay_ms=20) as (own, ports, _, _):
        added = []
        for number in range(rounds):
            direct = asyncio.run(_open_loop(ports[0], rate=rate, seconds=seconds))
            routed = asyncio.run(_open_loop(own, rate=rate, seconds=seconds))
            both = [np.percentile(values, (50, 99)) for values in (direct, routed)]
            added.append(both[1] - both[0])
            print(
                f"round {number + 1}: direct median {both[0][0]:.2f} ms, p99 {both[0][1]:.2f} ms; "
                f"router {both[1][0]:.2f} ms, {both[1][1]:.2f} ms; "
                f"added {added[-1][0]:.2f} ms, {added[-1][1]:.2f} ms",
                flush=True,
            )
        median = np.median(added, axis=0)
        print(f"added at {rate:g} requests/s: median {median[0]:.2f} ms, p99 {median[1]:.2f} ms")


# ---------------------------------------------------------------- endurance


def endurance(*, requests: int, concurrency: int) -> None:
    """Ask while replicas are killed and weights moved; print what became of the requests."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports = [free_port() for _ in range(3)]
        replicas = [_start(port) for port in ports]
        stack.callback(_kill, replicas)
        time.sleep(2)
        own = free_port()
        command = router(folder / "router", own, *ports, settings=QUICK)
        stack.enter_context(running(command, own))
        counts = asyncio.run(
            _endured(own, folder / "router" / "weights.json", ports, replicas,
                     requests=requests, concurrency=concurrency)
        )  # fmt: skip
    print(", ".join(f"{what}: {number:,}" for what, number in sorted(counts.items())))


def _kill(replicas: list[subprocess.Popen[bytes]]) -> None:
    for replica in replicas:
        replica.kill()


def _start(port: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(_echo(port, delay_ms=1))


async def _endured(
    port: int,
    table: Path,
    ports: list[int],
    replicas: list[subprocess.Popen[bytes]],
    *,
    requests: int,
    concurrency: int,
) -> Counter[str]:
    counts: Counter[str] = Counter()
    numbers = iter(range(requests))
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:

        async def work() -> None:
            for n in numbers:
                counts[await _asked(session, url, f"token-{n}-", stream=n % 4 == 0)] += 1

        disturbing = asyncio.create_task(_disturb(table, ports, replicas, counts))
        await asyncio.gather(*(work() for _ in range(concurrency)))
        disturbing.cancel()
        await asyncio.gather(disturbing, return_exceptions=True)
    return counts


async def _asked(session: aiohttp.ClientSession, url: str, token: str, *, stream: bool) -> str:
    try:
        async with session.post(url, data=_body(token, stream=stream)) as answer:
            content = (await answer.read()).decode()
    except aiohttp.ClientPayloadError:
        return "cut after the first byte"
    except (aiohttp.ClientError, OSError) as error:
        return f"LOST ({type(error).__name__})"
    if answer.status != 200:
        return f"status {answer.status}"
    if token not in content or content.count("token-") != content.count(token):
        return "MIXED"
    return "answered"


async def _disturb(
    table: Path, ports: list[int], replicas: list[subprocess.Popen[bytes]], counts: Counter[str]
) -> None:
    rng = random.Random(0)
    for number in itertools.count(2):
        await asyncio.sleep(1.0)
        _move(table, [rng.random() for _ in ports], version=number)
        counts["weights moved"] += 1
        if number % 3 == 0:
            victim = rng.randrange(len(replicas))
            replicas[victim].send_signal(signal.SIGKILL)
            replicas[victim].wait()
            counts["replicas killed"] += 1
            await asyncio.sleep(0.5)
            replicas[victim] = _start(ports[victim])


def _move(table: Path, shares: list[float], *, version: int) -> None:
    """Put a table with other weights in the place of the old one, in one step."""
    old = Table.from_json(table.read_bytes())
    weights = tuple(
        replace(row, weight=share / sum(shares))
        for row, share in zip(old.weights, shares, strict=True)
    )
    new = table.with_suffix(".new")
    new.write_bytes(replace(old, version=version, weights=weights).to_json())
    new.replace(table)


# ---------------------------------------------------------------- streams


def streams(*, number: int) -> None:
    """Hold streams open; print the router's resident memory."""
    with _routed(replicas=1, drip_s=1) as (own, _, _, pid):
        print(asyncio.run(_held(own, pid, number=number)))


async def _held(port: int, pid: int, *, number: int) -> str:
    before = _resident(pid)
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:
        opened = []
        for n in range(number):
            answer = await session.post(url, data=_body(f"token-{n}", stream=True))
            assert answer.status == 200, answer.status
            opened.append(answer)
        alive = await asyncio.gather(*(answer.content.readany() for answer in opened))
        await asyncio.sleep(5)
        after = _resident(pid)
        for answer in opened:
            answer.close()
    return (
        f"{sum(map(bool, alive)):,} streams open: {after / MIB:.0f} MiB resident "
        f"({before / MIB:.0f} MiB before)"
    )


def _resident(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise SystemExit(f"process {pid} has no memory to be read")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=main.__doc__)
    parts = options.add_subparsers(dest="part", required=True)
    one = parts.add_parser("latency")
    one.add_argument("--rate", type=float, default=200)
    one.add_argument("--seconds", type=float, default=20)
    one.add_argument("--rounds", type=int, default=3)
    two = parts.add_parser("endurance")
    two.add_argument("--requests", type=int, default=200_000)
    two.add_argument("--concurrency", type=int, default=32)
    three = parts.add_parser("streams")
    three.add_argument("--streams", type=int, default=2000, dest="number")
    chosen = options.parse_args()
    match chosen.part:
        case "latency":
            latency(rate=chosen.rate, seconds=chosen.seconds, rounds=chosen.rounds)
        case "endurance":
            endurance(requests=chosen.requests, concurrency=chosen.concurrency)
        case "streams":
            streams(number=chosen.number)


if __name__ == "__main__":
    main()
