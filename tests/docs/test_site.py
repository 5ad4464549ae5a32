"""The site is built without a warning, is whole, and asks no foreign host for anything."""

import os
import re
import subprocess
import sys

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import sync_playwright

from tests.docs.pages import DOCS, ROOT, chromium
from tests.docs.site import css_urls, is_foreign, read, target


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build the site as ``make docs`` does, elsewhere; give its folder and what was said."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return folder, done.stdout


@pytest.fixture(scope="module")
def pages(built):
    """Read every page of the site, by its file."""
    return {path: read(path) for path in sorted(built[0].rglob("*.html"))}


def test_nothing_is_warned_of(built):
    """A page that the navigation lacks, a link or an anchor that leads nowhere stops the build."""
    assert "WARNING" not in built[1]
    assert "ERROR" not in built[1]


def test_every_page_is_built(built, pages):
    """Each page of docs/ has its place, beside the changelog and the page for what is not found."""
    there = {path.relative_to(built[0]).with_suffix("").as_posix() for path in pages}
    written = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    assert there == {*written, "changelog", "404"}


def test_every_page_is_in_the_navigation(built, pages):
    """The first page's navigation leads to each page."""
    index = built[0] / "index.html"
    led = {target(built[0], index, link)[0] for link in pages[index].links if not is_foreign(link)}
    assert set(pages) - {built[0] / "404.html"} <= led


def test_links_and_anchors_resolve(built, pages):
    """Each link within the site leads to a file that is there, and to an anchor that is in it."""
    followed = 0
    for path, page in pages.items():
        for link in page.links:
            if is_foreign(link) or link.startswith(("mailto:", "javascript:")):
                continue
            file, anchor = target(built[0], path, link)
            assert file.is_file(), (path.name, link)
            if anchor and file.suffix == ".html":
                assert anchor in pages[file].anchors, (path.name, link)
            followed += 1
    assert followed > 1000


def test_what_pages_load_is_the_sites_own(built, pages):
    """No script, style, font, picture or frame comes from another host, and each is there."""
    for path, page in pages.items():
        for url in page.loads:
            assert not is_foreign(url), (path.name, url)
            if not url.startswith("data:"):
                assert target(built[0], path, url)[0].is_file(), (path.name, url)
    for sheet in built[0].rglob("*.css"):
        for url in css_urls(sheet.read_text("utf-8")):
            assert not is_foreign(url), (sheet.name, url)


@pytest.mark.parametrize("source", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_the_site_shows_what_the_repository_shows(built, source):
    """A page has the same headings, tables, list items and blocks in both kinds of Markdown."""
    page = built[0] / source.relative_to(DOCS).with_suffix(".html")
    shown = page.read_text("utf-8").partition("<article")[2].partition("</article>")[0]
    meant = MarkdownIt().enable("table").render(source.read_text("utf-8"))
    for tag in ("h1", "h2", "h3", "table", "li", "pre", "strong"):
        opened = re.compile(rf"<{tag}[ >]")
        assert len(opened.findall(shown)) == len(opened.findall(meant)), tag


def test_pictures_have_a_text(pages):
    """A picture that says something says it in words too."""
    for path, page in pages.items():
        for picture in page.pictures:
            assert picture.get("alt"), (path.name, picture)


def test_files_beside_the_pages_are_the_repositorys(built):
    """Schemas and manifests that pages link to are published as they stand."""
    published = [path for path in (built[0] / "files").rglob("*") if path.is_file()]
    assert len(published) >= 20
    for path in published:
        assert path.read_bytes() == (ROOT / path.relative_to(built[0] / "files")).read_bytes()


@pytest.mark.browser
def test_the_search_works_without_a_network(built):
    """Opened as a file, the site finds a word, and asks nobody but the disk."""
    asked = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((built[0] / "index.html").as_uri())
        page.get_by_role("textbox", name="Search").press_sequentially("Clopper")
        found = page.locator("a.md-search-result__link").first
        found.wait_for()
        assert "statistics.html" in str(found.get_attribute("href"))
        browser.close()
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
