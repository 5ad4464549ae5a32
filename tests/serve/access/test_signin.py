"""Signing in and out: sessions are new, end in time, and lead to no other server."""

from __future__ import annotations

import hashlib
import re
import threading
import time

import pytest

from denv.errors import StoreError
from denv.records import Secret
from denv.serve.access.places import local_path
from denv.serve.access.rates import SIGN_INS
from denv.serve.access.signin import INVITED_S
from denv.store.tokens import IDLE_S, SESSION_S
from tests.serve.access.conftest import HERE


def sign_in(browser, token, **fields):
    return browser.post("/sign-in", data={"token": token, **fields}, headers=HERE)


def test_the_cookie_is_for_this_server_and_no_script(site):
    """HttpOnly, SameSite, of this host alone, for no longer than the session; kept as its hash."""
    answer = sign_in(site.browser(), site.tokens["read"].shown, next="/runs?state=running")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/runs?state=running")
    found = re.fullmatch(
        f"{site.cookie}=([A-Za-z0-9_-]{{43}}); HttpOnly; Max-Age=43200; Path=/; SameSite=lax",
        answer.headers["Set-Cookie"],
    )
    assert found is not None
    kept = site.store.tokens.session(hashlib.sha256(found[1].encode()).digest())
    assert kept is not None
    assert kept[1].name == "ann"


def test_behind_tls_the_cookie_goes_over_it_alone(site_of):
    """With --behind-tls it is Secure, under a name that nothing else can set."""
    site = site_of(behind_tls=True)
    answer = sign_in(site.browser(), site.tokens["read"].shown)
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"__Host-{site.cookie}=")
    assert "; Secure" in cookie
    assert "Domain" not in cookie
    value = cookie.partition("=")[2].partition(";")[0]
    browser = site.browser()
    assert browser.get("/runs", headers={"Cookie": f"{site.cookie}={value}"}).status_code == 303
    assert (
        browser.get("/runs", headers={"Cookie": f"__Host-{site.cookie}={value}"}).status_code == 200
    )


def test_two_servers_of_one_host_do_not_sign_each_other_out(site_of, tmp_path):
    """A browser sends a host's cookies to each of its ports: each data folder has its own name.

    Servers of the same data share it, and so does the one that is started again.
    """
    first, again, other = site_of(), site_of(), site_of(home=tmp_path / "other")
    assert first.cookie == again.cookie
    assert re.fullmatch("denv-[0-9a-f]{8}", first.cookie)
    browser, _ = first.signed_in("read")
    elsewhere = other.browser(cookies=browser.cookies)
    assert sign_in(elsewhere, other.tokens["read"].shown).status_code == 303
    both = {cookie.name: str(cookie.value) for cookie in elsewhere.cookies.jar}
    assert both.keys() == {first.cookie, other.cookie}
    for site in (first, again, other):
        assert site.browser(cookies=both).get("/runs").status_code == 200


def test_wrong_tokens(site):
    """What lets nobody in is told in the page, and no session begins."""
    site.store.tokens.revoke(site.tokens["run"].token.token, at=0.0)
    for shown in ("", "x", "denv_", site.tokens["run"].shown):
        answer = sign_in(site.browser(), shown)
        assert answer.status_code == 403
        assert 'role="alert"' in answer.text
        assert "Set-Cookie" not in answer.headers
        assert shown in {"", "x", "denv_"} or shown not in answer.text


def test_another_page_signs_nobody_in(site):
    """A form of another site cannot sign a browser in with a token of its own."""
    browser, token = site.browser(), site.tokens["run"].shown
    for headers in ({}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = browser.post("/sign-in", data={"token": token}, headers=headers)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (403, False)
    assert browser.post("/sign-in", json={"token": token}, headers=HERE).status_code == 403
    large = {"token": "a" * 9000}
    assert browser.post("/sign-in", data=large, headers=HERE).status_code == 413


def test_trying_is_bounded(site):
    """After some tries a minute an address has to wait, with a right token too; others do not."""
    browser = site.browser()
    for _ in range(SIGN_INS.amount):
        assert sign_in(browser, "x").status_code == 403
    answer = sign_in(browser, site.tokens["run"].shown)
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) >= 1
    other = site.browser(client=("10.0.0.9", 1))
    assert sign_in(other, site.tokens["run"].shown).status_code == 303


def test_a_session_is_new_at_each_sign_in(site):
    """No value that a browser had before, of whomever, is a session after; the old one ends."""
    browser = site.browser()
    planted = "A" * 43
    browser.cookies.set(site.cookie, planted)
    sign_in(browser, site.tokens["read"].shown)
    value = browser.cookies.get(site.cookie, domain="localhost.local")
    assert value not in {planted, None}
    assert (
        site.browser().get("/runs", headers={"Cookie": f"{site.cookie}={planted}"}).status_code
        == 303
    )
    again = site.browser()
    headers = {**HERE, "Cookie": f"{site.cookie}={value}"}
    again.post("/sign-in", data={"token": site.tokens["read"].shown}, headers=headers)
    assert (
        site.browser().get("/runs", headers={"Cookie": f"{site.cookie}={value}"}).status_code == 303
    )


def test_two_cookies_of_the_name_are_none(site):
    """Where another page of the machine has set a second cookie, nobody is signed in."""
    browser, _ = site.signed_in("run")
    value = browser.cookies.get(site.cookie)
    header = {"Cookie": f"{site.cookie}={value}; {site.cookie}={'B' * 43}"}
    assert site.browser().get("/runs", headers=header).status_code == 303
    assert (
        site.browser().get("/runs", headers={"Cookie": f"{site.cookie}={value}"}).status_code == 200
    )


def test_a_session_ends_with_its_token(site):
    """Once its token is revoked the next request is nobody's."""
    browser, _ = site.signed_in("run")
    assert browser.get("/runs").status_code == 200
    site.store.tokens.revoke(site.tokens["run"].token.token, at=site.clock().timestamp())
    assert browser.get("/runs").status_code == 303


def test_a_session_ends_in_time(site):
    """Unused for two hours it has ended, and after twelve in any case."""
    browser, _ = site.signed_in("read")
    for _ in range(int(SESSION_S / (IDLE_S - 60)) - 1):
        site.clock.forward(IDLE_S - 61)
        assert browser.get("/runs").status_code == 200
    site.clock.forward(IDLE_S - 61)
    site.clock.forward(IDLE_S)
    assert browser.get("/runs").status_code == 303
    browser, _ = site.signed_in("read")
    for _ in range(12):
        assert browser.get("/runs").status_code == 200
        site.clock.forward(3600)
    assert browser.get("/runs").status_code == 303
    browser, _ = site.signed_in("read")
    site.clock.forward(IDLE_S)
    assert browser.get("/runs").status_code == 303


def test_data_that_cannot_be_written_can_be_read(site, monkeypatch, caplog):
    """That a session is used is tried to be written once a minute; a page waits little for it."""
    browser, _ = site.signed_in("read")
    tries, free = [], threading.Event()

    def broken(digest, *, at):
        tries.append(at)
        if len(tries) == 1:
            raise StoreError("the disk is full")
        assert free.wait(20)  # as where another process locks the database

    monkeypatch.setattr(site.store.tokens, "see_session", broken)
    monkeypatch.setattr("denv.serve.access.callers.SEEN_WAIT_S", 0.2)
    for _ in range(2):
        site.clock.forward(61)
        with browser:  # one loop for all its requests, as in a server
            began = time.monotonic()
            assert [browser.get("/runs").status_code for _ in range(5)] == [200] * 5
            assert time.monotonic() - began < 10
            free.set()
    assert len(tries) == 2
    assert "the disk is full" in caplog.text


def test_whoever_signs_out_is_out(site):
    """A reader may; the session is gone from the data, not from the browser alone."""
    browser, secret = site.signed_in("read")
    value = browser.cookies.get(site.cookie)
    answer = browser.post("/sign-out", data={"csrf": secret}, headers=HERE)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in")
    assert f'{site.cookie}=""' in answer.headers["Set-Cookie"]
    assert (
        site.browser().get("/runs", headers={"Cookie": f"{site.cookie}={value}"}).status_code == 303
    )
    assert browser.get("/sign-out").status_code == 303


# ---------------------------------------------------------------- once


def test_the_address_of_the_terminal_is_good_once(site):
    """It signs in with the role run, once; asked by HEAD, it is not used up."""
    secret = site.invitation.secret
    browser = site.browser()
    assert browser.head(f"/sign-in?once={secret}").status_code == 200
    assert browser.get("/sign-in?once=wrong").status_code == 403
    answer = browser.get(f"/sign-in?once={secret}")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert "role run" in browser.get("/").text
    assert site.browser().get(f"/sign-in?once={secret}").status_code == 403
    made = next(each for each in site.store.tokens.all() if "terminal" in each.name)
    assert (made.role, made.expires) == ("run", site.clock().timestamp() + SESSION_S)
    site.store.tokens.revoke(made.token, at=site.clock().timestamp())
    assert browser.get("/").status_code == 303


def test_the_address_of_the_terminal_grows_old(site):
    """After ten minutes it lets nobody in."""
    site.clock.forward(INVITED_S)
    assert site.browser().get(f"/sign-in?once={site.invitation.secret}").status_code == 403


# ---------------------------------------------------------------- where it leads


@pytest.mark.parametrize(
    "given",
    [
        "//evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example", "evil",
        "/\t/evil.example", "/\n/evil.example", "\t//evil.example", " //evil.example", "",
        "/%2f/evil.example\r\nSet-Cookie: a=b", "javascript:alert(1)", "/sign-in", "/sign-out",
        "/..//evil.example", "/./evil", "///evil.example", "/api/v1/runs", "/a" * 2000,
        "/runs?x=\\evil", "/\u2028/evil", "http:/evil.example", "/sign-in?next=//evil.example",
    ],
)  # fmt: skip
def test_it_leads_to_no_other_server(given):
    """Whatever is named that is not a page of ours, the browser is led to the first page."""
    assert local_path(given) == "/"


def test_nobody_is_led_away_by_signing_in(site):
    """What the form names is held to that, in the page before it too."""
    for given in ("//evil.example", "/\\evil.example", "/x\r\nSet-Cookie: a=b"):
        page = site.browser().get("/sign-in", params={"next": given})
        assert 'name="next" value="/"' in page.text
        answer = sign_in(site.browser(), site.tokens["read"].shown, next=given)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/")


@pytest.mark.parametrize("given", ["/", "/runs", "/runs?before=1.5~r&state=ended", "/runs/r-1"])
def test_it_leads_back(given):
    """A page that was asked for is where the browser is led."""
    assert local_path(given) == given


def test_who_is_nobody_is_led_back_after_signing_in(site):
    """The page that was asked for stands in the form, and its query with it."""
    browser = site.browser()
    asked = browser.get("/runs?state=running&q=%22%3E").headers["Location"]
    page = browser.get(asked).text
    found = re.search('name="next" value="([^"]*)"', page)
    assert found is not None
    assert found[1] == "/runs?state=running&amp;q=%22%3E"


def test_the_gate_takes_tokens_of_the_role_run(site_of):
    """Where gates want a token, one of denv token of role run counts beside the file's."""
    site = site_of(token=Secret("file-token"))
    for header, status in (
        ({}, 401),
        (site.bearer("read"), 401),
        (site.bearer("run"), 404),
        ({"Authorization": "Bearer file-token"}, 404),
    ):
        assert site.browser().get("/gate/runs/x", headers=header).status_code == status
    browser, _ = site.signed_in("run")
    assert browser.get("/gate/runs/x").status_code == 401
