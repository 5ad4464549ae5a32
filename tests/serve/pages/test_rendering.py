"""What every page has: who asks, where it is, and its files."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from denv.serve.pages.rendering import entry_of, points, points_between
from denv.serve.pages.times import ago, moment, span
from tests.serve.pages.showing import app_of
from tests.serve.pages.site import Someone


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("/", "overview"),
        ("/runs/x/cases/3", "runs"),
        ("/compare", "runs"),
        ("/published/new", "published"),
        ("/sign-in", "sign-in"),
    ],
)
def test_a_page_belongs_to_an_entry(path, entry):
    """The first part of the address says to which."""
    assert entry_of(path) == entry


def test_the_entry_is_marked(ask):
    """The page itself is the current page, one below it is within the current entry."""
    assert '<a href="/runs" aria-current="page">' in ask.get("/runs").text
    assert '<a href="/runs" aria-current="true">' in ask.get("/runs/daily-0").text
    assert ask.get("/runs").text.count("aria-current") == 1


def test_who_asks_is_shown_and_can_sign_out(kept):
    """A session has a form to sign out; a bearer's page has none."""
    page = TestClient(app_of(kept[0], Someone(csrf="abc"))).get("/runs").text
    assert (
        '<form method="post" action="/sign-out"><input type="hidden" name="csrf" value="abc">'
        in page
    )
    page = TestClient(app_of(kept[0], Someone(csrf=None))).get("/runs").text
    assert "/sign-out" not in page


def test_nothing_of_a_page_is_inline(ask):
    """The policy allows no style and no script that stands in the page."""
    for path in ("/", "/runs", "/runs/20261201-000000-ab12cd", "/runs/hostile-1?outcome=all"):
        page = ask.get(path).text
        assert not re.search(r"<style|<script(?! src=)| style=| on[a-z]+=\"", page), path


def test_files_are_kept_by_their_content(ask):
    """An address with the digest is kept for ever, one without is asked for again."""
    address = re.findall(r'href="(/static/pages.css\?v=[0-9a-f]{16})"', ask.get("/runs").text)[0]
    kept_for_ever = ask.get(address)
    assert "immutable" in kept_for_ever.headers["cache-control"]
    assert kept_for_ever.headers["content-type"] == "text/css; charset=utf-8"
    plain = ask.get("/static/pages.css")
    assert plain.headers["cache-control"] == "public, no-cache"
    again = ask.get("/static/pages.css", headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["none.css", "..%2Frendering.py", "__init__.py", "live.js.map"])
def test_no_other_file_is_sent(ask, name):
    """Only what is in the folder for it."""
    assert ask.get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize(
    ("at", "now", "words"),
    [
        (0.0, 0.4, "just now"),
        (0.0, 59.9, "59 seconds ago"),
        (0.0, 3600.0, "1 hour ago"),
        (0.0, 200_000.0, "2 days ago"),
        (7200.0, 0.0, "in 2 hours"),
    ],
)
def test_ages(at, now, words):
    """The largest whole unit, in both directions."""
    assert ago(at, now) == words


def test_times_are_utc():
    """A time of another zone is written in UTC."""
    assert moment("2026-12-01T02:30:00+02:00") == "2026-12-01 00:30 UTC"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.42, "0.42 s"), (219, "3 min 39 s"), (3600, "1 h"), (90_061, "1 d 1 h")],
)
def test_durations(seconds, words):
    """Two units at the most."""
    assert span(seconds) == words


def test_differences_have_their_sign():
    """A minus that is one, and no sign on nothing."""
    assert (points(-0.0213), points(0.0), points(0.1)) == (
        "\N{MINUS SIGN}2.1 points", "0 points", "+10 points",
    )  # fmt: skip
    assert points_between([-0.1, 0.0]) == "\N{MINUS SIGN}10 to 0"
