"""The router's own keys do not reach a caller, whatever a replica quotes; with stubs that quote."""

from __future__ import annotations

import asyncio
import base64
import gzip
import html
import itertools
import json
import urllib.parse
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.client.spellings import Spellings
from denv.records import Secret
from denv.router.blanks import BadPackingError, Blanks, Passing
from tests.router.replicas import StubReplica, reply, running, table_of

KEY = "sk-planted-Ab/Cd+Ef&0123456789=="
OTHER = "sk-planted-other-9876543210"
BLANKS = Blanks([Secret(KEY), Secret(OTHER)])

SPELLED = [
    KEY,
    json.dumps(KEY).replace("/", "\\/").replace("&", "\\u0026")[1:-1],
    html.escape(KEY),
    urllib.parse.quote(KEY, safe=""),
    base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    KEY.encode().hex(),
    OTHER,
]


def passed(raw: bytes, *cuts: int) -> bytes:
    """Pass bytes on in pieces that end at the cuts."""
    passing = Passing(BLANKS)
    ends = [0, *sorted(cuts), len(raw)]
    pieces = [raw[a:b] for a, b in itertools.pairwise(ends)]
    return b"".join([going for one in pieces for going in passing.take(one)]) + passing.rest()


def unread(raw: bytes) -> bool:
    return not any(Spellings(key).may_hold(raw) for key in (KEY, OTHER))


@pytest.mark.parametrize("spelled", SPELLED)
def test_wherever_pieces_end_no_key_passes(spelled):
    """A key in two pieces, or in one byte after the other, is blanked; nothing else changes."""
    before, after = b'{"error": {"message": "bad key ', b' was sent"}}\n'
    raw = before + spelled.encode() + after
    for cut in range(1, len(raw)):
        given_ = passed(raw, cut)
        assert len(given_) == len(raw)
        assert given_.startswith(before)
        assert given_.endswith(after)
        assert unread(given_)
    assert unread(passed(raw, *range(1, len(raw))))


def test_a_long_key_is_known_by_its_beginning():
    """Thousands of characters are not spelled out: nothing behind a quoted key changes."""
    key = "sk-" + "Ab3/xYz-" * 1000
    blanks = Blanks([Secret(key)])
    blanks.prepare()
    escaped = "".join(f"\\u{ord(c):04x}" if i % 5 == 0 else c for i, c in enumerate(key))
    told = json.dumps({"error": json.dumps({"sent": "?"}), "and": "more"}).replace("?", escaped)
    for raw in (told, told.replace(escaped, base64.b64encode(key.encode()).decode())):
        left = json.loads(blanks.whole(raw.encode()))
        assert left["and"] == "more"
        assert set(json.loads(left["error"])["sent"].rstrip("=")[:-4]) <= {"*"}


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=8))
def test_other_bytes_pass_as_they_are(raw, cuts):
    """What holds no key is the same in however many pieces it comes."""
    assert passed(raw, *cuts) == raw


@given(st.text(max_size=40), st.sampled_from([KEY, OTHER]), st.text(max_size=40))
def test_no_length_changes(before, key, after):
    """An answer keeps the length that its head tells."""
    raw = (before + key + after).encode("utf-8", "replace")
    assert len(BLANKS.whole(raw)) == len(raw)


@pytest.mark.parametrize("event", [b'data: {"a":"sk-planted"}\n\n', b"event: s\r\n\r\n", b": \n"])
def test_an_event_waits_for_nothing(event):
    """A stream is not held up: what ends a line goes on at once."""
    assert [*Passing(BLANKS).take(event)] == [event]


def test_what_waits_is_bounded():
    """However long the beginning of a key is drawn out, little is kept."""
    passing = Passing(BLANKS)
    gone = sum(len(going) for _ in range(200) for going in passing.take(b"\\" * 1000))
    assert 200_000 - gone < 16 * (len(KEY) + 1) + 1


def test_one_key_may_begin_another():
    """The longer of two keys is blanked to its end."""
    blanks = Blanks([Secret("key-of-team"), Secret("key-of-team-two")])
    passing = Passing(blanks)
    pieces = [b"<key-of-team", b"-t", b"wo> <key-of-team> ", b"key-of-team"]
    got = b"".join([going for one in pieces for going in passing.take(one)]) + passing.rest()
    assert got == b"<***************> <***********> ***********"


def test_a_bomb_is_unpacked_in_small_pieces():
    """What is packed well fills no memory."""
    bomb = gzip.compress(b"x" * 50_000_000)
    assert max(len(going) for going in Passing(BLANKS, packed=True).take(bomb)) <= 1 << 17


@pytest.mark.parametrize(
    "broken", [b"no gzip", gzip.compress(b"{}", mtime=0)[:-9], gzip.compress(b"", mtime=0) * 2]
)
def test_what_is_not_packed_as_it_says_is_a_fault(broken):
    """A packed answer that breaks off is no whole answer."""
    passing = Passing(BLANKS, packed=True)
    with pytest.raises(BadPackingError):
        b"".join([*passing.take(broken), passing.rest()])


# ---------------------------------------------------------------- through a router


def with_keys(folder, **more):
    (folder / "up").touch(mode=0o600)
    (folder / "up").write_text(KEY)
    hosts = ["http://127.0.0.0/8:1", "http://127.0.0.1:1"]
    hosts += [replica.url.removesuffix("/v1") for replica in more.pop("replicas")]
    return {"upstream": {"credentials": [{"hosts": hosts, "key-file": "up"}]}, **more}


def quoting(*, status="401 Unauthorized", pieces=1, chunked=False, headers="", packed=None):
    """Answer with the head that came, as a proxy that debugs does."""

    async def answer(got, writer):
        body = json.dumps({"error": {"message": got.head.decode()}}).encode()
        body = body if packed is None else packed(body)
        if chunked:
            size = b"Transfer-Encoding: chunked\r\n"
        else:
            size = b"Content-Length: %d\r\n" % len(body)
        writer.write(f"HTTP/1.1 {status}\r\n{headers}".encode() + size + b"\r\n")
        step = -(-len(body) // pieces)
        for start in range(0, len(body), step):
            piece = body[start : start + step]
            await writer.drain()
            await asyncio.sleep(0.002 if pieces > 1 else 0)
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
        writer.write(b"0\r\n\r\n" if chunked else b"")

    return answer


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"status": "200 OK"},
        {"pieces": 150},
        {"pieces": 150, "chunked": True},
        {"status": "200 OK", "pieces": 150, "chunked": True},
        {"packed": gzip.compress, "headers": "Content-Encoding: gzip\r\n"},
        {"packed": zlib.compress, "headers": "Content-Encoding: deflate\r\n", "pieces": 20},
        {"packed": gzip.compress, "headers": "Content-Encoding: x-gzip\r\n", "chunked": True},
    ],
)
async def test_a_caller_is_not_shown_the_routers_key(tmp_path, how, caplog, capfd):
    """In an error or not, in pieces or not, packed or not; nor is it in metrics or logs."""
    async with StubReplica(quoting(**how)) as replica:
        settings = with_keys(tmp_path, replicas=[replica])
        async with running(tmp_path, table_of((replica.url, 1)), **settings) as router:
            status, body, headers = await router.chat()
            assert KEY in replica.seen[0].head.decode()
            assert status == int(how.get("status", "401")[:3])
            message = json.loads(body)["error"]["message"]
            expected = replica.seen[0].head.decode().replace(KEY, "*" * len(KEY))
            assert message == expected
            assert "Content-Encoding" not in headers
            said = (await router.admin("/metrics"))[1].decode() + caplog.text
        assert "sk-planted" not in said + "".join(capfd.readouterr())


async def test_headers_that_are_passed_on_hold_no_key(tmp_path):
    """A header's value is looked into too."""

    async def answer(got, writer):
        writer.write(reply(got.body, headers=f"denv-sampled: {KEY}\r\nRetry-After: 1{KEY}\r\n"))

    async with StubReplica(answer) as replica:
        settings = with_keys(tmp_path, replicas=[replica])
        async with running(tmp_path, table_of((replica.url, 1)), **settings) as router:
            _, _, headers = await router.chat()
            assert headers["denv-sampled"] == "*" * len(KEY)
            assert headers["Retry-After"] == "1" + "*" * len(KEY)


CODINGS = [
    "Content-Encoding: aes128gcm\r\n",
    "Content-Encoding: identity\r\nContent-Encoding: gzip, gzip\r\n",
    "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n",
    "Content-Encoding:\r\nContent-Encoding: gzip\r\n",  # it says so, and is not
    "Content-Encoding: gzip\r\n",
]


@pytest.mark.parametrize("headers", CODINGS)
async def test_what_cannot_be_looked_into_is_not_passed_on(tmp_path, headers):
    """What cannot be unpacked is a broken replica's, in however many lines its head says so."""
    async with StubReplica(quoting(headers=headers)) as replica:
        settings = with_keys(tmp_path, replicas=[replica])
        async with running(tmp_path, table_of((replica.url, 1)), **settings) as router:
            status, body, _ = await router.chat()
            assert (status, json.loads(body)["error"]["code"]) == (502, "upstream_senseless")
            assert await router.metric('senseless_total{replica="a"}') == 1


async def test_all_lines_that_say_how_it_is_packed_are_read(tmp_path):
    """A first line that says nothing hides no second one."""
    headers = "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n"
    async with StubReplica(quoting(headers=headers, packed=gzip.compress)) as replica:
        settings = with_keys(tmp_path, replicas=[replica])
        async with running(tmp_path, table_of((replica.url, 1)), **settings) as router:
            _, body, told = await router.chat()
            assert "*" * len(KEY) in json.loads(body)["error"]["message"]
            assert "Content-Encoding" not in told


async def test_a_bomb_stops_nobody_else(tmp_path):
    """While a small answer is unpacked to a very large one, other callers are answered."""
    bomb = gzip.compress(bytes(200_000_000))
    asked = asyncio.Event()

    async def answer(got, writer):
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
        if b'"bomb"' in got.body:
            asked.set()
            writer.write(head % len(bomb) + bomb)
        else:
            writer.write(reply(got.body))

    async with StubReplica(answer) as replica:
        settings = with_keys(tmp_path, replicas=[replica])
        async with running(tmp_path, table_of((replica.url, 1)), **settings) as router:
            large = asyncio.create_task(
                router.chat(b'{"model":"m","messages":[{"role":"user","content":"bomb"}]}')
            )
            await asked.wait()
            for _ in range(3):
                assert (await router.chat())[0] == 200
            assert not large.done()
            assert len((await large)[1]) == 200_000_000


async def test_a_coding_passes_where_there_is_no_key(tmp_path):
    """Without keys nothing needs to be looked into."""
    odd = quoting(headers="Content-Encoding: aes128gcm\r\n")
    async with (
        StubReplica(odd) as replica,
        running(tmp_path, table_of((replica.url, 1))) as router,
    ):
        assert (await router.chat())[2]["Content-Encoding"] == "aes128gcm"
