"""Whoever watches a run learns of waits while nothing else happens."""

from __future__ import annotations

import pytest

from denv.records import Endpoint, Side
from denv.runner import Progress, run_parity
from denv.store import open_store
from tests import suites
from tests.stubs import StubServer, answers


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    opened = open_store(tmp_path / "home")
    yield opened
    opened.close()


async def watched(tmp_path, store, stage, watch):
    """Run two cases whose reference answers at once."""
    async with StubServer(stage) as slow, StubServer() as reference:
        return await run_parity(
            suites.load(tmp_path, suites.numbered(2)),
            stage=Endpoint(slow.url, retries=2),
            reference=Endpoint(reference.url, retries=0),
            store=store,
            watch=watch,
        )


def refusing(asked: str):
    """Refuse a question once with 429 and Retry-After 3."""
    refused: list[int] = []

    def handler(request, n):
        content = request["messages"][-1]["content"]
        if content == asked and not refused:
            refused.append(n)
            return answers.error(429, "slow down", headers={"Retry-After": "3"})
        return answers.completion(content)

    return handler


@pytest.mark.parametrize("asked", ["Hello", "number 1;"])
async def test_a_wait_is_told_while_it_lasts(tmp_path, store, asked):
    """A Retry-After of 3 s is told every second of it, in the preflight as in a case."""
    seen: list[Progress] = []
    report = await watched(tmp_path, store, refusing(asked), seen.append)
    held = [each.held for each in seen if each.held]
    assert len(held) >= 2
    assert all(set(each) == {Side.STAGE} for each in held)
    assert held[0][Side.STAGE] in {f"stage asks to wait {n} s (429)" for n in (2, 3)}
    assert held[-1][Side.STAGE] in {f"stage asks to wait {n} s (429)" for n in (1, 2)}
    assert {each.waits for each in seen if each.held} == {1}
    assert seen[-1].held == {}
    assert report.head["verdict"] == "pass"


async def test_what_a_watcher_raises_ends_the_run(tmp_path, store):
    """A fault of the watcher between two cases is not swallowed."""

    def watch(progress):
        if progress.held:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await watched(tmp_path, store, refusing("Hello"), watch)
