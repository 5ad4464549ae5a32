"""The overview: how each stage stands, and what is under way."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from starlette.testclient import TestClient

from denv.serve.pages.overview import scheduled_of
from denv.serve.pages.rhythms import Engine
from denv.store import Firing, ScheduleRecord
from tests.serve.pages.showing import app_of
from tests.serve.pages.site import Someone


def text_of(html: str) -> str:
    """Give what a page says, without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_an_empty_folder_says_how_to_begin(context):
    """Nothing is there, so the page tells the first commands and shows no empty table."""
    page = TestClient(app_of(context, Someone())).get("/")
    assert page.status_code == 200
    assert "Nothing was compared yet." in page.text
    assert "denv parity run --suite" in page.text
    assert "<table" not in page.text


def test_each_stage_shows_its_last_verdict_and_rates(ask):
    """The stage's card has the verdict, its age, and each kind's rate with interval and bound."""
    said = text_of(ask.get("/").text)
    assert "smollm2-135m-instruct 127.0.0.1:8080 fail 36 minutes ago" in said
    assert "exact 94.8 % 89.3 – 98.7 % needs 95 %" in said
    assert "logprobs 90 % 59.6 – 98.2 % no threshold" in said
    assert "llama-3.3-70b-instruct gateway.example.com inconclusive" in said


def test_runs_under_way_are_listed(ask):
    """A run that goes on stands above the stages, with when it began."""
    said = text_of(ask.get("/").text)
    assert "running Run of core.jsonl smollm2-135m-instruct, began 15 minutes ago" in said


def test_a_trend_is_drawn_where_two_runs_can_be_compared(ask):
    """A stage with several runs of one suite has a picture, one with a single run has none."""
    page = ask.get("/").text
    found = re.findall(
        r'<img src="(/stages/[^"]+)" width="180" height="86"[^>]* alt="([^"]+)"', page
    )
    assert len(found) == 1
    address, says = found[0]
    assert says.endswith("6 pass, 1 fail")
    picture = ask.get(address)
    assert picture.headers["content-type"] == "image/svg+xml"
    drawn = ET.fromstring(picture.text)
    assert (drawn.get("width"), drawn.get("height")) == ("180", "86")
    assert "94.9%" in picture.text
    assert "100.0%" in picture.text


def test_a_stage_of_one_run_has_no_picture(ask, kept):
    """What cannot be drawn is not there, and neither is a stage that nobody knows."""
    stages = kept[0].store.browsing.stages()
    single = next(each.stage for each in stages if each.runs == 1)
    assert ask.get(f"/stages/{single}/trend.svg").status_code == 404
    assert ask.get("/stages/none/trend.svg").status_code == 404


def test_hostile_names_are_text(ask):
    """A model that is called like a script is shown as such."""
    page = ask.get("/").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_alarms_rollouts_and_schedules_are_shown(furnished):
    """What asks for a person comes first, each with a link to its page."""
    page = TestClient(app_of(furnished.context, Someone())).get("/")
    said = text_of(page.text)
    assert "2 open alarms" in said
    assert "baking Rollout of chat-r8" in said
    assert f'href="/rollouts/{furnished.ids["running"]}"' in page.text


RECORD = ScheduleRecord("nightly", 0.0, {}, {})


def test_drift_is_that_of_the_latest_look():
    """Of several firings the last one that looked at drift tells."""
    history = [
        Firing("nightly", 10.0, "full", 11.0, "pass", None, {"drift": {"verdict": "none"}}),
        Firing("nightly", 20.0, "full", 21.0, "fail", None, {"drift": {"verdict": "stage"}}),
        Firing("nightly", 30.0, "sentinel", 31.0, "calm", None, {}),
    ]
    shown = scheduled_of(RECORD, history, Engine(missing="no engine"))
    assert (shown.drift, shown.seen, shown.next_at) == ("stage", 20.0, None)


def test_a_schedule_that_never_fired_says_nothing_of_drift():
    """No look, no drift."""
    shown = scheduled_of(RECORD, [], Engine(missing="no engine"))
    assert (shown.drift, shown.seen, shown.missing) == (None, None, "no engine")
