"""The least that asks the same requests: aiohttp, bounded workers, the body read and parsed."""

from __future__ import annotations

import asyncio
import json
import sys
import time

import aiohttp


async def ask(url: str, suite: str, concurrency: int) -> float:
    """Ask each case twice, as a run asks two sides; give the seconds."""
    started = time.perf_counter()
    with open(suite, encoding="utf-8") as file:  # noqa: ASYNC230, PTH123 - read once, line by line
        cases = map(json.loads, file)
        connector = aiohttp.TCPConnector(limit=2 * concurrency)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def work() -> None:
                for case in cases:
                    body = {
                        "model": "stub",
                        "messages": case["messages"],
                        "temperature": 0,
                        "seed": 0,
                        "stream": False,
                        "max_tokens": 4096,
                    }
                    for _ in range(2):
                        async with session.post(f"{url}/chat/completions", json=body) as response:
                            json.loads(await response.read())

            await asyncio.gather(*(work() for _ in range(2 * concurrency)))
    return time.perf_counter() - started


if __name__ == "__main__":
    print(asyncio.run(ask(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
