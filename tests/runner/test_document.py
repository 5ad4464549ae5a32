"""What a report says of a run beside its counts."""

from __future__ import annotations

import pytest

from denv.records import Endpoint, Side
from denv.runner import Settings, run_parity
from denv.store import open_store
from tests import suites
from tests.stubs import StubServer, answers


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))


async def head_of(tmp_path, handler, **settings):
    """Run a small suite between two servers of one handler; give the report's head."""
    store = open_store(tmp_path / "home")
    async with StubServer(handler) as stub:
        side = Endpoint(url=stub.url, model="stub", retries=0)
        suite = suites.load(tmp_path, suites.numbered(4))
        report = await run_parity(
            suite, stage=side, reference=side, settings=Settings(**settings), store=store
        )
    store.close()
    return report.head


async def test_mixed_backends_are_said(tmp_path):
    """Two fingerprints of one side make two groups and a sentence among the limits."""

    def handler(request, n):
        content = request["messages"][-1]["content"]
        return {**answers.completion(content), "system_fingerprint": f"f{'1' in content}"}

    head = await head_of(tmp_path, handler)
    assert sorted(g["value"] for g in head["stage"]["groups"]) == ["fFalse", "fTrue"]
    assert any("mixed backends (2 values of system_fingerprint)" in text for text in head["limits"])


async def test_one_backend_is_not_mixed(tmp_path):
    """A side with one fingerprint has no groups, and nothing is said of it."""
    head = await head_of(
        tmp_path, lambda request, n: {**answers.completion("x"), "system_fingerprint": "f"}
    )
    assert head["stage"]["groups"] == []
    assert not any("mixed" in text for text in head["limits"])


async def test_chance_of_a_worse_stage_is_said(tmp_path):
    """Four counted cases leave a 90 % stage a chance of 0.9⁴ = 66 % to pass them all."""
    head = await head_of(tmp_path, answers.echo())
    assert any("exact: 4 counted" in text and "66%" in text for text in head["limits"])
    assert head["kinds"]["exact"]["power"]["0.95"] == pytest.approx(0.95**4)


@pytest.mark.parametrize("deterministic", [True, False])
async def test_chance_failures_are_a_limit_of_most_engines(tmp_path, deterministic):
    """Only for an engine that declares itself deterministic nothing is said of chance."""
    engine = {"name": "e", "version": None, "deterministic": deterministic}
    head = await head_of(tmp_path, answers.echo(), engine=engine)
    assert head["engine"] == engine
    assert any("by chance" in text for text in head["limits"]) is not deterministic


async def test_settings_and_versions_are_shown(tmp_path):
    """The report names its suite by digest, its settings, and the program's version."""
    head = await head_of(tmp_path, answers.echo(), max_tokens=77, release="r8", recipe="smollm2")
    assert (head["release"], head["recipe"]) == ("r8", "smollm2")
    assert head["settings"]["max_tokens"] == 77
    assert head["settings"]["coverage"] == "90 %"
    assert len(head["suite"]["sha256"]) == 64
    assert head["denv"]["version"]
    assert head[Side.STAGE]["model"] == "stub"
