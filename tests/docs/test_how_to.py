"""The tutorial and the how-tos work as they are written, on real servers."""

import pytest

from tests.docs.pages import DOCS, text_of
from tests.docs.running import Command, File, run_page, steps

PAGES = (DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md")))
QUICK = {"tutorial"}
"""The other pages are for ``make test-slow``: each starts servers and asks them much."""


@pytest.mark.lab
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=() if page.stem in QUICK else pytest.mark.slow)
        for page in PAGES
    ],
)
def test_the_page_works(page, weights, tmp_path):
    """Each command ends as the page says, and prints what the page shows."""
    run_page(text_of(page), tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_is_run(page):
    """A page without commands would work whatever it says."""
    kinds = [type(step) for step in steps(text_of(page))]
    assert kinds.count(Command) >= 5
    assert kinds.count(File) >= 1
    assert {path.stem for path in PAGES} >= QUICK
