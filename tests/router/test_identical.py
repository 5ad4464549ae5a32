"""Whatever callers send beside what they ask, a stage gets the same bytes."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.router.matched import headers_of, routed
from tests.router.recording import ANSWER, Recording, recording_stage, whole

ID = re.compile(rb"(?m)^X-Request-Id: [0-9a-f]{32}\r$")

NAMES = st.one_of(
    st.sampled_from(
        ["X-Parity", "traceparent", "tracestate", "baggage", "Cookie", "X-Forwarded-For", "Via",
         "X-Request-Id", "User-Agent", "Accept", "Accept-Language", "Idempotency-Key", "DNT",
         "OpenAI-Organization", "X-Stainless-OS", "anthropic-version", "anthropic-beta", "From",
         "Accept-Encoding", "Priority", "Sec-Fetch-Mode", "Referer", "Origin", "Forwarded"]
    ),
    st.from_regex(r"X-[A-Za-z0-9-]{1,20}", fullmatch=True),
)  # fmt: skip
VALUES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=40)
HEADERS = st.lists(st.tuples(NAMES, VALUES), max_size=8, unique_by=lambda one: one[0].lower())
BODIES = st.fixed_dictionaries(
    {
        "model": st.just("m"),
        "messages": st.lists(
            st.fixed_dictionaries({"role": st.just("user"), "content": st.text(max_size=50)}),
            min_size=1,
            max_size=3,
        ),
    },
    optional={
        "stream": st.booleans(),
        "temperature": st.sampled_from([0, 0.0, 1e-3, 1]),
        "max_tokens": st.integers(1, 2**70),
        "padding": st.integers(0, 60_000),  # as many characters
    },
)
PATHS = st.sampled_from(["/v1/chat/completions", "/v1/completions", "/v1/responses"])


class Caller:
    """A caller with a connection of its own, which it keeps."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname or "", parts.port or 0)
        self._own = headers
        self._socket: socket.socket | None = None

    def ask(
        self, path: str, body: bytes, extra: Sequence[tuple[str, str]], *, pieces: int
    ) -> tuple[int, bytes]:
        """Ask, the body whole or in chunks; give status and body of the answer."""
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=30)
        lines = [f"POST {path} HTTP/1.1", "Host: stage.example.com"]
        given = {name.lower() for name, _ in extra}
        own = [pair for pair in self._own.items() if pair[0].lower() not in given]
        lines += [f"{name}: {value}" for name, value in [*own, *extra]]
        if pieces:
            lines.append("Transfer-Encoding: chunked")
            size = max(1, -(-len(body) // pieces))
            parts = [body[n : n + size] for n in range(0, len(body), size)]
            sent = b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"
        else:
            lines.append(f"Content-Length: {len(body)}")
            sent = body
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode() + sent)
        response = http.client.HTTPResponse(self._socket, method="POST")
        response.begin()
        content = response.read()
        if response.will_close:
            self._socket.close()
            self._socket = None
        return response.status, content

    def close(self) -> None:
        """Let the connection go."""
        if self._socket is not None:
            self._socket.close()


@contextmanager
def standing(folder, *, settings: str = "") -> Iterator[tuple[Recording, str]]:
    """Run a recording stage and a router in a loop of their own thread."""
    ready, ended = threading.Event(), threading.Event()
    found: list[tuple[Recording, str]] = []

    async def stand() -> None:
        async with (
            recording_stage() as stage,
            routed(stage, folder, settings=settings) as router,
        ):
            found.append((stage, router.url))
            ready.set()
            while not ended.is_set():
                await asyncio.sleep(0.05)

    thread = threading.Thread(target=asyncio.run, args=(stand(),))
    thread.start()
    try:
        assert ready.wait(90)
        yield found[0]
    finally:
        ended.set()
        thread.join(30)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    with standing(tmp_path_factory.mktemp("router")) as (stage, url):
        callers = [Caller(url, headers_of(who, number=1)) for who in ("customer", "parity")]
        yield stage, callers
        for caller in callers:
            caller.close()


def masked(raw: bytes) -> bytes:
    """Give a request's bytes without the random digits of its id, which must be there once."""
    text, count = ID.subn(b"X-Request-Id: -\r", raw)
    assert count == 1, raw[:400]
    return text


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    path=PATHS,
    body=BODIES,
    extras=st.tuples(HEADERS, HEADERS),
    pieces=st.tuples(st.integers(0, 4), st.integers(0, 4)),
    spaced=st.tuples(st.booleans(), st.booleans()),
)
@example(
    path="/v1/chat/completions",
    body={"model": "m", "messages": [{"role": "user", "content": "é\u2028"}], "stream": True},
    extras=([], [("traceparent", "00-1-2-01")]),
    pieces=(0, 3),
    spaced=(False, True),
)
def test_equal_questions_become_equal_bytes(  # noqa: PLR0917 - as Hypothesis names them
    both, path, body, extras, pieces, spaced
):
    """Headers, chunks, spacing and escapes of the caller change no byte but the id's digits."""
    stage, callers = both
    before = len(stage.seen)
    body = {**body, "padding": "x" * body.get("padding", 0)}
    for caller, extra, count, loose in zip(callers, extras, pieces, spaced, strict=True):
        separators = (", ", ": ") if loose else (",", ":")
        text = json.dumps(body, ensure_ascii=loose, separators=separators)
        status, _ = caller.ask(path, text.encode(), extra, pieces=count)
        assert status == 200
    one, two = (masked(seen.raw) for seen in stage.seen[before:])
    assert one == two
    assert b"chunked" not in one.lower()


def test_connections_are_shared(both):
    """Callers in turn, each on a connection of its own, are asked for on the same ones."""
    stage, callers = both
    body = b'{"model":"m","messages":[{"role":"user","content":"a"}]}'
    used: dict[int, set[int]] = {0: set(), 1: set()}
    for which in (0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0):
        callers[which].ask("/v1/chat/completions", body, [], pieces=0)
        used[which].add(stage.seen[-1].connection)
    # A check of the stage's health may have held one for a moment: then there are two.
    assert used[0] == used[1]


@pytest.mark.parametrize("failure", ["503", "cut"])
def test_retries_are_the_same(tmp_path, failure):
    """What a stage sees again after it failed, and how often, does not depend on who asked."""
    with standing(tmp_path, settings="health: {failures: 100}\n") as (stage, url):
        failing = b"" if failure == "cut" else whole(b"{}", status=b"503 Unavailable")
        stage.answer = lambda _: failing
        body = b'{"model":"m","messages":[{"role":"user","content":"a"}]}'
        times = []
        # The first may find a connection that a check of health has left, which the others do not.
        for who in ("customer", "customer", "parity", "customer", "parity"):
            caller, before = Caller(url, headers_of(who, number=2)), len(stage.seen)
            status, _ = caller.ask("/v1/chat/completions", body, [], pieces=0)
            assert status in {502, 503}
            caller.close()
            times.append([masked(seen.raw) for seen in stage.seen[before:]])
        assert times[1] == times[2] == times[3] == times[4]
        stage.answer = lambda _: whole(ANSWER)
