"""The admin listener, and what a router says and keeps to itself, with stubs."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import time
from dataclasses import replace

import pytest

from denv.alarms.signature import signed_headers
from denv.records import Secret
from denv.release import Webhook
from denv.rollout.steps.webhook import WeightsHook
from denv.rollout.weights import Table
from denv.router.log import JsonLines
from denv.router.settings import Tracing
from denv.router.tracing import Tracer
from tests.router.replicas import StubReplica, running, says, table_of

SECRET = "whsec_" + base64.b64encode(b"w" * 32).decode()


def secret_file(folder) -> dict[str, object]:
    (folder / "secret").write_text(SECRET)
    (folder / "secret").chmod(0o600)
    return {"weights-secret": {"key-file": "secret"}}


async def test_the_rollouts_step_posts_and_reads_back(tmp_path, monkeypatch):
    """What the rollout's own step posts is used at once, read back, and there after a restart."""
    monkeypatch.setenv("WEIGHTS_SECRET", SECRET)
    async with StubReplica() as a, StubReplica() as b:
        first, second = table_of((a.url, 1)), table_of((b.url, 1), version=2)
        async with running(tmp_path, first, **secret_file(tmp_path)) as router:
            hook = Webhook.model_validate(
                {"url": f"{router.routing.admin}/weights", "secret-env": "WEIGHTS_SECRET"}
            )
            async with WeightsHook(hook, clock=time.time) as weights:
                assert await weights.get() == first
                assert await weights.post(second) is None
                assert await weights.get() == second
                assert await weights.post(second) is None
                assert "409" in str(await weights.post(first))
            assert (await router.chat())[0] == 200
            assert len(b.seen) == 1
        async with running(tmp_path, None, **secret_file(tmp_path)) as router:
            assert Table.from_json((await router.admin("/weights"))[1]) == second


async def test_a_table_may_come_by_post_alone(tmp_path):
    """Without a file a router begins without a table, says 503, and takes what is posted."""
    async with StubReplica() as a:
        settings = {"table": None, **secret_file(tmp_path)}
        async with running(tmp_path, None, **settings) as router:
            assert (await router.chat())[0] == 503
            assert (await router.admin("/weights"))[0] == 404
            body = table_of((a.url, 1)).to_json()
            headers = signed_headers(Secret(SECRET), message="m", sent=time.time(), body=body)
            url = f"{router.routing.admin}/weights"
            async with router.session.post(url, data=body, headers=headers) as response:
                assert response.status == 200
            assert (await router.chat())[0] == 200


@pytest.mark.parametrize("wrong", ["none", "body", "old", "secret", "form", "letters"])
async def test_only_signed_tables_are_taken(tmp_path, wrong):
    """A signature that is missing, old, of another secret or of another body changes nothing."""
    table = table_of(("http://127.0.0.1:1/v1", 1), version=9)
    body = table.to_json()
    secret = SECRET if wrong != "secret" else "whsec_" + base64.b64encode(b"x" * 32).decode()
    sent = time.time() - (1000 if wrong == "old" else 0)
    headers = signed_headers(Secret(secret), message="m", sent=sent, body=body)
    if wrong == "none":
        headers = {}
    if wrong == "form":
        headers["webhook-timestamp"] = "1" * 50
    if wrong == "letters":
        headers["webhook-signature"] = "v1,é"
    async with (
        StubReplica() as a,
        running(tmp_path, table_of((a.url, 1)), **secret_file(tmp_path)) as router,
    ):
        url = f"{router.routing.admin}/weights"
        data = body + b" " if wrong == "body" else body
        async with router.session.post(url, data=data, headers=headers) as response:
            assert response.status == 401
        assert b'"table": 1' in (await router.admin("/health"))[1]


async def test_a_table_of_another_stage_is_not_taken(tmp_path):
    """What another stage's rollout posts to the wrong router changes nothing, however new it is."""
    async with (
        StubReplica() as a,
        running(tmp_path, table_of((a.url, 1)), **secret_file(tmp_path)) as router,
    ):
        theirs = replace(table_of((a.url, 1), version=9), stage="http://other.example.com/v1")
        body = theirs.to_json()
        headers = signed_headers(Secret(SECRET), message="m", sent=time.time(), body=body)
        url = f"{router.routing.admin}/weights"
        async with router.session.post(url, data=body, headers=headers) as response:
            assert response.status == 422
            assert "another stage" in (await response.json())["reason"]
        assert b'"table": 1' in (await router.admin("/health"))[1]


async def test_a_post_needs_a_secret(tmp_path):
    """A router without a weights secret takes no table by post."""
    async with StubReplica() as a, running(tmp_path, table_of((a.url, 1))) as router:
        url = f"{router.routing.admin}/weights"
        async with router.session.post(url, data=b"{}") as response:
            assert response.status == 403


async def test_shapes_of_traffic_are_counted(tmp_path):
    """Chat requests without a permit are counted by shape; no content of them is there."""
    async with StubReplica() as a, running(tmp_path, table_of((a.url, 1))) as router:
        for _ in range(25):
            assert (await router.chat())[0] == 200
        status, body = await router.admin("/shapes")
        found = json.loads(body)
        assert (status, found["schema"], found["requests"]) == (200, "denv.shapes/1", 25)
        assert [cell["count"] for cell in found["cells"]] == [25]


async def test_clients_reach_no_admin(tmp_path):
    """Nothing of the admin listener is answered where clients ask."""
    async with StubReplica() as a, running(tmp_path, table_of((a.url, 1))) as router:
        base = router.url.removesuffix("/v1")
        for path in ("/health", "/metrics", "/weights", "/v1/weights"):
            async with router.session.get(f"{base}{path}") as response:
                assert response.status == 404


async def test_metrics_are_written_as_prometheus_reads_them(tmp_path):
    """Counters and histograms count each request once, and are parsed by the library itself."""
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415

    async with StubReplica() as a, running(tmp_path, table_of((a.url, 1))) as router:
        for _ in range(3):
            await router.chat()
        await router.chat(b"{")
        text = (await router.admin("/metrics"))[1].decode()
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    labels = (("code", "2xx"), ("replica", "a"), ("route", "chat/completions"))
    assert samples["denv_router_requests_total", *labels] == 3
    assert samples[("denv_router_first_byte_seconds_count", ("replica", "a"))] == 3
    assert samples[("denv_router_added_seconds_bucket", ("le", "+Inf"))] == 3
    assert samples[("denv_router_table_version",)] == 1


PLANTED = ("planted-prompt", "planted-answer", "planted-key", "planted-header", "planted-query")


class _Kept:
    """An exporter that keeps spans."""

    def __init__(self):
        self.spans = []

    def export(self, spans):
        self.spans.extend(spans)

    def shutdown(self):
        """Nothing is open."""


async def test_content_and_keys_are_said_nowhere(tmp_path, caplog, capfd, monkeypatch):
    """Prompts, answers and keys stand in no log, metric, trace, file or admin answer."""
    monkeypatch.setenv("CLIENT_KEY", "planted-key-1")
    monkeypatch.setenv("UPSTREAM_KEY", "planted-key-2")
    caplog.set_level(logging.DEBUG)
    kept = _Kept()
    tracer = Tracer(Tracing.model_validate({"endpoint": "http://127.0.0.1:9"}), exporter=kept)
    said = []
    async with (
        StubReplica(says(b'{"planted-answer":1}')) as a,
        StubReplica(says(b"planted-answer", status="500 planted-answer")) as b,
        running(
            tmp_path,
            table_of((a.url, 0.5), (b.url, 0.5)),
            tracer=tracer,
            clients=[{"name": "one", "key-env": "CLIENT_KEY"}],
            upstream={
                "credentials": [
                    {"hosts": ["http://127.0.0.0/8:" + str(a.port)], "key-env": "UPSTREAM_KEY"}
                ]
            },
        ) as router,
    ):
        headers = {"Authorization": "Bearer planted-key-1", "x-planted": "planted-header"}
        for body in (b'{"model":"planted-prompt"}', b'{"planted-prompt":1,', b"\xff"):
            await router.chat(body, headers=headers, path="chat/completions?q=planted-query")
            await router.chat(body, headers={"x-api-key": "planted-key-3"}, path="messages")
        await router.chat(headers={**headers, "denv-permit": "planted-key-4"})
        await _nonsense(router.url)
        said += [
            (await router.admin(path))[1].decode() for path in ("/health", "/metrics", "/weights")
        ]
    out, err = capfd.readouterr()
    said += [out, err, "\n".join(JsonLines().format(record) for record in caplog.records)]
    said += [span.to_json() for span in kept.spans]
    said += [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept.spans) == 7
    assert not [word for word in PLANTED for text in said if word in text]


async def _nonsense(url: str) -> None:
    """Send what is no HTTP, with secrets in it."""
    port = int(url.split(":")[2].split("/", maxsplit=1)[0])
    for sent in (
        b"planted-prompt\r\n\r\n",
        b"GET / HTTP/1.1\r\nplanted-header\x00: planted-key\r\n\r\n",
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        await reader.read()
        writer.close()


async def test_traces_stay_on_our_side(tmp_path):
    """A traced request takes no context to the replica, and its span none of the caller's."""
    kept = _Kept()
    tracer = Tracer(Tracing.model_validate({"endpoint": "http://127.0.0.1:9"}), exporter=kept)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with StubReplica() as a:
        async with running(tmp_path, table_of((a.url, 1)), tracer=tracer) as router:
            await router.chat(headers={"traceparent": parent})
        assert "traceparent" not in dict(a.seen[0].headers)
    (span,) = kept.spans
    assert span.parent is None
    assert json.loads(span.to_json())["attributes"]["denv.replica"] == "a"
