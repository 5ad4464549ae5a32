"""Many clients that leave, and clients that hardly read: nothing is left of them."""

from __future__ import annotations

import asyncio
import json
import random
import resource
from typing import Any

from denv.adapter.engines.completions import VllmCompletions
from tests.adapter.asking import CHAT, body_of, served
from tests.adapter.engines.stub import Stub, sse, stubbed
from tests.adapter.scripted import Scripted, said

CLIENTS = 500
MODELS = {"data": [{"id": "m", "max_model_len": 4096}]}
TOKEN = {"choices": [{"index": 0, "text": "a", "token_ids": [5], "finish_reason": None}]}
STOP = {"choices": [{"index": 0, "text": "", "token_ids": [1], "finish_reason": "stop"}]}
FIRST = sse(TOKEN, done=False)


class Counting(Stub):
    """A stub that knows how many completions are open at it."""

    running = 0

    async def answer(self, request):
        completes = request.path == "/v1/completions"
        self.running += completes
        try:
            return await super().answer(request)
        finally:
            self.running -= completes


async def leave(port: int, request: bytes, dice: random.Random) -> None:
    """Ask, and go away at some moment: within the request, at its end, or within the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    match dice.randrange(3):
        case 0:
            writer.write(request[: dice.randrange(len(request))])
            await asyncio.sleep(dice.random() / 10)
        case 1:
            writer.write(request)
            await asyncio.sleep(dice.random() / 2)
        case _:
            writer.write(request)
            await reader.read(dice.randrange(1, 400))
    if dice.randrange(2):
        writer.transport.abort()
    writer.close()


def port_of(session) -> int:
    return int(session._base_url.port)


async def settled(condition) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.02)


async def test_a_storm_of_clients_that_leave_leaves_nothing() -> None:
    """All their requests in the engine are cancelled, and no task or connection stays."""
    stub = Counting({"/version": {"version": "1"}, "/v1/models": MODELS, "/v1/completions": FIRST})
    stub.open = True
    dice = random.Random(7)
    async with stubbed(stub) as http:
        engine: Any = VllmCompletions(http)
        limits = {"concurrency": 40, "queue": 1000}
        async with served(engine, limits=limits) as (session, adapter):
            await asyncio.sleep(0.1)
            before = len(asyncio.all_tasks())
            port = port_of(session)
            body = json.dumps(body_of(CHAT, thinking=False, stream=True)).encode()
            head = f"POST {CHAT.path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
            request = head.encode() + body
            await asyncio.gather(*(leave(port, request, dice) for _ in range(CLIENTS)))
            await settled(lambda: not stub.running)
            await settled(lambda: not adapter.places.taken and not adapter.places.waiting)
            await settled(lambda: len(asyncio.all_tasks()) <= before)
            assert sum(path == "/v1/completions" for path, _ in stub.asked) > 40
            stub.open, stub.replies = False, {**stub.replies, "/v1/completions": sse(TOKEN, STOP)}
            async with session.post(CHAT.path, json=body_of(CHAT)) as response:
                assert response.status == 200


async def test_clients_that_read_a_byte_now_and_then_take_bounded_memory() -> None:
    """What an engine says is not read ahead of a client that hardly takes it."""
    given = 0
    (piece,) = said(["x" * 65536], end=None)

    class Endless(Scripted):
        async def complete(self, prompt, sampling):
            nonlocal given
            for _ in range(5000):
                given += 1
                yield piece

    async with served(Endless(), limits={"drain": "0s"}) as (session, adapter):
        body = json.dumps(body_of(CHAT, thinking=False, stream=True)).encode()
        head = f"POST {CHAT.path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        readers = []
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port_of(session), limit=1)
            writer.write(head.encode() + body)
            readers.append((reader, writer))
        seen = -1
        async with asyncio.timeout(30):
            while given != seen or not given:
                seen = given
                for reader, _ in readers:
                    await reader.read(1)
                await asyncio.sleep(0.3)
        assert given < 3 * 400
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 200 * 1024
        for _, writer in readers:
            writer.transport.abort()
        await settled(lambda: not adapter.places.taken)
