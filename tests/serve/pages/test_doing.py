"""What the forms of the pages do to the data, and what they refuse."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from denv.publish.keys import new_key
from denv.rollout.schedules.timing import Timing
from denv.serve.actions import MOST_REASON
from denv.store import Raise, ScheduleRecord
from denv.store.sql import find_database
from tests import suites
from tests.report import samples
from tests.serve.pages.keeping import keep
from tests.serve.pages.playing import BEGAN, Played

CSRF = {"csrf": "the-token-of-the-form"}


def test_without_an_engine_a_word_is_refused_with_the_reason(context, asked, tmp_path):
    """Nothing can carry it out: 503, and the form keeps what was filled in."""
    played = Played(context.store, tmp_path)
    played.bake()
    path = f"/rollouts/{played.rollout}/rollback"
    answer = asked(context).post(path, data={**CSRF, "reason": "it is <slow>"})
    assert answer.status_code == 503
    assert "without an engine" in answer.text
    assert 'value="it is &lt;slow&gt;"' in answer.text
    assert context.store.rollouts.get_rollout(played.rollout).seq == played.state.steps


def test_a_failure_is_overridden_once(context, asked, tmp_path):
    """The override is kept with who and why; a second one is refused until the first is used."""
    played = Played(context.store, tmp_path)
    played.fail()
    client, path = asked(context), f"/rollouts/{played.rollout}/override"
    assert f'href="{path}"' in client.get(f"/rollouts/{played.rollout}").text
    answer = client.post(path, data={**CSRF, "reason": "the driver was at fault"})
    assert (answer.status_code, answer.headers["location"]) == (
        303, f"/rollouts/{played.rollout}?done=override",
    )  # fmt: skip
    (given,) = context.store.rollouts.overrides(played.plan.proof_digest)
    assert (given.by, given.reason) == ("ann", "the driver was at fault")
    html = client.get(answer.headers["location"]).text
    assert "overridden by ann: the driver was at fault" in html
    assert f'href="{path}"' not in html
    assert client.post(path, data={**CSRF, "reason": "again"}).status_code == 409


@pytest.fixture
def alarm(context):
    given = Raise(
        "once", "id", "parity-fail", "http://stage/v1", "r8", "2 of 40 failed", BEGAN,
        sinks={"hook-1": {"command": {"run": ["true"]}}},
    )  # fmt: skip
    return context.store.alarms.raise_alarm(given).alarm


def test_an_alarm_is_resolved_with_its_reason_and_its_sinks_are_owed_that(context, asked, alarm):
    """Who and why stay with the alarm; each sink is to be told; it is resolved but once."""
    client, path = asked(context), f"/alarms/{alarm}/resolve"
    assert client.post(path, data={**CSRF, "reason": "known fault"}).status_code == 303
    record = context.store.alarms.get_alarm(alarm)
    assert record.resolved_by == "ann: known fault"
    owed = [(d.action.value, d.state.value) for d in context.store.alarms.deliveries(alarm)]
    assert owed == [("fire", "waiting"), ("resolve", "waiting")]
    assert "by ann: known fault" in client.get(f"/alarms/{alarm}").text
    again = client.post(path, data={**CSRF, "reason": "once more"})
    assert again.status_code == 409
    assert "resolved already" in again.text


@pytest.mark.parametrize("reason", ["", "  ", "x" * (MOST_REASON + 1)])
def test_a_reason_must_be_given(context, asked, alarm, reason):
    """Without one nothing is changed."""
    answer = asked(context).post(f"/alarms/{alarm}/resolve", data={**CSRF, "reason": reason})
    assert answer.status_code == 400
    assert "must say why" in answer.text
    assert context.store.alarms.get_alarm(alarm).resolved is None


def test_schedules_need_the_engine(context, asked, tmp_path):
    """Pause, resume and trigger are the engine's; without it the data stay as they were."""
    plan = json.loads(Played(context.store, tmp_path).plan.to_json())
    spec = Timing(every_s=3600.0).to_json()
    context.store.schedules.add_schedule(ScheduleRecord("nightly", BEGAN, spec, plan))
    for word, given in (("pause", {"note": "x"}), ("resume", {}), ("trigger", {})):
        answer = asked(context).post(f"/schedules/nightly/{word}", data={**CSRF, **given})
        assert answer.status_code == 503
    assert context.store.schedules.get_schedule("nightly").paused is None


# ---------------------------------------------------------------- public reports


@pytest.fixture
def run(context, tmp_path):
    """Keep a run whose suite lies where it said."""
    suite = suites.load(tmp_path, suites.numbered(200))
    new_key(context.folder / "publisher.key")
    return keep(
        context.store,
        samples.failing(),
        run="run-7",
        suite_file=tmp_path / "suite.jsonl",
        sha256=suite.sha256,
    )


def test_a_run_is_published_shown_and_taken_back(context, asked, run):
    """Its address and badge are there until it is taken back, and then they are not."""
    client = asked(context)
    given = {"expires": "90d", "stale_after": "14d", "indexed": "on", "with_suite": "on"}
    answer = client.post(f"/published/new?run={run}", data={**CSRF, **given})
    assert answer.status_code == 303, answer.text
    (kept,) = context.store.publications.all()
    assert answer.headers["location"] == f"/published/{kept.publication}"
    assert kept.expires == pytest.approx(kept.created + 90 * 86_400)
    assert (kept.indexed, kept.head["stale_after"]) == (True, "2026-12-15")
    assert context.store.publications.file(kept.publication, "suite.jsonl")
    html = client.get(answer.headers["location"]).text
    address = f"http://testserver/r/{kept.publication}/"
    assert f"[![denv parity]({address}badge.svg)]({address})" in html
    assert f'src="/r/{kept.publication}/badge.svg"' in html
    back = client.post(f"/published/{kept.publication}/revoke", data=CSRF)
    assert back.status_code == 303
    html = client.get(back.headers["location"]).text
    assert "taken back" in html
    assert f"/r/{kept.publication}/" not in html
    assert client.post(f"/published/{kept.publication}/revoke", data=CSRF).status_code == 409


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stale_after": "12h"}, "whole days"),
        ({"stale_after": "9999d"}, "Stale after"),
        ({"stale_after": "soon"}, "Stale after"),
        ({"expires": "<b>"}, "Expires after"),
    ],
)
def test_spans_of_time_are_read_as_the_command_reads_them(context, asked, run, given, words):
    """What is no span of time is refused with the field's name, and nothing is published."""
    answer = asked(context).post(f"/published/new?run={run}", data={**CSRF, **given})
    assert answer.status_code == 400
    assert words in answer.text
    assert context.store.publications.all() == []


def test_a_report_that_was_changed_is_not_published(context, asked, run):
    """What is not the report in the log of runs is refused with what to do."""
    database, _ = find_database(context.folder)
    with database.write() as connection:
        connection.execute(text("UPDATE runs SET head = replace(head, 'fail', 'pass')"))
    database.engine.dispose()
    answer = asked(context).post(f"/published/new?run={run}", data=CSRF)
    assert answer.status_code == 409
    assert "denv db check" in answer.text
    assert not context.store.publications.all()


def test_a_run_that_has_not_ended_is_not_published(context, asked):
    """There is no report of it yet."""
    from denv.store import RunRecord  # noqa: PLC0415

    context.store.create_run(RunRecord("run-1", BEGAN, "running", {"identity": {}}, {}))
    for answer in (
        asked(context).get("/published/new?run=run-1"),
        asked(context).post("/published/new?run=run-1", data=CSRF),
    ):
        assert answer.status_code == 409
        assert "has not ended" in answer.text
