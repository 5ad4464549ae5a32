"""The pages of rollouts and their like in a real Chromium: by axe, and kept up to date."""

from __future__ import annotations

import os
import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

from denv.rollout import states
from denv.serve.pages import rollout
from tests.serve.pages.playing import Played
from tests.serve.pages.showing import served
from tests.serve.pages.site import Someone, site_of

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and not os.environ.get("DENV_ALL_TESTS"), reason="no Chromium on PATH"
    ),
]
LOOKED_AT = (
    "measures", "sentinel", "stopped", "rollout", "failed", "rollback", "alarms", "alarm",
    "schedules", "resting", "suite", "published", "publish",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def shown(browser, furnished):
    """Serve the furnished pages, and give a page of a browser; what its console says is kept."""
    with served(site_of(furnished.context, Someone())) as address:
        context = browser.new_context(base_url=address, reduced_motion="reduce")
        page = context.new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        yield page
        context.close()


@pytest.mark.parametrize("name", LOOKED_AT)
def test_nobody_is_shut_out(shown, furnished, name):
    """By axe there is no fault on a wide page or a dark phone; nothing scrolls it sideways."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

    shown.goto(furnished.paths[name])
    shown.eval_on_selector_all("main details", "all => all.forEach(one => { one.open = true; })")
    for width, scheme in ((1280, "light"), (390, "dark")):
        shown.set_viewport_size({"width": width, "height": 900})
        shown.emulate_media(color_scheme=scheme)
        found = Axe().run(shown).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.said == []  # the policy of the pages was not broken either


def test_pictures_are_drawn_within_the_policy(shown, furnished):
    """Images that stand in the page load, and are as dark or light as it is."""
    shown.set_viewport_size({"width": 1280, "height": 900})
    for name in ("tokens", "schedule"):
        shown.goto(furnished.paths[name])
        sizes = shown.eval_on_selector_all(".picture", "all => all.map(one => one.naturalWidth)")
        assert sizes
        assert all(sizes)


@pytest.fixture
def followed(browser, context, tmp_path, monkeypatch):
    """Open the page of a rollout that is played meanwhile, asked for ten times a second."""
    monkeypatch.setattr(rollout, "LIVE_EVERY_S", 0.1)
    played = Played(context.store, tmp_path)
    played.bake()
    with served(site_of(context, Someone())) as address:
        opened = browser.new_context(base_url=address)
        page = opened.new_page()
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(f"/rollouts/{played.rollout}")
        yield page, played
        opened.close()


def test_it_is_kept_up_to_date_and_the_reader_is_not_disturbed(followed):
    """New decisions come in by themselves; focus and what was unfolded stay as they were."""
    page, played = followed
    page.locator("#decision-5 summary").click()
    page.locator("#do-rollback").focus()
    page.evaluate("window.stayed = true")
    played.tell(states.Promote(by="ann"))
    expect(page.locator("#phase")).to_have_text("Phase: Starting")
    expect(page.locator(".log > li")).to_have_count(7)
    expect(page.locator("#live-said")).to_contain_text("starting, batch 2 of 3")
    expect(page.locator("#decision-5")).to_have_attribute("open", "")
    assert page.evaluate("document.activeElement.id") == "do-rollback"
    assert page.evaluate("window.stayed")  # the page itself was not loaded anew


def test_it_ends_when_the_rollout_has_ended(followed):
    """After the last decision the page is asked for no more."""
    page, played = followed
    played.promote()
    expect(page.locator("#phase")).to_have_text("Phase: Promoted")
    expect(page.locator(".clock")).not_to_contain_text("kept up to date")
    page.wait_for_timeout(300)
    asked = len(page.asked)
    page.wait_for_timeout(600)
    assert len(page.asked) == asked


def test_a_server_that_fails_is_said_and_asked_less_often(followed):
    """A fault stands on the page, the pauses grow, and what is answered again is shown."""
    page, played = followed
    page.route("**/rollouts/*", lambda route: route.fulfill(status=503, body="no"))
    expect(page.locator("#live-fault")).to_contain_text("The server answers 503")
    before = len(page.asked)
    page.wait_for_timeout(1000)
    assert len(page.asked) - before <= 5  # not ten
    page.unroute("**/rollouts/*")
    played.tell(states.Promote(by="ann"))
    expect(page.locator("#phase")).to_have_text("Phase: Starting", timeout=15_000)
    expect(page.locator("#live-fault")).to_be_empty()


def test_who_is_signed_out_is_told_and_nothing_is_asked_any_more(followed):
    """An answer that leads elsewhere is no page of this rollout."""
    page, _ = followed
    page.route("**/rollouts/*", lambda route: route.fulfill(status=401, body="no"))
    expect(page.locator("#live-fault")).to_contain_text("signed out")
    asked = len(page.asked)
    page.wait_for_timeout(500)
    assert len(page.asked) == asked


def test_without_scripts_a_link_reloads(browser, context, tmp_path):
    """The page says of when it is, and a link gives it anew."""
    played = Played(context.store, tmp_path)
    played.bake()
    with served(site_of(context, Someone())) as address:
        opened = browser.new_context(base_url=address, java_script_enabled=False)
        page = opened.new_page()
        page.goto(f"/rollouts/{played.rollout}")
        expect(page.locator(".clock")).to_have_text(
            "As of 2026-12-01 00:40:00 UTC. Reload.", use_inner_text=True
        )
        played.tell(states.Promote(by="ann"))
        page.get_by_role("link", name="Reload").click()
        expect(page.locator("#phase")).to_have_text("Phase: Starting")
        page.locator("#do-rollback").click()
        expect(page.get_by_role("button", name="Roll back")).to_be_visible()
        opened.close()
