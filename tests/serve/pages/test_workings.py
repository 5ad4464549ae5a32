"""Pages of measurements, rollouts, schedules, alarms, suites and public reports, as all are."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest

from denv.store import Firing, MeasureRecord, Raise, ScheduleRecord
from tests.instruments.speed.test_report import document as speed_document
from tests.instruments.tokens.test_report import Page
from tests.report.samples import HOSTILE
from tests.serve.pages.furnishing import sentinel, settings, speed
from tests.serve.pages.playing import BEGAN, Played

NAMES = (
    "measures", "gates", "tokens", "answers", "derivations", "all", "sentinel", "speed", "speeds",
    "stopped", "rollouts", "rollout", "failed", "rollback", "alarms", "alarm", "schedules",
    "schedule", "fresh", "resting", "pause", "suites", "suite", "published", "publication",
    "publish",
)  # fmt: skip
WITH_ACTIONS = (
    "rollout", "failed", "rollback", "alarm", "schedule", "resting", "pause", "published",
    "publication", "publish",
)  # fmt: skip
LISTS = ("/measurements", "/rollouts", "/alarms", "/schedules", "/suites", "/published")
VOID = {"img", "input"}
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Whole(Page):
    """A page whose images and fields, too, have no end."""

    def handle_starttag(self, tag, attrs):
        if tag in VOID:
            return self.handle_startendtag(tag, attrs)
        return super().handle_starttag(tag, attrs)


@pytest.fixture(scope="module")
def read(furnished):
    """Read each page once."""
    from starlette.testclient import TestClient  # noqa: PLC0415

    from tests.serve.pages.site import Someone, site_of  # noqa: PLC0415

    client, kept = TestClient(site_of(furnished.context, Someone())), {}

    def reading(name):
        if name not in kept:
            kept[name] = client.get(furnished.paths[name])
        return kept[name]

    return reading


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_well_formed_and_within_the_policy(read, name):
    """Elements close, ids are unique, headings skip no level; no style or script stands inline."""
    answer = read(name)
    assert answer.status_code == 200
    found = Whole(answer.text)
    assert found.open == []
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert not any("style" in a or any(k.startswith("on") for k in a) for _, a in found.elements)
    assert "style" not in {tag for tag, _ in found.elements}
    assert all("src" in a for tag, a in found.elements if tag == "script")
    assert all(a.get("alt") is not None for tag, a in found.elements if tag == "img")
    named = [w for _, a in found.elements for w in (a.get("aria-labelledby") or "").split()]
    assert set(named) <= set(ids)


@pytest.mark.parametrize("name", NAMES)
def test_every_form_that_changes_something_has_its_secret(read, name):
    """No POST form is without the field against forged requests."""
    for form in re.findall(r"<form[^>]*method=\"post\".*?</form>", read(name).text, re.DOTALL):
        assert 'name="csrf" value="the-token-of-the-form"' in form


@pytest.mark.parametrize("name", WITH_ACTIONS)
def test_who_may_only_read_is_offered_nothing_to_do(furnished, asked, name):
    """Readers see the pages without their actions; the pages of actions are refused to them."""
    answer = asked(furnished.context, "read").get(furnished.paths[name])
    main = answer.text[answer.text.index("<main") :]
    assert answer.status_code == (403 if name in {"rollback", "pause", "publish"} else 200)
    assert "<form" not in main
    assert 'class="button' not in main.replace('class="button" href="/"', "")


@pytest.mark.parametrize(
    "path",
    [
        *(f"{path}/no-such" for path in LISTS),
        *(f"{path}/a%00b" for path in LISTS),
        *(f"{path}/%ED%A0%80" for path in LISTS),
        f"/measurements/{'x' * 5000}",
        "/rollouts/no-such/promote",
        "/schedules/no-such/pause",
        "/alarms/no-such/resolve",
        "/published/no-such/revoke",
        "/published/new",
        "/published/new?run=no-such",
        "/published/new?run=a%00b",
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(furnished, asked, path):
    """Ids that nothing has, or that nothing can have, are 404, whatever was to be done."""
    for role in ("read", "run"):
        answer = asked(furnished.context, role).get(path)
        assert answer.status_code == 404
        assert "<h1>" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/measurements?instrument=astrology",
        "/measurements?before=yesterday",
        "/measurements?before=nan~x",
        "/measurements?before=1.0~a%00b",
        "/measurements?before=1.0~",
        "/rollouts?most=0",
        "/rollouts?most=-1",
        "/rollouts?most=%C2%B2",
        "/alarms?most=1e9",
        "/schedules/nightly?most=x",
    ],
)
def test_what_an_address_cannot_mean_is_refused(furnished, asked, path):
    """Filters and places in lists that are none are 400, with a sentence."""
    answer = asked(furnished.context).get(path)
    assert answer.status_code == 400
    assert "in the address" in answer.text or "The instruments are" in answer.text


@pytest.mark.parametrize("path", LISTS)
def test_where_nothing_is_yet_a_page_says_how_to_come_by_it(context, asked, path):
    """An empty list names the command that fills it."""
    html = asked(context).get(path).text
    assert 'class="empty"' in html
    assert "denv " in html[html.index('class="empty"') :]


def test_lists_go_on_where_they_ended(context, asked):
    """Pages of a list hold each measurement once, the newest first, also of one time."""
    for number in range(120):
        started = BEGAN + number // 3
        record = MeasureRecord(f"m-{number:03d}", "tokens", started, "running", settings(), {})
        context.store.create_measure(record)
    client, path, seen = asked(context), "/measurements?instrument=tokens", []
    while path:
        html = client.get(path).text
        seen += re.findall(r'href="/measurements/(m-\d+)"', html)
        onward = re.search(r'href="([^"]*before=[^"]*)"', html)
        path = onward[1].replace("&amp;", "&") if onward else ""
    assert seen == [f"m-{number:03d}" for number in range(119, -1, -1)]


def words_of(html):
    """Give what stands in the main part of a page."""
    main = html[html.index("<main") : html.index("</main")]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def test_the_list_says_what_measurements_without_verdict_came_to(read):
    """Gates have their word with what they admit, sentinels why, speed its figures and no badge."""
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', read("measures").text, re.DOTALL)
    found = {re.sub("<[^>]*>", "", row.split("</th>")[0]).split("-")[0]: row for row in rows}
    assert "fail</span> <span" in found["gates"]
    assert re.search("(all but|only|none|text only|all admitted)", found["gates"])
    assert "the stage fails the golden prompt number-7" in found["sentinel"]
    assert "stage 50.0, reference 100.0 tokens/s at depth 300" in found["speed"]
    assert "badge" not in found["speed"]


@pytest.mark.parametrize("name", ["speed", "speeds"])
def test_runs_of_different_days_are_not_offered_as_a_trend(read, name):
    """Page and list say that one run's columns alone compare, and how two builds are compared."""
    words = words_of(read(name).text)
    assert "Runs of different times do not" in words
    assert "the old one as --reference" in words


def test_a_speed_run_has_its_figures_and_pictures_and_no_verdict(read):
    """Medians with their range, two pictures, servers with what they spent; no badge, no alarm."""
    html = read("speed").text
    words = words_of(html)
    assert "50.0 (50.0–50.0)" in words
    assert "100.0 (100.0–100.0)" in words
    assert html.count('<img class="picture"') == 2
    assert 'alt="Tokens per second by context depth: stage: 50.0 at 300' in html
    assert "completion tokens" in words
    assert 'class="badge' not in html
    assert 'class="verdict' not in html
    assert "--resume" not in html


# ---------------------------------------------------------------- hostile texts


@pytest.fixture
def hostile(context, tmp_path):
    """Keep things whose every text was written by somebody who means ill."""
    bad = " ".join(HOSTILE).replace("\ud800", "")  # which no column of texts holds
    store = context.store
    played = Played(store, tmp_path)
    record = store.rollouts.get_rollout(played.rollout)
    store.alarms.raise_alarm(
        Raise("once", "id", bad, bad, bad, bad, BEGAN, run=bad, rollout=bad, details={bad: bad})
    )
    plan = {**record.plan, "release": bad, "stage": {**record.plan["stage"], "url": bad}}
    from denv.rollout.schedules.timing import Timing  # noqa: PLC0415

    spec = Timing(every_s=3600.0).to_json()
    store.schedules.add_schedule(ScheduleRecord("s", BEGAN, spec, plan, paused=bad, baseline=bad))
    kinds = {"kinds": {"exact": {"pass": 1, "fail": 0}}, "why": [bad], "alarms": {bad: bad}}
    store.schedules.commit_firing(Firing("s", BEGAN, "full", BEGAN, "pass", bad, kinds))
    document = {**sentinel(), "why": [bad], "settings": {bad: bad}}
    document["stage"] = {**document["stage"], "model": bad, "url": bad}
    store.create_measure(MeasureRecord("m", "sentinel", BEGAN, "running", settings(), {}))
    store.update_measure("m", state="finished", document=document, finished=BEGAN)
    quick = json.loads(json.dumps(speed_document()))
    quick["servers"] = {bad: {**quick["servers"]["stage"], "model": bad, "url": bad}}
    quick |= {"bench": "s", "notes": [bad], "spent": {bad: quick["spent"]["stage"]}}
    quick["depths"][0]["cells"][0]["server"] = bad
    quick["depths"][0]["servers"][0]["reason"] = bad
    speed(store, quick, started=BEGAN)
    return context


@pytest.mark.parametrize(
    "path",
    [
        "/alarms",
        "/alarms/ID",
        "/schedules",
        "/schedules/s",
        "/measurements",
        "/measurements/m",
        "/measurements/s",
    ],
)
def test_hostile_texts_do_not_act(hostile, asked, path):
    """Markup is escaped, controls and turns of direction are shown as codes."""
    alarm = hostile.store.alarms.list_alarms()[0].alarm
    html = asked(hostile).get(path.replace("ID", alarm)).text
    assert "alert(1)" in html
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert 'onmouseover="' not in html
    assert not CONTROLS.search(html)


def test_keys_in_addresses_are_not_shown(context, asked):
    """A password in an URL is masked wherever the URL stands."""
    secret = "http://user:hunter2-hunter2@stage.example.com/v1"
    store = context.store
    asks = {**settings(), "stage": {"url": secret, "model": "m"}}
    document = json.loads(json.dumps(sentinel()))
    document["stage"]["url"] = secret
    store.create_measure(MeasureRecord("m", "sentinel", BEGAN, "running", asks, {}))
    store.update_measure("m", state="finished", document=document, finished=BEGAN)
    store.alarms.raise_alarm(Raise("o", "i", "parity-fail", secret, "r", "s", BEGAN))
    alarm = store.alarms.list_alarms()[0].alarm
    for path in ("/measurements", "/measurements/m", "/alarms", f"/alarms/{alarm}"):
        html = asked(context).get(path).text
        assert "hunter2" not in html, path
