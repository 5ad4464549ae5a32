"""A stage that answers with anything at all: the run ends, says why, and obeys none of it."""

from __future__ import annotations

import asyncio
import io
import json
import resource
import time
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from aiohttp import web
from rich.console import Console

from denv import strictjson
from denv.records import Endpoint, Secret, Timeouts
from denv.report import print_report, validate, write_html, write_json, write_junit, write_markdown
from denv.runner import run_parity
from denv.store import open_store
from tests import suites
from tests.stubs import StubServer, answers

KEY = "sk-planted-0123456789abcdef"
MEBIBYTE = 1024 * 1024

EVIL = (
    "\x1b[2J\x1b]0;owned\x07\x9b31m\x00\r\x08"
    "<script>alert(1)</script><img src=x onerror=alert(2)>'\"`"
    "\u202egnp.exe\u2066\u200b\ufeff\u2028\u0085]]>&amp;{{7*7}}${x}%n[bold red]"
)


def call(name, arguments='{"city":"Paris"}'):
    """Write a tool call as the API has it."""
    function = {"name": name, "arguments": arguments}
    return {"id": "k", "type": "function", "function": function}


def calling(*calls):
    return lambda request, n: answers.completion(None, finish="tool_calls", tool_calls=list(calls))


def with_headers(headers):
    """Answer well, under hostile headers."""
    return lambda request, n: web.json_response(
        {**answers.completion("fine"), "model": EVIL, "system_fingerprint": EVIL}, headers=headers
    )


def usage(text):
    """Answer well, with these token counts."""
    body = json.dumps({**answers.completion("fine"), "usage": "@"})
    counts = f'{{"prompt_tokens": {text}, "completion_tokens": {text}}}'
    return answers.body(body.replace('"@"', counts).encode())


def declared(size):
    """Promise a body of that size and send its beginning."""
    return answers.raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % size + b" " * 1000
    )


def say(text, **fields):
    return lambda request, n: answers.completion(text, **fields)


BROKEN = {
    "huge, declared": declared(10**15),
    "huge, not declared": answers.endless(b" " * 65536),
    "endless stream": answers.endless(b'data: {"choices":[{"index":0,"delta":{}}]}\n\n' * 1000),
    "endless line": answers.endless(b"a" * 65536),
    "one byte a second": answers.endless(b"x", pause_s=1.0),
    "never": answers.slow(60.0),
    "gzip bomb": answers.gzip_bomb(256),
    "no gzip": lambda r, n: web.Response(body=b"{}", headers={"Content-Encoding": "gzip"}),
    "deep": answers.deep(),
    "deep objects": answers.body(b'{"choices":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001),
    "not UTF-8": answers.body(b'{"choices": [{"message": {"content": "\xff\xfe\xc3"'),
    "empty": answers.body(b""),
    "empty object": answers.body(b"{}"),
    "null": answers.body(b"null"),
    "NaN for choices": answers.body(b'{"choices": NaN}'),
    "choices of junk": answers.body(b'{"choices": [null, 1, "x", [], {"message": 5}]}'),
    "web page": answers.html(),
    "error page": lambda r, n: answers.error(500, EVIL),
    "error of a megabyte": lambda r, n: answers.error(400, "e" * MEBIBYTE),
    "error in 200": lambda r, n: {"error": {"message": EVIL, "code": EVIL}},
    "redirect": answers.redirect(302, f"https://evil.example/{KEY}"),
    "redirect to itself": answers.redirect(307, "/v1/chat/completions"),
    "cut": answers.cut(),
    "dropped": answers.dropped(),
    "no HTTP": answers.raw(b"\x00\x01\x02SSH-2.0-junk\r\n\r\n"),
    "status 999": answers.raw(b"HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}"),
    "endless header": answers.raw(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * MEBIBYTE + b"\r\n\r\n"),
    "many headers": answers.raw(
        b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 100_000 + b"Content-Length: 2\r\n\r\n{}"
    ),
    "the key": lambda r, n: answers.error(400, f"bad key Bearer {KEY}"),
}
"""No answer: each fails with cause ``availability`` or ``contract``, and nothing else happens."""

SHOWN = {
    "evil text": say(EVIL),
    "evil reasoning": say(EVIL, reasoning_content=EVIL),
    "evil finish reason": lambda r, n: answers.completion(EVIL, finish=EVIL),
    "evil refusal": say(None, refusal=EVIL),
    "evil call": calling(call(EVIL)),
    "evil arguments": calling(call("get_weather", EVIL)),
    "evil key of arguments": calling(call("get_weather", json.dumps({EVIL: EVIL}))),
    "lone surrogates": answers.body(
        json.dumps(answers.completion("@")).replace("@", "\\ud800\\udfff \\udc00").encode()
    ),
    "a megabyte": say("<b>&\x1b" * (MEBIBYTE // 5)),
    "megabyte without a space": say("x" * MEBIBYTE),
    "the key in a text": say(f"your key is {KEY}"),
    "100,000 calls": calling(*[call("other", "{}")] * 100_000),
    "duplicate keys": calling(call("get_weather", '{"city":"Paris","city":"Rome"}')),
    "number in arguments": calling(call("get_weather", '{"city": ' + "7" * 1_000_000 + "}")),
    "1e999999999": calling(call("get_weather", '{"city": 1e999999999}')),
}
"""Answers that are wrong: each fails, and is shown as text."""

PASSING = {
    "evil headers": with_headers({"X-Replica": "a<script>\u202e", "Server": "<b>x</b>"}),
    "NaN beside": answers.body(json.dumps(answers.completion("fine"))[:-1].encode() + b',"x":NaN}'),
    "number of a million digits": usage("7" * 1_000_000),
    "usage negative": usage("-5"),
    "usage huge": usage("9" * 400),
    "usage float": usage("1e308"),
    "usage text": usage('"many"'),
    "usage null": usage("null"),
}
"""Answers whose text is right under junk that no check reads: no outcome but a crash is wrong."""

ALL = {**BROKEN, **SHOWN, **PASSING}


def of_stage(request, n):
    """Answer the preflight well, and each case as its name says."""
    content = request["messages"][-1]["content"]
    return ALL[content](request, n) if content in ALL else answers.completion("Hello")


def of_reference(request, n):
    content = request["messages"][-1]["content"]
    if content in SHOWN and "tools" in request:
        return answers.completion(None, finish="tool_calls", tool_calls=[call("get_weather")])
    return answers.completion("fine")


def lines():
    tool = {"tool-call": {"name": "get_weather", "arguments": {"city": "Paris"}}}
    return [
        suites.line(name, name, tool, tools=[suites.WEATHER])
        if "call" in name or "arguments" in name or name in {"duplicate keys", "1e999999999"}
        else suites.line(name, name, {"contains": "fine"})
        for name in ALL
    ]


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Ended:
    """A whole run against the hostile stage, and what it cost."""

    def __init__(self, report, document, home, *, seconds, grown_mib):
        self.report = report
        self.document = document
        self.home = home
        self.seconds = seconds
        self.grown_mib = grown_mib
        self.cases = {case["id"]: case for case in document["cases"]}


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """Run every hostile case once."""
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENV_HOME", str(folder / "home"))
        store = open_store(folder / "home")
        found = asyncio.run(hostile_run(folder, store))
    yield found
    store.close()


async def hostile_run(folder, store):
    timeouts = Timeouts(connect_s=2.0, first_byte_s=3.0, total_s=3.0)
    async with StubServer(of_stage) as stage, StubServer(of_reference) as reference:
        hostile = Endpoint(
            stage.url,
            model=EVIL,
            key=Secret(KEY),
            retries=0,
            concurrency=2,
            timeouts=timeouts,
            replica_header="x-replica",
            name=EVIL,
        )
        before, started = peak_mib(), time.monotonic()
        report = await run_parity(
            suites.load(folder, lines()),
            stage=hostile,
            reference=Endpoint(reference.url, retries=0),
            store=store,
        )
        seconds, grown = time.monotonic() - started, peak_mib() - before
    document = {**report.head, "cases": list(report.cases())}
    return Ended(report, document, folder / "home", seconds=seconds, grown_mib=grown)


def test_the_run_ends_soon_and_small(ended):
    """Every hostile answer costs bounded time and memory: 32 MiB of a body are read at most."""
    assert list(ended.cases) == list(ALL)
    assert ended.seconds < 40
    assert ended.grown_mib < 400


@pytest.mark.parametrize("name", BROKEN)
def test_no_answer_is_a_failure_that_says_why(ended, name):
    """What is no answer fails as availability or contract, in one short line."""
    case = ended.cases[name]
    assert case["outcome"] == "fail"
    assert case["cause"] in {"availability", "contract"}, case["reason"]
    assert 0 < len(case["reason"]) < 1000


@pytest.mark.parametrize("name", SHOWN)
def test_wrong_answer_fails(ended, name):
    """A hostile text or call is a wrong answer like any other."""
    assert ended.cases[name]["outcome"] == "fail"


@pytest.mark.parametrize("name", PASSING)
def test_junk_beside_the_answer_is_no_crash(ended, name):
    """Where the text is right, junk in other fields passes, or is a breach of the API's shape."""
    case = ended.cases[name]
    assert (case["outcome"], case["cause"]) in {("pass", None), ("fail", "contract")}


# ---------------------------------------------------------------- what is written


def written(write, report):
    stream = io.StringIO()
    write(report, stream)
    return stream.getvalue()


def controls(text):
    """Give the control and direction characters that no report may hold raw."""
    return {
        c
        for c in text
        if (unicodedata.category(c) == "Cc" and c not in "\n\t")
        or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    }


def test_documents_are_strict_and_valid(ended):
    """The JSON report holds to its schema, and to JSON."""
    text = written(write_json, ended.report)
    found = strictjson.loads(text)
    validate(found)
    assert found["verdict"] == "fail"
    assert len(found["cases"]) == len(ALL)


def test_terminal_obeys_nothing(ended):
    """No control character of an answer, name or header reaches the terminal."""
    shown = io.StringIO()
    print_report(ended.report, Console(file=shown, width=120, no_color=True))
    assert "endless stream" in shown.getvalue()
    assert controls(shown.getvalue()) == set()


def test_junit_is_xml(ended):
    """The JUnit file can be parsed, and counts the failures."""
    root = ET.fromstring(written(write_junit, ended.report))
    assert int(root.attrib["failures"]) >= len(BROKEN) + len(SHOWN)


def test_markdown_holds_no_markup_of_answers(ended):
    """The step summary shows markup as text, and no control character."""
    text = written(write_markdown, ended.report)
    assert "<script" not in text
    assert "<img" not in text
    assert controls(text) == set()


class Page(HTMLParser):
    """Collects the elements of a page and the attributes that could run something."""

    def __init__(self):
        super().__init__()
        self.scripts = 0
        self.bad = []

    def handle_starttag(self, tag, attrs):
        if tag == "script":
            self.scripts += 1
        if tag in {"img", "iframe", "object", "embed", "base"}:
            self.bad.append(tag)
        self.bad += [name for name, value in attrs if name.startswith("on")]
        self.bad += [v for _, v in attrs if v and v.strip().lower().startswith("javascript:")]


def test_page_holds_no_injected_element(ended):
    """The page has the elements of its template alone; answers are text in it."""
    text = written(write_html, ended.report)
    page = Page()
    page.feed(text)
    assert page.bad == []
    assert "<script>alert" not in text
    assert "{{7*7}}" in text
    assert controls(text) == set()


def test_the_key_is_nowhere(ended):
    """Neither the database nor any document holds the key, though the server quoted it."""
    for write in (write_json, write_html, write_junit, write_markdown):
        assert KEY not in written(write, ended.report)
    assert len(list(ended.home.iterdir())) > 1
    for path in ended.home.iterdir():
        assert KEY.encode() not in path.read_bytes()
