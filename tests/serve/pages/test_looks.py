"""The pages in a real Chromium: for everybody, at every width, and within the policy."""

from __future__ import annotations

import os
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright
from starlette.applications import Starlette
from starlette.routing import Route

from denv.serve.pages import asset_routes
from denv.serve.pages.rendering import render
from tests.serve.pages.showing import app_of, served
from tests.serve.pages.site import Someone

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
RUN = "/runs/20261201-000000-ab12cd"
PAGES = {
    "overview": "/",
    "runs": "/runs",
    "empty": "/runs?stage=unknown",
    "failing": RUN,
    "running": "/runs/going-1",
    "hostile": "/runs/hostile-1?outcome=all",
    "case": "/runs/with-suite-1/cases/2",
    "compare": f"/compare?a=daily-5&b={RUN.removeprefix('/runs/')}",
    "error": "/nothing-here",
}
UNFOLD = "all => all.forEach(each => { each.open = true; })"


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address(kept):
    with served(app_of(kept[0], Someone())) as address:
        yield address


@pytest.fixture
def open_page(browser, address):
    """Open a page at a width; every message of the console is an error of the test."""
    contexts, said = [], []

    def hear(message):
        if message.type in {"error", "warning"}:
            said.append(message.text)

    def opened(path, width=1280, *, at=address, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", hear)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(at + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [each for each in said if "404 (Not Found)" not in each] == []


@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_use_it(open_page, name):
    """Axe finds nothing, with all unfolded; the page is no wider than the window."""
    check_everybody(open_page(PAGES[name]))


def check_everybody(page):
    page.eval_on_selector_all("details", UNFOLD)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.response["violations"] == [], found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


MEASUREMENTS = ("measures", "speeds", "speed", "gates", "sentinel", "tokens")


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_everybody_can_use_measurements(open_page, furnished, name):
    """So it is with measurements, and each of their pictures is drawn."""
    with served(app_of(furnished.context, Someone())) as there:
        page = open_page(furnished.paths[name], at=there)
        check_everybody(page)
        drawn = page.locator("img.picture")
        for number in range(drawn.count()):
            expect(drawn.nth(number)).not_to_have_js_property("naturalWidth", 0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_sign_in(open_page, scheme):
    """The page that is open to all has no menu, and a field that is named."""

    def form(request):
        return render(request, "signin.html.j2", error="No such token.", next="/runs")

    app = Starlette(routes=[Route("/sign-in", form), *asset_routes()])
    with served(app) as there:
        page = open_page("/sign-in", 390, at=there, color_scheme=scheme)
        found = Axe().run(page)
        assert found.response["violations"] == [], found.generate_report()
        assert page.get_by_label("Token").get_attribute("type") == "password"
        assert page.locator(".menu").count() == 0


@pytest.mark.parametrize("name", ["runs", "failing", "case"])
def test_it_fits_narrow_windows(open_page, name):
    """At 320 px, as when enlarged four times, nothing has to be scrolled sideways."""
    page = open_page(PAGES[name], 320)
    page.eval_on_selector_all("details", UNFOLD)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_everything_works_without_scripts(open_page):
    """Filters, folding, paging and choosing two runs need no script."""
    page = open_page("/runs", java_script_enabled=False)
    page.get_by_label("Verdict").select_option("fail")
    page.get_by_role("button", name="Filter").click()
    assert "verdict=fail" in page.url
    page.get_by_role("link", name=RUN.removeprefix("/runs/")).click()
    case = page.locator(".case").nth(1)
    assert not case.locator(".body").is_visible()
    case.locator("> summary").click()
    assert case.locator(".body").is_visible()
    page.locator("select[name=cause]").select_option("parser")
    page.get_by_role("button", name="Filter").click()
    assert page.locator(".case").count() == 1
    page.goto(page.url.split("/runs")[0] + "/runs")
    page.get_by_label("Compare run daily-5").check()
    page.get_by_label("Compare run daily-1").check()
    page.get_by_role("button", name="Compare the two chosen").click()
    assert page.get_by_role("heading", name="Cases that changed").is_visible()


def test_the_menu_unfolds_on_a_phone(open_page):
    """The entries are behind a button there, and all are reached by the keyboard."""
    page = open_page("/runs", 390)
    link = page.locator("header nav a", has_text="Schedules")
    assert not link.is_visible()
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert link.is_visible()


def test_the_menu_is_open_on_a_desktop(open_page):
    """Where there is room no button is in the way."""
    page = open_page("/runs")
    assert page.locator("header nav a", has_text="Schedules").is_visible()
    assert not page.locator(".menu > summary").is_visible()


def test_the_first_stop_skips_the_navigation(open_page):
    """The keyboard's first stop leads to the content, and every stop can be seen."""
    page = open_page(RUN)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    style = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(style) == "solid"


def test_pictures_are_drawn(open_page):
    """The trend's picture is loaded, at the size that was left for it."""
    page = open_page("/")
    picture = page.locator(".trend img")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("naturalWidth", 180)


def test_paper_has_no_buttons_and_all_cases(open_page):
    """Printed, what cannot be pressed is left out and what is folded is shown."""
    page = open_page(RUN)
    body = page.locator(".case .body").first
    assert not body.is_visible()
    page.emulate_media(media="print")
    assert body.is_visible()
    assert not page.locator("header.bar").is_visible()
    assert not page.get_by_role("link", name="Compare…").is_visible()
