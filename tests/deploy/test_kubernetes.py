"""The CronJob and both AnalysisTemplates: valid as documented, and their commands are real ones."""

from __future__ import annotations

import asyncio
import json
import re

import aiohttp
import kubernetes_validate
import pytest
from jsonschema import Draft202012Validator

from denv.records import Secret
from denv.serve.gatehook import gate_app
from tests.deploy.conftest import manifest
from tests.deploy.fields import ANALYSIS_TEMPLATE, CANARY
from tests.serve.mounting import mounted

VERSIONS = ("1.28", "1.31", kubernetes_validate.latest_version())
TEMPLATES = ("argo/analysis-template-job.yaml", "argo/analysis-template-web.yaml")
TOKEN = "token-0123456789"
HOST = "http://denv.models:8090"
PHASES = {"pass": "Successful", "fail": "Failed", "inconclusive": "Inconclusive"}


def filled(value, **arguments):
    """Put an AnalysisRun's arguments into a metric, as Argo does, into its JSON."""
    text = json.dumps(value)
    for name, given in arguments.items():
        text = re.sub(r"\{\{ *args\." + name + r" *\}\}", given, text)
    assert "{{" not in text
    return json.loads(text)


def command_of(container, *, etc, data):
    """Give a container's words with its mounts in their places of the test."""
    words = [*container["command"], *container["args"]]
    return [w.replace("/etc/denv", str(etc)).replace("/var/lib/denv", str(data)) for w in words]


# ---------------------------------------------------------------- CronJob


@pytest.mark.parametrize("version", VERSIONS)
def test_the_cronjob_is_valid(version):
    """Kubernetes' own schemas take it, strictly: no field that they do not know."""
    kubernetes_validate.validate(manifest("kubernetes/cronjob.yaml"), version, strict=True)


def test_the_validator_does_refuse():
    """The same with a field that does not exist is refused, so the test above says something."""
    wrong = manifest("kubernetes/cronjob.yaml")
    wrong["spec"]["jobTemplate"]["spec"]["backofLimit"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1), ("inconclusive", 1)])
async def test_the_cronjobs_command(release, run, tmp_path, verdict, code):
    """Its command passes, fails, and takes an inconclusive run for a failed Job."""
    pod = manifest("kubernetes/cronjob.yaml")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    etc = await release(verdict)
    ended = await run(*command_of(pod["containers"][0], etc=etc, data=tmp_path / "data"))
    assert ended.code == code, ended.err
    assert json.loads(ended.out)["verdict"] == verdict


# ---------------------------------------------------------------- Argo Rollouts


@pytest.mark.parametrize("path", TEMPLATES)
def test_analysis_templates_have_documented_fields_only(path):
    """Every field is one that Argo Rollouts documents, of the type it documents."""
    Draft202012Validator(ANALYSIS_TEMPLATE).validate(manifest(path))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_job_inside_is_valid(version):
    """The Job's spec, which Argo hands to Kubernetes, is valid there."""
    metric = manifest(TEMPLATES[0])["spec"]["metrics"][0]
    spec = filled(metric["provider"]["job"]["spec"], release="chat", run="chat-7d4f")
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": spec}
    kubernetes_validate.validate(job, version, strict=True)


@pytest.fixture
async def server(tmp_path, stack, monkeypatch):
    """Serve the gate over the releases and the data of the test; gives its URL."""
    monkeypatch.setenv("REFERENCE_KEY", "key-of-a-test")
    hook = gate_app(releases=tmp_path / "etc", data=tmp_path / "data", token=Secret(TOKEN))
    return await stack.enter_async_context(mounted("/gate", hook))


async def measure(session, metric, server):
    """Measure once as Argo's web provider does: a phase, Error for any status but 2xx."""
    asked = metric["provider"]["web"]
    headers = {each["key"]: each["value"] for each in asked["headers"]}
    url = asked["url"].replace(HOST, server)
    method = asked.get("method", "GET")
    async with session.request(method, url, data=asked.get("body"), headers=headers) as answer:
        if not 200 <= answer.status < 300:
            return "Error"
        document = await answer.json()
    result = document[asked["jsonPath"].removeprefix("{$.").removesuffix("}")]

    def holds(condition):
        return eval(condition.replace("||", " or "), {"result": result})

    if holds(metric["successCondition"]):
        return "Successful"
    if "failureCondition" not in metric or holds(metric["failureCondition"]):
        return "Failed"
    return "Inconclusive"


async def measured(metric, server, *, pause_s=0.2):
    """Measure until there is a phase, at most as often as the metric's limit of errors allows."""
    async with aiohttp.ClientSession() as session:
        for _ in range(metric["consecutiveErrorLimit"] + 1):
            phase = await measure(session, metric, server)
            if phase != "Error":
                return phase
            await asyncio.sleep(pause_s)
    return "Error"


@pytest.mark.parametrize("verdict", PHASES)
async def test_the_web_templates_requests(release, server, verdict):
    """Start, wait and read as the template says: an inconclusive run is Inconclusive."""
    await release(verdict)
    template = manifest(TEMPLATES[1])
    start, parity = filled(
        template["spec"]["metrics"], release="chat", run="chat-7d4f", token=TOKEN
    )
    assert await measured(start, server) == "Successful"
    assert await measured(parity, server) == PHASES[verdict]


async def test_a_wrong_token_measures_nothing(release, server):
    """Without the right token each measurement is an error, never a success."""
    await release()
    metrics = manifest(TEMPLATES[1])["spec"]["metrics"]
    for metric in filled(metrics, release="chat", run="chat-7d4f", token="wrong"):
        async with aiohttp.ClientSession() as session:
            assert await measure(session, metric, server) == "Error"


@pytest.mark.parametrize("verdict", PHASES)
async def test_the_job_templates_command_and_its_verdict(release, run, server, tmp_path, verdict):
    """The Job alone cannot say Inconclusive, so it succeeds, and the second metric says it."""
    etc = await release(verdict)
    job, parity = filled(
        manifest(TEMPLATES[0])["spec"]["metrics"], release="chat", run="chat-7d4f", token=TOKEN
    )
    async with aiohttp.ClientSession() as session:
        assert await measure(session, parity, server) == "Error"
    container = job["provider"]["job"]["spec"]["template"]["spec"]["containers"][0]
    ended = await run(*command_of(container, etc=etc, data=tmp_path / "data"))
    assert ended.code == (1 if verdict == "fail" else 0), ended.err
    assert await measured(parity, server) == PHASES[verdict]


# ---------------------------------------------------------------- Flagger


def test_the_canary_has_documented_fields_only():
    """Every field is in Flagger's own CRD, with a hook type that it lists."""
    Draft202012Validator(CANARY).validate(manifest("flagger/canary.yaml"))


@pytest.mark.parametrize(
    ("verdict", "advance", "rollback"),
    [("pass", 200, 412), ("fail", 412, 200), ("inconclusive", 412, 412)],
)
async def test_the_canarys_hooks(release, server, verdict, advance, rollback):
    """Traffic rises only after a pass, only a failure rolls back; inconclusive waits."""
    await release(verdict)
    canary = manifest("flagger/canary.yaml")
    assert await asked(canary, server, settled=True) == [advance, rollback]


async def asked(canary, server, *, settled):
    """Call each hook as Flagger does, until none says that the gate is running."""
    statuses = []
    async with aiohttp.ClientSession() as session, asyncio.timeout(60):
        for hook in canary["spec"]["analysis"]["webhooks"]:
            payload = {
                "name": canary["metadata"]["name"],
                "namespace": canary["metadata"]["namespace"],
                "phase": "Progressing",
                "checksum": "6f8c9d7b5d",
                "metadata": {**hook["metadata"], "token": TOKEN},
            }
            while True:
                async with session.post(hook["url"].replace(HOST, server), json=payload) as answer:
                    status = answer.status
                if status != 425 or not settled:
                    break
                await asyncio.sleep(0.2)
            statuses.append(status)
    return statuses
