"""No planted secret is in any report, page, log, metric, database or export."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import aiohttp
import pytest
import yaml
from aiohttp import web

from tests import suites
from tests.planted.searching import search
from tests.planted.stages import quoting, quoting_sink, streaming
from tests.router.replicas import table_of
from tests.stubs import StubServer

PATIENCE_S = 120

SECRETS = {
    "stage": "sk-planted-stage-0123456789",
    "reference": "sk-planted-reference-0123456789",
    "header": "planted-header-value-0123456789",
    "URL": "planted-user:planted-pass-0123",
    "bearer": "eyPlantedBearer0123456789",
    "customer": "sk-planted-customer-0123456789",
    "prompt": "planted words of a customer about an illness",
    "answer": "planted words of an answer to a customer",
    "upstream": "sk-planted-upstream-0123456789",
    "permit": "planted-permit-secret-of-32-bytes-or-more",
    "pager": "plantedroutingkey0123456789abcdef",
    "chat": "planted-chat-token-0123456789",
    "alerts": "planted-alerts-token-0123456789",
    "database": "planted-database-password-0123",
}


class Place:
    """A folder for what is given and one for what is made; only the second is searched."""

    def __init__(self, folder: Path) -> None:
        self.given, self.made = folder / "given", folder / "made"
        self.given.mkdir()
        self.made.mkdir()
        self.environment = {
            **os.environ,
            "DENV_HOME": str(self.made / "home"),
            "STAGE_KEY": SECRETS["stage"],
            "TEAM_TOKEN": SECRETS["header"],
            "PAGER_KEY": SECRETS["pager"],
            "ALERTS": f"Bearer {SECRETS['alerts']}",
            "CUSTOMER_KEY": SECRETS["customer"],
        }
        self.environment.pop("DENV_DATABASE", None)

    def key(self, name: str) -> Path:
        """Write a secret to a file of its own."""
        path = self.given / f"{name}.key"
        path.write_text(SECRETS[name], "utf-8")
        path.chmod(0o600)
        return path

    def keep(self, name: str, data: bytes) -> None:
        """Keep what was made, to be searched."""
        with (self.made / name).open("ab") as file:
            file.write(data + b"\n")

    async def denv(self, *arguments: object, codes=(0,), **environment: str) -> str:
        """Run a command; keep what it says, and give its standard output."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "denv", *map(str, arguments)),
            env={**self.environment, **environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        self.keep("said.txt", out + err)
        assert process.returncode in codes, (arguments, out, err)
        return out.decode()

    @asynccontextmanager
    async def running(self, name: str, *arguments: object):
        """Run a command for the length of the block; give where it says that it listens."""
        log = self.made / f"{name}.log"
        with log.open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "denv", *map(str, arguments)),
                env=self.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not (found := re.findall(r"http://[\d.]+:\d+", log.read_text())):
                    assert process.returncode is None, log.read_text()
                    await asyncio.sleep(0.1)
            yield found
        finally:
            process.send_signal(signal.SIGTERM)
            await process.wait()


@pytest.fixture
def place(tmp_path):
    """Give the two folders."""
    return Place(tmp_path)


async def run_directly(place: Place, stage: StubServer, reference: StubServer) -> None:
    """Run a suite whose stage quotes all keys, and write every report there is."""
    suite = suites.write(place.given, suites.numbered(12), "core.jsonl")
    made = place.made
    sides = (
        *("--stage", stage.url, "--stage-key-env", "STAGE_KEY"),
        *("--stage-header-env", "X-Team=TEAM_TOKEN"),
        *("--reference", reference.url, "--reference-key-file", place.key("reference")),
    )
    await place.denv(
        *("parity", "run", "--suite", suite, *sides, "--json", made / "r.json"),
        *("--html", made / "r.html", "--junit", made / "r.xml"),
        codes=(1,),
    )
    await place.denv("parity", "gates", *sides, "--json", made / "gates.json", codes=(0, 1, 3))
    await place.denv("parity", "report", "--markdown", made / "r.md")
    await place.denv("key", "new")
    await place.denv("parity", "report", "--public", "--with-suite", "--out", made / "public")
    await place.denv("parity", "report", "--public")
    # Given where it must not be, it is refused without being repeated.
    bad = stage.url.replace("://", f"://{SECRETS['URL']}@")
    await place.denv(
        *("parity", "run", "--suite", suite, "--stage", bad, "--reference", reference.url),
        codes=(2,),
    )


async def bench(place: Place) -> None:
    """Measure the speed of a stage that quotes all keys where a prompt is too deep for it."""
    async with StubServer(streaming(SECRETS)) as stage:
        await place.denv(
            *("bench", "speed", "--stage", stage.url, "--stage-key-env", "STAGE_KEY"),
            *("--stage-header-env", "X-Team=TEAM_TOKEN", "--tokens", "8"),
            *("--depth", "60,4000", "--concurrency", "1", "--retries", "0"),
            *("--json", place.made / "speed.json", "--html", place.made / "speed.html"),
        )
    assert "Bearer ***" in (place.made / "speed.json").read_text()  # the stage did quote


async def route(place: Place, stage: StubServer, reference: StubServer) -> None:
    """Let a customer and parity ask through a router, and read all that it tells of itself."""
    table = place.given / "weights.json"
    table.write_bytes(table_of((stage.url, 1)).to_json())
    config = {
        "listen": "127.0.0.1:0",
        "admin": "127.0.0.1:0",
        "table": str(table),
        "clients": [
            {"name": "acme", "key-env": "CUSTOMER_KEY"},
            {"name": "parity", "key-file": str(place.key("stage"))},
        ],
        "upstream": {
            "credentials": [
                {"hosts": [stage.url.removesuffix("/v1")], "key-file": str(place.key("upstream"))}
            ]
        },
        "permit-secret": {"key-file": str(place.key("permit"))},
    }
    (place.given / "router.yaml").write_text(yaml.safe_dump(config))
    async with place.running("router", "router", "--config", place.given / "router.yaml") as found:
        front, admin = found[:2]
        headers = {"Authorization": f"Bearer {SECRETS['customer']}"}
        async with aiohttp.ClientSession() as session:
            for content in (SECRETS["prompt"], f"number 3; {SECRETS['prompt']}"):
                body = {"model": "stub", "messages": [{"role": "user", "content": content}]}
                url = f"{front}/v1/chat/completions"
                async with session.post(url, json=body, headers=headers) as response:
                    await response.read()
            wrong = {"Authorization": f"Bearer {SECRETS['customer']}-wrong"}
            async with session.post(url, json=body, headers=wrong) as response:
                assert response.status == 401
                place.keep("router.txt", await response.read())
            suite = suites.write(place.given, suites.numbered(6), "routed.jsonl")
            await place.denv(
                *("parity", "run", "--suite", suite, "--stage", f"{front}/v1"),
                *("--stage-model", "stub", "--stage-key-env", "STAGE_KEY"),
                *("--stage-permit-file", place.key("permit"), "--stage-replica", "a"),
                *("--reference", reference.url, "--json", place.made / "routed.json"),
                codes=(1,),
            )
            for path in ("/metrics", "/health", "/weights", "/shapes"):
                async with session.get(f"{admin}{path}") as response:
                    place.keep("router.txt", await response.read())
    assert any(SECRETS["prompt"].encode() in seen.body for seen in stage.seen)
    assert any(seen.headers.get("Authorization", "").endswith("upstream-0123456789")
               for seen in stage.seen)  # fmt: skip


def failing_release(place: Place, stage: StubServer, reference: StubServer, sink: str) -> Path:
    """Write a release that will be taken back, with sinks that refuse every alarm."""
    suites.write(place.given, suites.numbered(12), "suite.jsonl")
    document = {
        "release": "chat-r8",
        "stage": {"url": stage.url, "key-env": "STAGE_KEY"},
        "parity": {
            "reference": {"url": reference.url, "key-file": str(place.key("reference"))},
            "suite": "suite.jsonl",
            "pass": {"exact": "95%"},
        },
        "rollout": {
            "health": {"path": "/v1/models", "passes": 1, "every": "100ms", "timeout": "5s"},
            "bake": "300ms",
            "deadline": "60s",
            "deploy": {
                "start": {"run": ["sh", "-c", "echo key $STAGE_KEY >&2; env >&2"]},
                "stop": {"run": ["sh", "-c", "env"]},
            },
        },
        "alarms": [
            {"pagerduty": {"routing-key-env": "PAGER_KEY", "url": f"{sink}/pager"}},
            {"alertmanager": {"url": sink, "headers-env": {"Authorization": "ALERTS"}}},
            {"command": {"run": ["sh", "-c", "echo $STAGE_KEY $PAGER_KEY >&2; exit 1"]}},
        ],
    }
    path = place.given / "release.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


@asynccontextmanager
async def sinking():
    """Take alarms and refuse them."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", quoting_sink)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


class Links(HTMLParser):
    """Collects where a page leads, and what it loads."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """Take each address."""
        self.found |= {value for name, value in attrs if name in {"href", "src"} and value}


async def crawl(place: Place, session: aiohttp.ClientSession, site: str, starts: list[str]) -> int:
    """Read every page that can be reached, and give how many there were."""
    seen: set[str] = set()
    left = [f"{site}{path}" for path in starts]
    while left and len(seen) < 500:
        url = left.pop()
        if url in seen:
            continue
        seen.add(url)
        async with session.get(url) as response:
            body = await response.read()
            assert response.status < 500, (url, body[:500])
            head = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
            place.keep("pages.bin", f"{url}\n{head}\n".encode() + body)
            if response.content_type == "text/html":
                for link in Links(body.decode()).found:
                    to = urljoin(url, link).partition("#")[0]
                    if to.startswith(f"{site}/") and "sign-out" not in to:
                        left.append(to)
    return len(seen)


async def roll_out_and_read(place: Place, stage: StubServer, reference: StubServer) -> set[str]:
    """Have a release taken back under denv serve, and read every page; give its own secrets."""
    token = (await place.denv("token", "new", "--role", "run", "--name", "test")).strip()
    (place.made / "said.txt").write_text(
        (place.made / "said.txt").read_text().replace(token, "")  # shown once, to its owner
    )
    async with sinking() as sink, place.running("serve", "serve", "--port", "0") as found:
        release = failing_release(place, stage, reference, sink)
        await place.denv("rollout", "start", release, "--wait", codes=(1,))
        await place.denv("rollout", "list", "--json")
        await place.denv("alarm", "list", "--json")
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(headers=headers) as session:
            description = f"{found[0]}/api/v1/openapi.json"
            async with session.get(description) as response:
                paths = [path for path, ways in (await response.json())["paths"].items()
                         if "get" in ways and "{" not in path]  # fmt: skip
            assert len(paths) > 5
            assert await crawl(place, session, found[0], ["/", "/metrics", *paths]) > 30
        await place.denv("doctor", "--release", release, "--json", place.made / "doctor.json",
                         codes=(0, 1))  # fmt: skip
    return {token}


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_nothing_planted_is_written(place):
    """What was run, routed, rolled out, published, shown and exported holds no secret."""
    handler = quoting(SECRETS)
    async with StubServer(handler) as stage, StubServer() as reference:
        await run_directly(place, stage, reference)
        await bench(place)
        await route(place, stage, reference)
        tokens = await roll_out_and_read(place, stage, reference)
    await place.denv("db", "export", "--out", place.made / "export")
    address = f"postgresql+psycopg://denv:{SECRETS['database']}@127.0.0.1:1/denv"
    await place.denv("db", "check", codes=(2, 4), DENV_DATABASE=address)
    await place.denv("doctor", codes=(0, 1), DENV_DATABASE=address)
    assert "Bearer ***" in (place.made / "r.json").read_text()  # the stage did quote
    wanted = {**SECRETS, **{f"token {n}": token for n, token in enumerate(tokens)}}
    assert search(place.made, wanted) == []
