"""``--stage-replica``: named replicas on the command line."""

from __future__ import annotations

import json

import pytest

from tests import suites
from tests.stubs import StubServer


@pytest.fixture
def suite(tmp_path):
    return suites.write(tmp_path, suites.numbered(4))


async def test_replicas_are_asked_with_the_stages_key(denv, suite, monkeypatch):
    """Each named replica gets its cases and the key that is named beside it; resumed too."""
    monkeypatch.setenv("STAGE_KEY", "s3cret-key")
    async with StubServer() as a, StubServer() as b, StubServer() as reference:
        ended = await denv(
            *("parity", "run", "--suite", suite, "--json", "-", "--quiet"),
            *("--stage", "http://127.0.0.1:9/v1", "--stage-key-env", "STAGE_KEY"),
            *("--stage-replica", f"a={a.url}", "--stage-replica", f"b={b.url}"),
            *("--reference", reference.url),
        )
        assert ended.code == 0, ended.err
        report = json.loads(ended.out)
        assert report["stage"]["replicas"] == ["a", "b"]
        assert [case["stage"]["replica"] for case in report["cases"]] == ["a", "b", "a", "b"]
        for stub in (a, b):
            assert {s.headers.get("Authorization") for s in stub.seen} == {"Bearer s3cret-key"}
        before = len(a.seen) + len(b.seen)
        again = await denv("parity", "run", "--resume", report["run"], "--quiet")
        assert again.code == 0, again.err
        assert len(a.seen) + len(b.seen) == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a"], "write it as NAME=URL"),
        (["=http://127.0.0.1:1/v1"], "write it as NAME=URL"),
        (["a b=http://127.0.0.1:1/v1"], "write it as NAME=URL"),
        (["a=http://127.0.0.1:1/v2"], "--stage-replica a: "),
        (["a=http://u:pw@127.0.0.1:1/v1"], "leave credentials out"),
        (["a=http://127.0.0.1:1/v1", "a=http://127.0.0.1:2/v1"], "the name a stands for two"),
        (["a=http://127.0.0.1:1/v1", "b=http://127.0.0.1:1/v1/"], "have the same URL"),
    ],
)
async def test_wrong_replicas(denv, suite, given, said):
    """What is no NAME=URL, or stands twice, is exit 2 in one line that shows no credential."""
    options = [word for text in given for word in ("--stage-replica", text)]
    sides = ("--stage", "http://127.0.0.1:9/v1", "--reference", "http://127.0.0.1:9/v1")
    ended = await denv("parity", "run", "--suite", suite, *sides, *options)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.lines) == 1
    assert "pw" not in ended.err
