"""The page in a real Chromium."""

from __future__ import annotations

import os
import shutil
from functools import lru_cache

import pytest
from playwright.sync_api import sync_playwright

from denv.report import write_html
from tests.report import samples
from tests.report.pages import PAGES

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


@lru_cache
def made(name: str) -> str:
    """Make a measurement's page once."""
    return PAGES[name]()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a sample's page at a width; every message of the console is an error of the test."""
    contexts, said = [], []

    def refuse(dialog):
        said.append("dialog")
        dialog.dismiss()

    def check(request):
        if not request.url.startswith(("file:", "data:")):
            said.append(request.url)

    def opened(name, width=1280, **options):
        if name in PAGES:
            (tmp_path / f"{name}.html").write_text(made(name), "utf-8")
        else:
            write_html(getattr(samples, name)(), tmp_path / f"{name}.html")
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", refuse)
        page.on("request", check)
        page.goto((tmp_path / f"{name}.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("name", ["passing", "failing", "inconclusive", "hostile", *PAGES])
def test_the_page_never_scrolls_sideways(open_page, name, width):
    """At every width, with everything unfolded, the page is as wide as the window."""
    page = open_page(name, width)
    page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_cases_are_filtered(open_page):
    """Cause, check and words narrow the list, and the count is told."""
    page = open_page("failing")
    assert page.locator(".case:visible").count() == 6
    page.select_option("select[name=cause]", "unknown")
    assert page.locator(".case:visible").count() == 2
    page.fill("input[name=words]", "gull")
    assert page.locator(".case:visible").count() == 1
    assert page.locator("#filter output").inner_text() == "1 of 6 shown"


def test_everything_is_there_without_scripts(open_page):
    """With scripts off, the filter is hidden and cases unfold by themselves."""
    page = open_page("failing", java_script_enabled=False)
    assert not page.locator("#filter").is_visible()
    second = page.locator(".case").nth(1)
    second.locator("> summary").click()
    assert second.locator(".body").is_visible()


def test_the_keyboard_reaches_the_verdict_and_the_cases(open_page):
    """The first stop is the link that skips to the verdict; a case unfolds by Enter."""
    page = open_page("failing")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.locator(".case > summary").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator(".case").nth(1).get_attribute("open") is not None


def test_print_unfolds_every_case(open_page):
    """On paper, where nobody can click, the folded cases are shown."""
    page = open_page("failing")
    assert not page.get_by_text("No usable answer: HTTP 503").is_visible()
    page.emulate_media(media="print")
    assert page.get_by_text("No usable answer: HTTP 503").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_both_schemes(open_page, scheme):
    """The colours of text on page, cards, code and marks reach the ratio of WCAG AA, 4.5 to 1."""
    page = open_page("failing", color_scheme=scheme)
    names = ("page", "card", "code", "ink", "soft", "pass", "fail", "unsure", "link",
             "pass-wash", "fail-wash", "unsure-wash", "stage-mark", "reference-mark")  # fmt: skip
    colours = page.evaluate(
        """names => {
            const style = getComputedStyle(document.documentElement);
            return names.map((name) => style.getPropertyValue("--" + name));
        }""",
        list(names),
    )
    light = dict(zip(names, map(luminance, colours), strict=True))
    pairs = [(text, ground) for text in ("ink", "soft", "pass", "fail", "unsure", "link")
             for ground in ("page", "card")]  # fmt: skip
    pairs += [("ink", ground) for ground in names if ground.endswith(("wash", "mark", "code"))]
    pairs += [("fail", "code"), ("soft", "code")]
    for text, ground in pairs:
        high, low = sorted((light[text], light[ground]), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)


def luminance(colour: str) -> float:
    """Give the relative luminance of a colour (WCAG 2.2, definition)."""
    digits = colour.strip().lstrip("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_shows_every_value_of_a_table(open_page, name):
    """On a narrow page rows stand by themselves, so that no table hides a value at its side."""
    page = open_page(name, 390)
    hidden = page.eval_on_selector_all(
        "table", "all => all.filter(t => t.offsetWidth > t.parentElement.clientWidth).length"
    )
    assert page.locator("table").count()
    assert hidden == 0


@pytest.mark.parametrize("name", ["tokens", "answers", "speed"])
def test_a_phone_shows_pictures_at_a_size_that_can_be_read(open_page, name):
    """A picture is not shrunk below 480 pixels; its box scrolls, and the keyboard reaches it."""
    page = open_page(name, 390)
    for box in page.locator(".shown").all():
        assert box.get_attribute("tabindex") == "0"
        assert box.locator("svg").first.bounding_box()["width"] >= 480
