"""Whole runs between real servers: the same weights, spoiled answers, rounded weights."""

from __future__ import annotations

import json

import pytest

from denv.lab.faults import Faults, faulty
from denv.lab.server import ServerConfig, serve
from denv.lab.templates import template
from denv.records import Endpoint, Kind, Thresholds
from denv.release import parse_share
from denv.report import validate
from denv.runner import Settings, run_parity
from denv.store import open_store
from denv.suite import load_suite
from tests import suites

pytestmark = [pytest.mark.lab, pytest.mark.asyncio(loop_scope="session")]

THREE_LINES = """\
{"id": "math-1", "messages": [{"role": "user", "content": "What is 17 * 23?"}], "expect": {"contains": "391"}}
{"id": "weather-tool", "messages": [{"role": "user", "content": "Weather in Paris?"}], "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}], "expect": {"tool-call": {"name": "get_weather", "arguments": {"city": "Paris"}}}}
{"id": "greeting-lp", "messages": [{"role": "user", "content": "Say hello."}], "expect": {"logprobs-close": {"tolerance": 0.05}}}
"""  # noqa: E501 - a suite's lines are as long as they are

SUITE = [
    suites.line(
        "capital",
        "What is the capital of Germany?",
        {"contains": "Berlin"},
        max_tokens=24,
    ),
    suites.line(
        "paris",
        "Weather in Paris?",
        {"tool-call": {"name": "get_weather", "arguments": {"city": "Paris"}}},
        tools=[suites.WEATHER],
        max_tokens=64,
    ),
    suites.line(
        "sky",
        "Why is the sky blue?",
        {"logprobs-close": {"tolerance": 0.05}},
        max_tokens=16,
    ),
]
ALL = Thresholds(rates=dict.fromkeys(Kind, parse_share("100%")))


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))


async def run(tmp_path, suite, stage, reference, **settings):
    """Run between two base URLs; give the validated document and its cases by id."""
    store = open_store(tmp_path / "home")
    try:
        report = await run_parity(
            suite,
            stage=Endpoint(url=stage, model="smollm2", retries=1),
            reference=Endpoint(url=reference, model="smollm2"),
            settings=Settings(**{"max_tokens": 64, **settings}),
            store=store,
        )
        document = {**report.head, "cases": list(report.cases())}
    finally:
        store.close()
    validate(document)
    return document, {case["id"]: case for case in document["cases"]}


async def test_three_lines_run_as_they_stand(tmp_path, lab_server):
    """The small model gets the product wrong, so exact is inconclusive; the rest passes."""
    path = tmp_path / "three.jsonl"
    path.write_text(THREE_LINES, "utf-8")
    document, cases = await run(tmp_path, load_suite(path), lab_server.url, lab_server.url)
    assert cases["math-1"]["outcome"] == "reference-fail"
    assert cases["weather-tool"]["outcome"] == "pass"
    assert cases["greeting-lp"]["outcome"] == "pass"
    assert document["kinds"]["exact"]["verdict"] == "inconclusive"
    assert document["kinds"]["tool-calls"]["verdict"] == "pass"
    assert document["verdict"] == "inconclusive"
    assert document["stage"]["engine"] == "llama.cpp"


@pytest.mark.slow
async def test_each_kind_passes_between_equal_servers(tmp_path, lab_server, weights):
    """Text, tool call and logprobs hold between two servers of the same weights."""
    config = ServerConfig(weights=weights, chat_template=template("tools"))
    async with serve(config) as twin:
        document, _ = await run(
            tmp_path, suites.load(tmp_path, SUITE), twin.url, lab_server.url, thresholds=ALL
        )
    assert document["verdict"] == "pass", json.dumps(document["reasons"])
    assert document["tools"]["trigger_f1"] == 1.0
    assert document["tools"]["schema_accuracy"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["yes", "both"])
async def test_streams_say_the_same(tmp_path, lab_server, stream):
    """Streamed answers of a real server are folded to what it answers whole."""
    suite = suites.load(tmp_path, SUITE)
    url = lab_server.url
    document, _ = await run(tmp_path, suite, url, url, thresholds=ALL, stream=stream)
    assert document["verdict"] == "pass", json.dumps(document["reasons"])


SPOILED = [
    (Faults(drop_tools=True), "paris", ("fail", "template")),
    (Faults(logprob_scale=2.0), "sky", ("unmeasured", None)),
    (Faults(reasoning_in_content="So."), "capital", ("pass", None)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("faults", "case", "right"), SPOILED)
async def test_spoiled_answers_are_seen(tmp_path, lab_server, faults, case, right):
    """A stage that spoils the answers of the same server is told by its outcome and cause."""
    suite = suites.load(tmp_path, SUITE)
    async with faulty(lab_server.url, faults) as stage:
        _, cases = await run(tmp_path, suite, stage, lab_server.url)
    assert (cases[case]["outcome"], cases[case]["cause"]) == right
    if faults.reasoning_in_content:
        assert any("reasoning left in content" in text for text in cases[case]["warnings"])


async def test_stage_that_answers_nothing_but_errors_fails(tmp_path, lab_server):
    """A stage that is down fails the run, though the reference is right."""
    async with faulty(lab_server.url, Faults(error_every=1, error_status=500)) as stage:
        document, cases = await run(tmp_path, suites.load(tmp_path, SUITE), stage, lab_server.url)
    assert document["verdict"] == "fail"
    assert cases == {}


async def test_rounded_weights_fail_logprobs(tmp_path, lab_server, coarse_weights):
    """Weights rounded to four bits differ by more than the tolerance, and the check says where."""
    config = ServerConfig(weights=coarse_weights, chat_template=template("tools"))
    async with serve(config) as stage:
        document, cases = await run(
            tmp_path, suites.load(tmp_path, SUITE), stage.url, lab_server.url, thresholds=ALL
        )
    assert document["verdict"] == "fail"
    assert cases["sky"]["outcome"] == "fail"
