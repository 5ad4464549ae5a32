"""The public page in a real Chromium: readable by everybody, and alone."""

from __future__ import annotations

import os
import shutil

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from denv.publish.folder import write_folder
from tests.publish import samples
from tests.report import samples as runs

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and not os.environ.get("DENV_ALL_TESTS"), reason="no Chromium on PATH"
    ),
]
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a report's page; each message of the console and each request elsewhere is an error."""
    contexts, said = [], []

    def check(request):
        if not request.url.startswith(("file:", "data:")):
            said.append(request.url)

    def opened(report, **options):
        write_folder(report, tmp_path / "site", signer=None)
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("request", check)
        page.goto((tmp_path / "site" / "index.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(open_page, tmp_path, width, scheme):
    """On phone and desktop, in light and dark, with all unfolded, no rule of WCAG 2.2 AA breaks."""
    viewport = {"width": width, "height": 800}
    page = open_page(
        samples.full(tmp_path), viewport=viewport, color_scheme=scheme, bypass_csp=True
    )
    page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options=RULES).response["violations"]
    assert [(each["id"], [node["html"][:120] for node in each["nodes"]]) for each in found] == []


def test_the_page_needs_no_scripts(open_page, tmp_path):
    """With scripts off all is there, and cases unfold by themselves."""
    page = open_page(samples.full(tmp_path), java_script_enabled=False)
    second = page.locator(".case").nth(1)
    second.locator("> summary").click()
    assert second.get_by_text("Expected:").is_visible()
    assert page.get_by_text("Run 3 of 5 with this suite").is_visible()


@pytest.mark.parametrize("width", [320, 1280])
def test_texts_of_models_stay_texts(open_page, tmp_path, width):
    """Texts that try to be markup are shown as they are, and widen no page."""
    report = samples.public(tmp_path, runs.hostile())
    page = open_page(report, viewport={"width": width, "height": 800})
    page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("script, img, iframe").count() == 0
