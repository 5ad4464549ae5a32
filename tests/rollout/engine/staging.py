"""A stage for the engine's tests: models that can turn bad, releases, and workers."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pytest
import yaml
from aiohttp import web

from denv.cli.starting import start
from denv.release import load_release
from denv.rollout.engine.connection import connect
from denv.rollout.engine.messages import Word
from denv.rollout.engine.orders import say
from denv.rollout.engine.worker import WorkerSettings, work
from denv.store import RolloutRecord
from tests.stubs import answers
from tests.suites import numbered, write

PATIENCE_S = 240.0

LATE_CANCEL = pytest.mark.filterwarnings("ignore:Cannot find activity to cancel:UserWarning")
"""The SDK warns where an activity has ended just before it is cancelled."""


@dataclass(frozen=True)
class Call:
    """One chat request: the id that its answer carries, and when it came."""

    id: str
    asked: str
    began: float


class Model:
    """A server that echoes, until it is told to answer wrong, to be sick or to be slow."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self.wrong = self.sick = self.gone = False
        self.delay_s = 0.0
        self.calls: list[Call] = []

    @property
    def asked(self) -> list[str]:
        """What was asked, in order."""
        return [call.asked for call in self.calls]

    @property
    def url(self) -> str:
        """The base URL, which ends in /v1."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/health", self._health)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _chat(self, request: web.Request) -> web.Response:
        asked = (await request.json())["messages"][-1]["content"]
        if self.gone:
            return web.Response(status=503)
        call = Call(f"a{len(self.calls)}-{self._port}", asked, time.time())
        self.calls.append(call)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        answer = answers.completion("nothing" if self.wrong else asked)
        return web.json_response({**answer, "id": call.id})

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({}, status=503 if self.sick else 200)


class Releases:
    """Writes releases to a stage's file, with a suite beside them."""

    def __init__(self, folder: Path, *, stage: Model, reference: Model, cases: int = 24) -> None:
        self.folder, self.stage, self.reference = folder, stage, reference
        self.fresh = stage
        self.alarms = folder / "alarms.jsonl"
        self.weights_file = folder / "weights.json"
        write(folder, numbered(cases))
        write(folder, numbered(cases)[:2], "golden.jsonl")

    def write(self, name: str = "r1", **rollout: Any) -> Path:
        """Write a release; ``rollout`` overrides its keys, dashes as underscores."""
        settings = {
            "batches": ["50%", "100%"],
            "health": {"passes": 2, "every": "100ms", "timeout": "5s"},
            "golden": "golden.jsonl",
            "bake": "300ms",
            "parity-every": "200ms",
            "look-cases": 6,
            "deadline": "60s",
            "backoff": {"first": "200ms", "most": "500ms"},
            "weights": {"file": "weights.json"},
        } | {key.replace("_", "-"): value for key, value in rollout.items()}
        document = {
            "release": name,
            "stage": {"url": self.stage.url},
            "parity": {
                "reference": {"url": self.reference.url},
                "suite": "suite.jsonl",
                "pass": {"exact": "95%"},
            },
            "rollout": {k: v for k, v in settings.items() if v is not None},
            "alarms": [
                {"command": {"run": ["sh", "-c", f"cat >> {self.alarms}; echo >> {self.alarms}"]}}
            ],
        }
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(document), "utf-8")
        return path

    @contextmanager
    def unwritable(self) -> Iterator[None]:
        """Let the weights file be read, but no table be written."""
        draft = self.weights_file.with_name(f".{self.weights_file.name}.draft")
        draft.mkdir()
        yield
        draft.rmdir()

    def weights(self) -> dict[str, float]:
        """Give the share of each release, as the file has it."""
        rows = json.loads(self.weights_file.read_text())["weights"]
        return {row["release"]: row["weight"] for row in rows}

    def edit_weights(self, share: float) -> int:
        """Change the first weight as a person does with an editor; give the table's version."""
        table = json.loads(self.weights_file.read_text())
        table["weights"][0]["weight"] = share
        self.weights_file.write_text(json.dumps(table))
        return int(table["version"])

    def heard(self) -> list[dict[str, Any]]:
        """Give all that the alarm's command was told."""
        if not self.alarms.exists():
            return []
        return [json.loads(line) for line in self.alarms.read_text().splitlines() if line]

    def told(self) -> list[tuple[str, str]]:
        """Give what the alarm's command was told: (kind, action) each."""
        return [(line["kind"], line["action"]) for line in self.heard()]


class Engine:
    """The engine on one store: starts rollouts, waits for them, and has as many workers as told."""

    def __init__(self, connection: Any, store: Any, folder: Path, *, queue: str = "") -> None:
        self.queue = queue or f"q-{uuid.uuid4().hex[:8]}"
        self.connection = replace(connection, queue=self.queue)
        self.store, self.folder = store, folder
        self._stack = AsyncExitStack()
        self._stops: list[tuple[asyncio.Event, asyncio.Task[None]]] = []

    async def __aenter__(self) -> Self:
        self.client = await connect(self.connection)
        await self.add_worker()
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._stops:
            await self.stop_worker()

    async def add_worker(self) -> None:
        """Let one more worker work."""
        stop = asyncio.Event()
        settings = WorkerSettings(self.folder, self.queue, drain_s=2.0)
        client = await connect(self.connection)  # each worker has one of its own
        task = asyncio.create_task(work(client, self.store, settings, stop=stop))
        self._stops.append((stop, task))

    async def stop_worker(self) -> None:
        """End a worker as SIGTERM does."""
        stop, task = self._stops.pop()
        stop.set()
        await task

    async def start(self, release: Path, *, on_given: Callable[[], None] = lambda: None) -> str:
        """Start a release's rollout."""
        return await start(
            load_release(release),
            self.store,
            connection=self.connection,
            folder=self.folder,
            queue=self.queue,
            say=lambda _: None,
            on_given=on_given,
        )

    async def say(self, what: str, rollout: str, *, by: str = "ann", reason: str = "") -> None:
        """Say a word about a rollout."""
        record = self.store.rollouts.get_rollout(rollout)
        await say(self.client, record, what, Word(rollout, by, reason))

    def record(self, rollout: str) -> RolloutRecord:
        """Give a rollout as the store has it."""
        found: RolloutRecord = self.store.rollouts.get_rollout(rollout)
        return found

    def rules(self, rollout: str) -> list[str]:
        """Give the rules of a rollout's decisions, in order."""
        return [decision.rule for decision in self.store.rollouts.decisions(rollout)]

    async def reach(self, rollout: str, *phases: str) -> Any:
        """Wait until a rollout is in one of these phases."""
        return await self.until(lambda: self._in(rollout, phases), self.shown(rollout, phases))

    async def end(self, rollout: str) -> Any:
        """Wait until a rollout has ended."""

        def ended() -> RolloutRecord | None:
            record = self.store.rollouts.get_rollout(rollout)
            return record if record is not None and record.ended is not None else None

        return await self.until(ended, self.shown(rollout, ("its end",)))

    async def until(self, found: Any, shown: Any) -> Any:
        """Wait until something is found."""
        began = time.monotonic()
        while (value := found()) in (None, False):
            assert time.monotonic() - began < PATIENCE_S, shown()
            await asyncio.sleep(0.05)
        return value

    def _in(self, rollout: str, phases: tuple[str, ...]) -> RolloutRecord | None:
        record: RolloutRecord | None = self.store.rollouts.get_rollout(rollout)
        if record is None or record.phase in phases:
            return record
        assert record.ended is None, self.shown(rollout, phases)()
        return None

    def shown(self, rollout: str, awaited: tuple[str, ...]) -> Any:
        """Give what tells a failing test how far the rollout came."""
        return lambda: f"{awaited} not reached: {self.rules(rollout)}"
