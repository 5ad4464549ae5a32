"""``/metrics``: what it says of stages, how it is written, and what never becomes a label."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text
from starlette.applications import Starlette
from starlette.testclient import TestClient

from denv import Endpoint, Settings, Thresholds, parse_thresholds, run_parity
from denv.serve.context import ServeContext
from denv.serve.metering import MOST_STAGES
from denv.serve.metrics import metrics_routes
from denv.store import Firing, Raise, RolloutRecord, RunRecord, ScheduleRecord
from tests import suites
from tests.report import samples as reports
from tests.serve.pages.showing import app_of
from tests.serve.pages.site import Someone

NOW = 1_800_000_000.0
OPEN = "application/openmetrics-text; version=1.0.0"


@pytest.fixture
def clock():
    """Give a clock that a test sets."""
    return {"now": NOW}


@pytest.fixture
def context(store, tmp_path, clock):
    """Give what serve gives its parts, without an engine."""
    now = lambda: datetime.fromtimestamp(clock["now"], UTC)  # noqa: E731
    return ServeContext(store, tmp_path / "home", now=now)


def scrape(context, accept="text/plain"):
    """Ask once, of a server that has kept nothing."""
    with TestClient(Starlette(routes=metrics_routes(context))) as client:
        return client.get("/metrics", headers={"Accept": accept})


def samples(context):
    """Give each sample by its name and labels, read by the library's own parser."""
    answer = scrape(context)
    assert answer.status_code == 200, answer.text
    found = {}
    for family in plain_text(answer.text):
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.values()))
            assert key not in found
            found[key] = sample.value
    return found


def add_run(store, run, finished, *, url="http://s.test/v1", model="m", head=None, **given):
    """Keep an ended run."""
    identity = {
        "suite": {"name": "core", "sha256": "0" * 64, "cases": 3},
        "stage": {"url": url, "model": model},
        "reference": {"url": "http://r.test/v1", "model": "m"},
    }
    head = {"verdict": "pass", **(head or {})}
    record = RunRecord(
        run, finished - 60, "finished", {"identity": identity}, {}, head=head, finished=finished
    )
    store.create_run(replace(record, **given))


async def test_a_real_run(context, store, serve, tmp_path, clock):
    """Rates, limits, thresholds, tokens and noise are those that the run's report has."""
    suite = suites.load(tmp_path, suites.numbered(20))
    stage, reference = await serve(models=["m"]), await serve(models=["m"])
    report = await run_parity(
        suite,
        stage=Endpoint(url=stage.url),
        reference=Endpoint(url=reference.url),
        settings=Settings(Thresholds(rates=parse_thresholds("exact=90%")), repeats=3),
        store=store,
    )
    clock["now"] = datetime.now(UTC).timestamp() + 100
    found = samples(context)
    kind = report.head["kinds"]["exact"]
    assert found["denv_parity_pass_rate", "exact", stage.url, "m"] == kind["pass_rate"] == 1
    assert found["denv_parity_pass_rate_lower", "exact", stage.url, "m"] == kind["interval"][0]
    assert found["denv_parity_pass_rate_upper", "exact", stage.url, "m"] == kind["interval"][1]
    assert found["denv_parity_threshold", "exact", stage.url, "m"] == 0.9
    assert found["denv_parity_self_agreement", "exact", stage.url, "m", "reference"] == 1
    assert found["denv_parity_verdict", stage.url, "m", "pass"] == 1
    assert found["denv_parity_verdict", "fail", stage.url, "m"] == 0
    assert 100 <= found["denv_parity_age_seconds", stage.url, "m"] < 200
    for side in ("stage", "reference"):
        for what in ("prompt", "completion"):
            spent = found["denv_parity_tokens_total", *sorted((stage.url, "m", side, what))]
            assert spent == report.head[side]["usage"][f"{what}_tokens"] > 0


def test_the_newest_verdict_stands_and_a_cancelled_run_does_not_hide_it(context, store):
    """A failure is not over since somebody has ended the next run."""
    add_run(store, "1", NOW - 300, head={"verdict": "pass"})
    add_run(store, "2", NOW - 200, head={"verdict": "fail"})
    add_run(store, "3", NOW - 100, head={"verdict": "cancelled"}, state="stopped")
    found = samples(context)
    assert found["denv_parity_verdict", "fail", "http://s.test/v1", "m"] == 1
    assert found["denv_parity_verdict", "cancelled", "http://s.test/v1", "m"] == 0
    assert found["denv_parity_age_seconds", "http://s.test/v1", "m"] == 200
    assert found["denv_parity_finished_timestamp_seconds", "http://s.test/v1", "m"] == NOW - 200
    ends = {
        verdict: found["denv_parity_runs_total", *sorted(("http://s.test/v1", "m", verdict))]
        for verdict in ("pass", "fail", "inconclusive", "error", "cancelled")
    }
    assert ends == {"pass": 1, "fail": 1, "inconclusive": 0, "error": 0, "cancelled": 1}


def test_looks_and_golden_prompts_are_no_verdict_of_their_stage(context, store):
    """Verdict, rates and age are of the last full run, as on the overview; all runs are counted."""
    kinds = {"exact": reports.kind(10, 9, 1)}
    add_run(store, "full", NOW - 300, head={"verdict": "pass", "kinds": kinds})
    identity = store.get_run("full").settings["identity"]
    look = {"identity": {**identity, "only": "00"}}
    golden = {"identity": identity, "options": {"purpose": "golden"}}
    replica = {"url": "http://replica.test/v1", "model": "m"}
    add_run(store, "look", NOW - 200, head={"verdict": "fail"}, settings=look)
    add_run(store, "golden", NOW - 100, head={"verdict": "fail"}, settings=golden)
    elsewhere = {**golden, "identity": {**identity, "stage": replica}}
    add_run(store, "replica", NOW - 50, head={"verdict": "fail"}, settings=elsewhere)
    found = samples(context)
    assert found["denv_parity_verdict", "http://s.test/v1", "m", "pass"] == 1
    assert found["denv_parity_age_seconds", "http://s.test/v1", "m"] == 300
    assert (
        found["denv_parity_pass_rate", "exact", "http://s.test/v1", "m"]
        == kinds["exact"]["pass_rate"]
    )
    assert found["denv_parity_runs_total", "fail", "http://s.test/v1", "m"] == 2
    assert not [key for key in found if "denv_parity_age_seconds" in key and replica["url"] in key]
    page = TestClient(app_of(context, Someone())).get("/").text
    assert "full parity run" in page
    shown, _, unproven = page.partition("Without a full parity run")
    assert ("/runs/full" in shown, "/runs/look" in page, "/runs/golden" in page) == (
        True, False, False,
    )  # fmt: skip
    assert ("s.test" in unproven, "replica.test" in unproven, "replica.test" in shown) == (
        False, True, False,
    )  # fmt: skip


def test_counters_never_go_back(context, store, monkeypatch):
    """What was counted stays counted: when runs are pruned, and when one is gone on with."""
    monkeypatch.setattr("denv.serve.metrics.KEPT_S", -1.0)

    def tokens(count):
        return {"verdict": "pass", "stage": {"usage": {"prompt_tokens": count}}}

    add_run(store, "1", NOW - 300, head=tokens(10))
    add_run(store, "2", NOW - 200, head={**tokens(5), "verdict": "cancelled"}, state="stopped")
    with TestClient(Starlette(routes=metrics_routes(context))) as client:

        def read(name):
            wanted = [line for line in client.get("/metrics").text.splitlines() if name in line]
            return [float(line.rsplit(" ", 1)[1]) for line in wanted]

        def spent():
            return read('denv_parity_tokens_total{model="m",side="stage"')

        assert spent() == [15]
        store.update_run("2", state="finished", head=tokens(8), finished=NOW - 100)
        assert spent() == [18]
        assert read('runs_total{model="m",stage="http://s.test/v1",verdict="cancelled"') == [1]
        assert read('runs_total{model="m",stage="http://s.test/v1",verdict="pass"') == [2]
        with closing(store._database.engine.raw_connection()) as connection:
            connection.execute("DELETE FROM runs WHERE run = '1'")
            connection.commit()
        assert spent() == [18]


def test_a_clock_that_ran_ahead_hides_no_later_run(context, store, monkeypatch):
    """An end ahead by days is counted, and so is every one that comes after it in truth."""
    monkeypatch.setattr("denv.serve.metrics.KEPT_S", -1.0)
    add_run(store, "ahead", NOW + 30 * 86_400)
    with TestClient(Starlette(routes=metrics_routes(context))) as client:
        assert 'stage="http://s.test/v1",verdict="pass"} 1.0' in client.get("/metrics").text
        add_run(store, "true", NOW - 60, head={"verdict": "fail"})
        assert 'stage="http://s.test/v1",verdict="fail"} 1.0' in client.get("/metrics").text


def test_a_label_keeps_what_was_counted_when_one_of_its_stages_leaves(context, store, monkeypatch):
    """A stage with and without its model named is one, and stays so when one of them is pruned."""
    monkeypatch.setattr("denv.serve.metrics.KEPT_S", -1.0)
    add_run(store, "1", NOW - 300, model=None, notes={"stage": {"model": "m"}})
    add_run(store, "2", NOW - 200)
    with TestClient(Starlette(routes=metrics_routes(context))) as client:
        counted = 'runs_total{model="m",stage="http://s.test/v1",verdict="pass"} 2.0'
        assert counted in client.get("/metrics").text
        with closing(store._database.engine.raw_connection()) as connection:
            connection.execute("DELETE FROM runs WHERE run = '1'")
            connection.commit()
        assert counted in client.get("/metrics").text
        add_run(store, "3", NOW - 100, model=None, notes={"stage": {"model": "n"}})
        assert counted in client.get("/metrics").text


def test_stages_that_are_shown_alike_are_one(context, store):
    """A stage asked by its only model and by that model's name is one, or a scrape would fail."""
    add_run(store, "1", NOW - 300, model=None, notes={"stage": {"model": "m"}})
    add_run(store, "2", NOW - 200, model="m", head={"verdict": "fail"})
    found = samples(context)
    assert found["denv_parity_runs_total", "http://s.test/v1", "m", "pass"] == 1
    assert found["denv_parity_verdict", "fail", "http://s.test/v1", "m"] == 1


def test_stages_that_nobody_asks_any_more_leave_and_too_many_are_counted(context, store):
    """Series do not pile up for ever."""
    add_run(store, "old", NOW - 40 * 86_400, url="http://old.test/v1")
    for n in range(MOST_STAGES + 3):
        add_run(store, f"{n}", NOW - n, url=f"http://s{n}.test/v1")
    found = samples(context)
    assert found["denv_parity_stages_left_out",] == 3
    assert not [key for key in found if "http://old.test/v1" in key]
    assert len([key for key in found if key[0] == "denv_parity_age_seconds"]) == MOST_STAGES


def test_labels_hold_nothing_hostile_or_secret(context, store):
    """A model's name may be anything: quotes, line breaks, escapes, or very long."""
    model = 'x"} 1\nevil_metric 1\n\x1b[2J\u202e\\' + "y" * 5000
    add_run(store, "1", NOW, url="http://user:hunter2@s.test/v1", model=model)
    for accept in ("text/plain", OPEN):
        text = scrape(context, accept).text
        assert "hunter2" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\nevil_metric" not in text
    (label,) = {sample.labels["model"] for sample in _family(text, "denv_parity_age_seconds")}
    assert len(label) < 300


def _family(text, name):
    return [s for family in open_metrics(text) if family.name == name for s in family.samples]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "text/plain"),
        ("*/*", "text/plain"),
        ("text/plain;version=0.0.4", "text/plain"),
        (f"{OPEN},text/plain;version=0.0.4;q=0.5", "application/openmetrics-text"),
        ("application/openmetrics-text; version=nonsense", "application/openmetrics-text"),
        ("application/openmetrics-textual", "text/plain"),
        ("text/plain; version=1.0.0; escaping=nonsense", "text/plain"),
        (";;;=,=;" * 5000, "text/plain"),
    ],
)
def test_the_form_is_the_one_that_is_asked_for(context, store, accept, kind):
    """Both forms can be read by their parsers, whatever was asked for; OpenMetrics has its end."""
    add_run(store, "1", NOW)
    answer = scrape(context, accept)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)
    parse = open_metrics if kind.startswith("application") else plain_text
    assert "denv_parity_age_seconds" in {family.name for family in parse(answer.text)}
    assert answer.text.endswith("# EOF\n") is kind.startswith("application")


def test_alarms_rollouts_and_schedules(context, store):
    """Open alarms are counted by kind, the rest are 0; phases and times are those of the data."""
    raised = Raise("o", "i", "parity-fail", "http://s.test/v1", "r", "said", NOW)
    store.alarms.raise_alarm(raised)
    store.rollouts.create_rollout(
        RolloutRecord("r-1", "http://s.test/v1", "r", "p", NOW, {}, {}, phase="baking")
    )
    store.schedules.add_schedule(ScheduleRecord("nightly", 1.0, {}, {}))
    store.schedules.add_schedule(ScheduleRecord("off", 1.0, {}, {}, paused="holidays"))
    for slot, kind in ((NOW - 90, "full"), (NOW - 60, "missed")):
        store.schedules.commit_firing(Firing("nightly", slot, kind, slot + 1))
    found = samples(context)
    assert found["denv_alarms_open", "http://s.test/v1", "parity-fail"] == 1
    assert found["denv_alarms_open", "health-fail", "http://s.test/v1"] == 0
    assert found["denv_rollout_phase", "baking", "http://s.test/v1"] == 1
    assert found["denv_rollout_phase", "http://s.test/v1", "promoted"] == 0
    assert found["denv_schedule_last_firing_timestamp_seconds", "nightly"] == NOW - 89
    assert found["denv_schedule_paused", "nightly"] == 0
    assert found["denv_schedule_paused", "off"] == 1
    assert ("denv_schedule_next_timestamp_seconds", "nightly") not in found  # no engine knows it


def test_an_empty_store_has_metrics(context):
    """Before the first run nothing is said of stages, and that is no error."""
    assert samples(context) == {("denv_parity_stages_left_out",): 0}


def test_data_that_cannot_be_read_are_503(context, store):
    """A scrape that fails shows in Prometheus as a target that is down."""
    with closing(store._database.engine.raw_connection()) as connection:
        connection.execute("DROP TABLE alarms")
    answer = scrape(context)
    assert answer.status_code == 503
    assert "alarms" in answer.json()["reason"]


def test_several_scrapers_cost_one_reading(context, store):
    """Within seconds the same snapshot is given; the age is always of now."""
    add_run(store, "1", NOW - 10)
    with TestClient(Starlette(routes=metrics_routes(context))) as client:
        first = client.get("/metrics").text
        add_run(store, "2", NOW - 5, url="http://other.test/v1")
        assert client.get("/metrics").text == first
