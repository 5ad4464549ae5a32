"""What parity runs make of a side that is the adapter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from denv.records import Endpoint, Side
from denv.report import validate
from denv.runner import run_parity
from denv.store import Store, open_store
from tests import suites
from tests.adapter.asking import FLASH, served
from tests.adapter.scripted import Scripted, said

THINKING = "In thinking mode the {} samples at temperature 1.0 in spite of temperature 0"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Open a store in a fresh data folder."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    opened = open_store(tmp_path / "home")
    yield opened
    opened.close()


async def report(tmp_path: Path, store: Store, **extra: Any) -> dict[str, Any]:
    """Run a small suite with the adapter on both sides, the stage with extra fields."""
    async with served(Scripted(said(["a</think>number 1;"]))) as (session, _):
        url = f"{session._base_url}".rstrip("/") + "/v1"
        side = Endpoint(url=url, model=FLASH, retries=0)
        stage = Endpoint(url=url, model=FLASH, retries=0, extra=extra)
        suite = suites.load(tmp_path, suites.numbered(2))
        made = await run_parity(suite, stage=stage, reference=side, settings=None, store=store)
        document = {**made.head, "cases": list(made.cases())}
    validate(document)
    return document


async def test_reports_say_that_thinking_samples(tmp_path: Path, store: Store) -> None:
    """Both sides say it themselves, nobody has to declare it, and the report repeats it."""
    document = await report(tmp_path, store)
    for side in Side:
        assert document[side.value]["sampled"] is True
        assert any(limit.startswith(THINKING.format(side)) for limit in document["limits"])


async def test_without_thinking_it_is_not_said(tmp_path: Path, store: Store) -> None:
    """A side that is asked not to think is greedy, and nothing is said of it."""
    document = await report(tmp_path, store, thinking={"type": "disabled"})
    assert document["stage"]["sampled"] is False
    assert document["reference"]["sampled"] is True
    said_ = json.dumps(document["limits"])
    assert THINKING.format(Side.STAGE) not in said_
    assert THINKING.format(Side.REFERENCE) in said_
