"""What went wrong is a page in the look of all others, with a way on."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.testclient import TestClient

from denv.errors import StoreError
from denv.serve.access.places import MOST_NEXT
from denv.serve.pages import error_page

STATUSES = (400, 403, 404, 405, 409, 413, 418, 429, 503)


def raising(error):
    """Give a client of an application that raises."""

    def endpoint(request):
        raise error

    handlers = {HTTPException: error_page, Exception: error_page}
    app = Starlette(
        routes=[Route("/{path:path}", endpoint, methods=["GET", "POST"])],
        exception_handlers=handlers,
    )
    return TestClient(app, raise_server_exceptions=False, follow_redirects=False)


@pytest.mark.parametrize("status", STATUSES)
def test_each_status_is_a_page(status):
    """The status stays, its sentence is shown, and there is a way on."""
    page = raising(HTTPException(status, "It is so.")).get("/x")
    assert page.status_code == status
    assert "It is so." in page.text
    assert "<title>" in page.text
    assert 'class="button"' in page.text


def test_a_status_without_words_has_words_of_its_own():
    """The phrase of HTTP is no sentence."""
    page = raising(HTTPException(404)).get("/x").text
    assert "Not Found" not in page
    assert "Nothing is at this address" in page


def test_headers_stay():
    """How long to wait is told to programs too."""
    error = HTTPException(429, headers={"Retry-After": "7"})
    assert raising(error).get("/x").headers["Retry-After"] == "7"


def test_nobody_is_led_to_sign_in_and_back():
    """The address that was asked for comes along, with its query; what is posted does not."""
    client = raising(HTTPException(401))
    led = client.get("/runs?verdict=fail&x=%2F")
    assert led.status_code == 303
    assert led.headers["location"] == "/sign-in?next=/runs%3Fverdict%3Dfail%26x%3D%252F"
    assert client.get("/").headers["location"] == "/sign-in"
    assert client.get("/runs?x=" + "a" * MOST_NEXT).headers["location"] == "/sign-in"
    assert client.post("/rollouts/x/cancel").headers["location"] == "/sign-in"


def test_a_fault_of_ours_shows_nothing_of_it():
    """The page of 500 does not have the exception's text, which the log has."""
    page = raising(RuntimeError("secret-word")).get("/x")
    assert page.status_code == 500
    assert "secret-word" not in page.text
    assert "Something broke on our side" in page.text


def test_a_store_that_cannot_be_read_says_why():
    """It may pass by itself: 503."""
    page = raising(StoreError("denv.sqlite3: disk is full")).get("/x")
    assert page.status_code == 503
    assert "disk is full" in page.text


def test_hostile_words_are_text():
    """What an address said comes back as text, its controls as codes."""
    page = raising(HTTPException(400, "<b>\x1b\u202e")).get("/x").text
    assert "&lt;b&gt;\\x1b\\u202e" in page
