"""What the API gives of a data folder, what it has done, and how it says no."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import cast

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from denv.errors import StoreError
from denv.report.model import validate
from denv.schemas import schema
from denv.serve.api import api_app
from denv.serve.api.application import openapi_document
from denv.serve.context import ServeContext
from denv.store import MeasureRecord, Raise, SqlStore
from tests.serve.api.conftest import let_in

DESCRIBED = Path(__file__).parents[3] / "docs" / "openapi.json"
POSTS = [
    (f"/rollouts/chat-baking-1/{word}", body)
    for word, body in [
        ("promote", {}),
        ("rollback", {"reason": "slow"}),
        ("cancel", {}),
    ]
] + [
    ("/schedules/nightly/trigger", {}),
    ("/schedules/nightly/pause", {"reason": "moving house"}),
    ("/schedules/paused/resume", {}),
]


def reason(answer, status):
    """Give why not; the answer has the one form of errors."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert list(body) == ["reason"]
    return body["reason"]


@pytest.fixture(scope="module")
def failed(client):
    """Give the run whose stage was wrong."""
    return client.get("/runs", params={"verdict": "fail"}).json()["runs"][0]["run"]


def test_runs_come_in_pages(client):
    """Following `next` gives each run once, as one large page does."""
    every = [row["run"] for row in client.get("/runs?limit=200").json()["runs"]]
    found, cursor = [], None
    while True:
        page = client.get("/runs", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))
        found += [row["run"] for row in page.json()["runs"]]
        cursor = page.json()["next"]
        if cursor is None:
            break
    assert found == every
    assert len(every) == 5


@pytest.mark.parametrize("name", ["rollouts", "alarms"])
def test_other_lists_come_in_pages_too(client, context, name):
    """Following `next` gives each entry once, as one large page does; those of one time too."""
    for number in "132":
        late = Raise(f"o{number}", f"i{number}", "parity-missed", "s", "r", "late", at=5.0)
        context.store.alarms.raise_alarm(late)
    every = client.get(f"/{name}?limit=200").json()
    found: list[dict] = []
    cursor = None
    while cursor is not None or not found:
        given = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        page = client.get(f"/{name}", params=given).json()
        found += page[name]
        cursor = page["next"]
    assert (found, every["next"]) == (every[name], None)
    assert len(found) > 1
    assert "cursor" in reason(client.get(f"/{name}?cursor=x"), 422)


def test_the_history_of_a_schedule_comes_in_pages(client):
    """The latest firings come first, and the page after has those before them."""
    every = client.get("/schedules/nightly").json()
    last = client.get("/schedules/nightly?limit=1").json()
    first = client.get("/schedules/nightly", params={"limit": 1, "cursor": last["next"]}).json()
    assert first["history"] + last["history"] == every["history"]
    assert (first["next"], every["next"]) == (None, None)


def test_a_stage_says_whose_verdict_stands(client, failed):
    """That is the last full run that has ended, beside the one that was started last."""
    found = {each["standing"]["run"]: each for each in client.get("/stages").json()["stages"]
             if each["standing"]}  # fmt: skip
    assert found[failed]["standing"]["verdict"] == "fail"
    assert {each["purpose"] for each in client.get("/runs").json()["runs"]} == {"parity"}


def test_gates_say_what_they_admit_and_no_verdict(client, context):
    """There is no word like a verdict for gates; other instruments admit nothing."""
    document = {"schema": "denv.parity.gates/1", "admissible": {"equals": True, "tokens": False}}
    context.store.create_measure(MeasureRecord("g-1", "gates", 1.0, "running", {}, {}))
    context.store.create_measure(MeasureRecord("g-2", "gates", 2.0, "running", {}, {}))
    context.store.update_measure("g-1", state="finished", document=document, finished=3.0)
    found = {each["measure"]: each for each in client.get("/measures").json()["measures"]}
    assert (found["g-1"]["verdict"], found["g-1"]["admits"]) == (None, ["equals"])
    assert found["g-2"]["admits"] is None
    assert {each["admits"] for name, each in found.items() if not name.startswith("g-")} == {None}


def test_head_is_get_without_the_body(client, failed):
    """Status and headers are those of GET, whatever is asked; what has no GET has no HEAD."""
    for path in (
        "/runs",
        f"/runs/{failed}/report.json",
        "/openapi.json",
        "/runs/none",
        "/runs?x=1",
    ):
        got, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        assert head.headers == got.headers, path
    assert client.head(f"/runs/{failed}/publish").status_code == 405
    assert client.put("/runs").headers["allow"] == "GET, HEAD"
    assert client.put(f"/runs/{failed}/publish").headers["allow"] == "POST"


def test_a_run_with_its_cases(client, failed):
    """Counts and cases agree with each other, with the report, and with its schema."""
    run = client.get(f"/runs/{failed}").json()
    assert sum(each["cases"] for each in run["counts"]) == run["cases"] == 30
    assert run["report"]["verdict"] == "fail"
    report = client.get(f"/runs/{failed}/report.json").json()
    validate(report)
    assert {**run["report"], "cases": report["cases"]} == report
    cases: list[dict] = []
    cursor = None
    while cursor is not None or not cases:
        given = {"limit": 7, **({"cursor": cursor} if cursor else {})}
        page = client.get(f"/runs/{failed}/cases", params=given).json()
        cases += page["cases"]
        cursor = page["next"]
    assert cases == report["cases"]
    failing = client.get(f"/runs/{failed}/cases?outcome=fail").json()["cases"]
    assert [case["id"] for case in failing] == ["c3", "c7", "c9"]
    assert client.get(f"/runs/{failed}/cases/7").json() == failing[1]
    assert "no case 30" in reason(client.get(f"/runs/{failed}/cases/30"), 404)


def test_reports_in_every_form(client, failed):
    """Each form is that of the commands; a run that goes on has none yet."""
    for name, kind, begin in (
        ("report.html", "text/html; charset=utf-8", "<!doctype html>"),
        ("report.xml", "application/xml", "<?xml"),
        ("report.md", "text/markdown; charset=utf-8", "## ❌"),
    ):
        answer = client.get(f"/runs/{failed}/{name}")
        assert answer.headers["content-type"] == kind
        assert answer.text.startswith(begin)
        assert "has not ended" in reason(client.get(f"/runs/run-unfinished/{name}"), 409)
    page = client.get(f"/runs/{failed}/report.html")
    assert "script-src" not in page.headers["content-security-policy"]


def test_an_unfinished_run_has_no_report_and_no_verdict(client):
    """What is not known yet is null, not a guess."""
    run = client.get("/runs/run-unfinished").json()
    assert (run["verdict"], run["finished"], run["report"], run["counts"]) == (None, None, None, [])


def test_a_speed_run_is_a_measurement_without_verdict(client):
    """The list has it with a null verdict, the measurement has the document of its schema."""
    (row,) = client.get("/measures?instrument=speed").json()["measures"]
    assert (row["verdict"], row["state"], row["stage_model"]) == (None, "finished", "stub")
    found = client.get(f"/measures/{row['measure']}").json()
    assert found["document"]["bench"] == row["measure"]
    Draft202012Validator(schema("speed-1")).validate(found["document"])


def test_rollouts_alarms_and_schedules(client):
    """Each is shown with its log: decisions, deliveries, firings."""
    rollouts = {each["rollout"]: each for each in client.get("/rollouts").json()["rollouts"]}
    assert rollouts["chat-failed-1"]["phase"] == "rolled-back"
    assert [each["rollout"] for each in client.get("/rollouts?active=true").json()["rollouts"]] == [
        "chat-baking-1"
    ]
    decisions = client.get("/rollouts/chat-failed-1").json()["decisions"]
    assert decisions[-1]["next_phase"] == "rolled-back"
    (alarm,) = [a for a in client.get("/alarms").json()["alarms"] if a["kind"] == "parity-fail"]
    assert client.get(f"/alarms/{alarm['alarm']}").json() == alarm
    assert alarm["deliveries"]
    shown = client.get("/schedules/nightly").json()
    assert [each["kind"] for each in shown["history"]] == ["full", "full"]
    assert (shown["engine"], shown["engine_missing"]) == (None, "no engine runs here")
    assert client.get("/schedules/paused").json()["paused"] == "moving house"


def test_a_report_is_published_and_taken_back_once(client, context, failed):
    """It is signed and served until it is revoked; again is a conflict."""
    answer = client.post(f"/runs/{failed}/publish", json={"expires_days": 3})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["run"], made["verdict"], made["served"]) == (failed, "fail", True)
    name = made["publication"]
    assert context.store.publications.file(name, "report.intoto.json")
    assert name in [
        each["publication"] for each in client.get("/publications").json()["publications"]
    ]
    assert client.post(f"/publications/{name}/revoke", json={}).json()["served"] is False
    assert "already" in reason(client.post(f"/publications/{name}/revoke", json={}), 409)
    assert reason(client.post("/runs/absent/publish", json={}), 404)
    assert reason(client.post("/runs/run-unfinished/publish", json={}), 409)


def test_a_run_whose_suite_is_gone_is_not_published(client, context, failed):
    """The sentence says where the suite was looked for."""
    record = context.store.get_run(failed)
    suite = Path(record.settings["options"]["suite"])
    suite.rename(suite.with_suffix(".moved"))
    try:
        said = reason(client.post(f"/runs/{failed}/publish", json={}), 409)
    finally:
        suite.with_suffix(".moved").rename(suite)
    assert str(suite) in said


def test_an_alarm_is_resolved_once(client, context):
    """By the caller and with a reason, which stand with it; each sink is owed the news."""
    (alarm,) = [a for a in client.get("/alarms").json()["alarms"] if a["kind"] == "parity-fail"]
    where = f"/alarms/{alarm['alarm']}/resolve"
    assert reason(client.post(where, json={}), 422)
    answer = client.post(where, json={"reason": "the driver\nwas at fault"})
    assert answer.status_code == 200, answer.text
    resolved = answer.json()
    assert resolved["resolved_by"] == r"ann: the driver\nwas at fault"
    assert resolved == client.get(f"/alarms/{alarm['alarm']}").json()
    told = [(each["action"], each["state"]) for each in resolved["deliveries"]]
    assert told.count(("resolve", "waiting")) == len(alarm["deliveries"])
    assert "resolved already" in reason(client.post(where, json={"reason": "again"}), 409)
    assert context.store.alarms.get_alarm(alarm["alarm"]).resolved_by == resolved["resolved_by"]
    for name in ("absent", "%00", "%ED%A0%80"):
        assert reason(client.post(f"/alarms/{name}/resolve", json={"reason": "x"}), 404)


def test_an_override_is_by_the_caller(client, context):
    """Its name stands beside it, whatever the body would claim; a second one is refused."""
    where = "/rollouts/chat-failed-1/override"
    assert reason(client.post(where, json={"reason": "x", "by": "bob"}), 422)
    answer = client.post(where, json={"reason": "the network:\n\x1b[31m\u202eit was"})
    assert answer.status_code == 202, answer.text
    proof = context.store.rollouts.get_rollout("chat-failed-1").proof
    (given,) = context.store.rollouts.overrides(proof)
    assert given.by == "ann"
    assert given.reason == r"the network:\n\x1b[31m\u202eit was"
    assert reason(client.post(where, json={"reason": "again"}), 409)


@pytest.mark.parametrize(("path", "body"), POSTS)
def test_without_an_engine_nothing_is_carried_out(client, path, body):
    """That is said by 503; what is not there, or no body of this form, is told before."""
    assert "without an engine" in reason(client.post(path, json=body), 503)
    assert reason(client.post(path, json={**body, "more": 1}), 422)
    assert reason(
        client.post(
            path.replace("chat-baking-1", "x").replace("nightly", "x").replace("paused", "x"),
            json=body,
        ),
        404,
    )


def test_a_rollout_that_has_ended_takes_no_word(client):
    """Its state forbids it."""
    said = reason(client.post("/rollouts/chat-failed-1/promote", json={}), 409)
    assert said == "rollout chat-failed-1 has ended (rolled-back)"


@pytest.mark.parametrize(
    "query",
    [
        "limit=0", "limit=-1", "limit=99999999999999999999999", "limit=NaN", "limit=1&limit=2",
        "cursor=x", "cursor=nan~x", "cursor=1e999~x", "cursor=-1~x", "cursor=1~%00", "cursor=",
        "verdict=good", "unknown=1", "stage=" + "x" * 5000,
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(client, query):
    """A parameter that means nothing is 422 and names itself."""
    name = query.partition("=")[0]
    assert name in reason(client.get(f"/runs?{query}"), 422)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'{"reason": NaN}', b'{"reason": 1}', b'{"reason": ""}',
        b'{"reason": " \\n"}', b'{"reason": "\\ud800"}', b'{"\\ud800": 1, "reason": "x"}',
        b'{"reason": "' + b"x" * 401 + b'"}', b"\xff\xfe", b"[" * 50_000,
        b'{"reason": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda body: ascii(body[:24]),
)  # fmt: skip
def test_wrong_bodies_are_refused(client, body):
    """Nothing that is no body of the form comes further, and none of it is sent back."""
    answer = client.post(
        "/rollouts/chat-failed-1/override",
        content=body,
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code in {400, 422}
    assert reason(answer, answer.status_code).isprintable()


def test_a_body_too_large_is_refused(client):
    """It is not read to its end."""
    body = b'{"reason": "' + b"x" * 10_000_000 + b'"}'
    assert reason(client.post("/rollouts/chat-failed-1/override", content=body), 413)


@pytest.mark.parametrize(
    "name", ["%00", "%ED%A0%80", "x" * 60_000, "..%2F..", "%0A", "%E2%80%AE", "' OR 1=1"]
)
@pytest.mark.parametrize(
    "path",
    [
        "/runs/{}", "/measures/{}", "/rollouts/{}", "/alarms/{}", "/schedules/{}",
        "/runs/{}/cases", "/runs/{}/report.json",
    ],
)  # fmt: skip
def test_odd_names_are_not_there(client, path, name):
    """Whatever a name holds, there is nothing of that name."""
    assert reason(client.get(path.format(name)), 404)


@pytest.mark.parametrize("index", ["-1", "2147483648", "9" * 400])
def test_odd_indexes_are_not_there(client, failed, index):
    """A case's index may be any number; most are of no case."""
    assert reason(client.get(f"/runs/{failed}/cases/{index}"), 404)
    assert reason(client.get(f"/runs/{failed}/cases/nan"), 422)


def test_other_methods_and_paths(client):
    """They have the form of errors too."""
    assert client.put("/runs").headers["allow"]
    assert reason(client.put("/runs"), 405)
    assert reason(client.get("/nothing"), 404)
    assert reason(client.get("/runs/"), 404)  # led nowhere, least of all to another host


def test_data_that_cannot_be_read_are_a_503(tmp_path, context):
    """The reason names the data, and no request breaks."""

    class Broken:
        def __getattr__(self, name):
            def fail(*_, **__):
                raise StoreError("denv.sqlite3: disk I/O error")

            return fail

    class Store:
        browsing = Broken()

    with TestClient(let_in(api_app(ServeContext(cast("SqlStore", Store()), tmp_path)))) as asking:
        assert reason(asking.get("/runs"), 503) == "denv.sqlite3: disk I/O error"


def test_the_description_is_that_of_the_program():
    """docs/openapi.json is what the API says of itself: DENV_WRITE=1 writes it anew."""
    text = json.dumps(openapi_document(), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("DENV_WRITE"):
        DESCRIBED.write_text(text)
    assert DESCRIBED.read_text() == text


def test_the_description_describes_every_refusal(client):
    """Each operation tells of those by the guard too, and that a token or a session is needed."""
    document = client.get("/openapi.json").json()
    assert document == openapi_document()
    assert document["security"] == [{"bearer": []}, {"session": []}]
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            expected = {"400", "401", "403", "404", "413", "422", "429", "503"}
            if method == "post" or "report." in path:
                expected |= {"409"}
            answers = operation["responses"]
            assert {status for status in answers if status >= "400"} == expected, path
            assert all(answers[status]["content"] == problem for status in expected)
    for part in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(part)
