"""Gates between real servers: equal ones, another template, and what the lab's proxy spoils."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from dataclasses import replace

import jsonschema
import pytest

from denv.instruments.gates import Gates, State
from denv.instruments.gates.context import ask_context, context_checks
from denv.instruments.gates.rendering import find_renderer
from denv.instruments.gates.sampling import sampling_checks
from denv.instruments.gates.template import template_gate
from denv.instruments.gates.tokenizing import find_tokenizer
from denv.instruments.probes import play
from denv.instruments.selfcheck import SelfCheck
from denv.lab.faults import Faults, faulty
from denv.lab.server import ServerConfig, serve
from denv.lab.templates import template
from denv.records import Endpoint, Exchange, Side
from denv.runner.measuring import run_measure
from denv.schemas import schema
from denv.store import open_store

pytestmark = [pytest.mark.lab, pytest.mark.asyncio(loop_scope="session")]

SMALL = Gates(
    SelfCheck(1, 1, ()), context_tokens=200, samples=24, top_p_samples=20, default_tokens=40
)


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))


async def measure(tmp_path, stage, reference):
    """Run all gates between two base URLs; give the validated document, its gates by id."""
    store = open_store(tmp_path / "home")
    try:
        found = await run_measure(
            SMALL,
            stage=Endpoint(url=stage, model="smollm2", retries=1),
            reference=Endpoint(url=reference, model="smollm2", retries=1),
            store=store,
        )
    finally:
        store.close()
    jsonschema.validate(found.document, schema("gates-1"))
    return found, {gate["id"]: gate for gate in found.document["gates"]}


def sender(urls):
    """Answer probes by the servers at these base URLs, without pace and journal."""

    def answer(probe):
        url = urls[probe.side].removesuffix("/v1") + probe.path
        data = json.dumps(dict(probe.body)).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return Exchange(response.status, body=response.read())
        except urllib.error.HTTPError as error:
            return Exchange(error.code, body=error.read())

    return answer


async def played(strand, urls):
    """Play a strand in a thread, beside the loop that runs the proxies."""
    return await asyncio.to_thread(play, strand, sender(urls))


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_equal_servers_pass_every_gate(tmp_path, lab_server, weights):
    """Two servers of the same weights and template: all pass, all is admissible."""
    async with serve(ServerConfig(weights=weights, chat_template=template("tools"))) as twin:
        found, gates = await measure(tmp_path, twin.url, lab_server.url)
    assert {gate["id"]: gate["finding"] for gate in gates.values() if gate["state"] != "pass"} == {}
    assert found.exit_verdict == "pass"
    assert set(found.document["admissible"].values()) == {True}
    assert found.document["stage"]["engine"] == "llama.cpp"


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_scaled_logprobs_fail_the_last_gate(tmp_path, lab_server, weights):
    """Chat logprobs twice as large fail G6 with their factor, and shut out what reads them."""
    config = ServerConfig(weights=weights, chat_template=template("tools"))
    async with (
        serve(config) as twin,
        faulty(twin.url, Faults(logprob_scale=2.0)) as stage,
    ):
        found, gates = await measure(tmp_path, stage, lab_server.url)
    states = {name: gate["state"] for name, gate in gates.items()}
    assert states == dict.fromkeys(("G1", "G2", "G3", "G4", "G5"), "pass") | {"G6": "fail"}
    checks = {(one["check"], one["side"]): one for one in gates["G6"]["evidence"]["checks"]}
    assert checks["logprobs-raw", "stage"]["evidence"]["factor"] == pytest.approx(2.0)
    assert checks["logprobs-factor", None]["evidence"]["factor"] == pytest.approx(2.0)
    assert checks["logprobs-unscaled", "stage"]["state"] == "fail"
    assert checks["logprobs-unscaled", "reference"]["state"] == "pass"
    allowed = found.document["admissible"]
    assert (allowed["tokens"], allowed["logprobs-close"], allowed["contains"]) == (
        False,
        False,
        True,
    )


async def judged_template(urls):
    """Play the template's gate alone."""

    def strand():
        renderers = {}
        for side in Side:
            tokenizer = yield from find_tokenizer(side)
            renderers[side] = yield from find_renderer(side, tokenizer)
        return (yield from template_gate(renderers, same_ids=True))

    return await played(strand(), urls)


@pytest.mark.slow
async def test_another_template_is_named_where_prompts_part(lab_server, weights):
    """The model's own template knows no tools: both prompts are shown where they part."""
    async with serve(ServerConfig(weights=weights)) as stage:
        gate = await judged_template({Side.STAGE: stage.url, Side.REFERENCE: lab_server.url})
    assert gate.state is State.FAIL
    assert gate.finding.startswith("tools: the prompts part at character 87: the stage has `")
    assert r"Face<|im_end|>\n<|im_start|>user\nWhat" in gate.finding
    assert r"Hugging Face\n\nYou can call these functions:\n" in gate.finding
    assert {one.name for one in gate.checks if one.state is State.PASS} >= {"plain", "system"}


@pytest.mark.slow
async def test_tools_that_are_lost_before_the_template(lab_server):
    """The server shows the right prompt, and chat counts fewer tokens than it has."""
    async with faulty(lab_server.url, Faults(drop_tools=True)) as stage:
        gate = await judged_template({Side.STAGE: stage, Side.REFERENCE: lab_server.url})
    assert gate.state is State.FAIL
    assert "tools: the stage's chat counts" in gate.finding


@pytest.mark.slow
@pytest.mark.parametrize(
    ("faults", "says"),
    [
        (Faults(set_fields={"temperature": 0}), "are 24 times the same token"),
        (Faults(), None),
    ],
)
async def test_temperature_is_applied_or_not(lab_server, faults, says):
    """A proxy that sets temperature 0 is found out by samples that are all alike."""
    async with faulty(lab_server.url, faults) as stage:
        strand = sampling_checks(Side.STAGE, hot=24, cut=20, seed=0)
        found = await played(strand, {Side.STAGE: stage})
    check = {one.name: one for one in found}["temperature"]
    assert check.state is (State.PASS if says is None else State.FAIL), check
    assert says is None or says in check.finding


@pytest.mark.slow
@pytest.mark.parametrize("counted", [True, False])
async def test_a_prompt_that_is_cut_silently(lab_server, counted):
    """Its count gives it away; without a tokenizer to compare with, the code at its head does."""
    async with faulty(lab_server.url, Faults(keep_characters=600)) as stage:
        urls = {Side.STAGE: stage, Side.REFERENCE: lab_server.url}

        def strand():
            tokenizer = yield from find_tokenizer(Side.STAGE)
            contexts = {}
            for side in Side:
                known = tokenizer if tokenizer is None else replace(tokenizer, side=side)
                contexts[side] = yield from ask_context(
                    side, known if counted else None, tokens=200
                )
            return context_checks(contexts, drifts=dict.fromkeys(Side, 0.0))

        found = {one.side: one for one in await played(strand(), urls)}
    assert found[Side.REFERENCE].state is State.PASS, found[Side.REFERENCE]
    assert found[Side.STAGE].state is State.FAIL
    says = "tokens of a prompt that has" if counted else "does not see the head"
    assert says in found[Side.STAGE].finding
