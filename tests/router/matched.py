"""Matched requests of two callers through a real router in a process of its own."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from denv import permits
from denv.rollout.weights import Table, Weight
from tests.router.recording import Recording

ROOT = Path(__file__).parents[2]
SECRET = "s" * 40
KEYS = {"customer": "sk-customer-0123456789", "parity": "sk-parity-0123456789"}
GAP_S = 0.006


@dataclass(frozen=True, slots=True)
class Routed:
    """A router that runs, and the folder of its files."""

    url: str
    folder: Path


@asynccontextmanager
async def routed(
    stage: Recording, folder: Path, *, plant: str | None = None, settings: str = ""
) -> AsyncIterator[Routed]:
    """Run a router before a stage for the length of the block."""
    row = Weight("r1", "a", stage.bases[0], 1.0)
    table = Table("http://stage.example.com/v1", version=1, weights=(row,))
    (folder / "weights.json").write_bytes(table.to_json())
    for name, text in {**KEYS, "permits": SECRET}.items():
        path = folder / f"{name}.key"
        path.touch(mode=0o600)
        path.write_text(text)
    config = folder / "router.yaml"
    config.write_text(
        "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\ntable: weights.json\n"
        "permit-secret: {key-file: permits.key}\n"
        "clients:\n"
        "  - {name: customer, key-file: customer.key}\n"
        "  - {name: parity, key-file: parity.key}\n" + settings
    )
    module = ["denv"] if plant is None else ["tests.router.planted", plant, stage.bases[-1]]
    if plant is None:
        module.append("router")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *module, "--config", str(config),
        stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, cwd=ROOT,
    )  # fmt: skip
    assert process.stderr is not None
    reading = None
    try:
        said = b""
        while (found := re.search(rb"routing (\S+)", said)) is None:
            line = await asyncio.wait_for(process.stderr.readline(), 60)
            assert line, said.decode()
            said += line
        reading = asyncio.create_task(process.stderr.read())
        yield Routed(found[1].decode(), folder)
    finally:
        process.terminate()
        await process.wait()
        if reading is not None:
            await reading


def headers_of(caller: str, *, number: int) -> dict[str, str]:
    """Give what a caller's requests bear; parity has a permit besides."""
    given = {"Authorization": f"Bearer {KEYS[caller]}", "Content-Type": "application/json"}
    if caller == "parity":
        nonce = f"nonce-{number:08d}"
        secret = SECRET.encode()
        given[permits.HEADER] = permits.grant(secret, replica="a", now=time.time(), nonce=nonce)
        return {**given, "User-Agent": "denv"}
    return {**given, "User-Agent": "OpenAI/Python", "traceparent": f"00-{number:032x}-{1:016x}-01"}


def body_of(rng: random.Random) -> bytes:
    """Write a request of some size, streamed or not."""
    text = "x" * rng.choice([20, 200, 2_000, 12_000]) + str(rng.random())
    messages = [{"role": "user", "content": text}]
    fields = {"model": "m", "messages": messages, "stream": rng.random() < 0.3}
    return json.dumps(fields, separators=(",", ":")).encode()


async def ask_in_pairs(routed: Routed, stage: Recording, *, pairs: int, seed: int) -> list[bool]:
    """Ask each body once as each caller, both at one moment in random order.

    Gives of each request that the stage saw whether it was parity's, in the stage's order. The
    stage cannot read that off: the two bodies of a pair differ in a tag that is known here alone.
    """
    rng = random.Random(seed)
    whose: dict[bytes, bool] = {}
    url = f"{routed.url}/chat/completions"
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as tasks:

        async def ask(caller: str, body: bytes, number: int) -> None:
            headers = headers_of(caller, number=number)
            async with session.post(url, data=body, headers=headers) as answer:
                content = await answer.read()
            assert answer.status == 200, content

        for number in range(pairs):
            body = body_of(rng)
            order = rng.sample(sorted(KEYS), 2)
            for caller in order:
                tagged = body[:-1] + b',"user_tag":"%016x"}' % rng.getrandbits(64)
                whose[tagged] = caller == "parity"
                tasks.create_task(ask(caller, tagged, number))
            await asyncio.sleep(rng.expovariate(1 / GAP_S))
    return [whose[seen.body] for seen in stage.seen]
