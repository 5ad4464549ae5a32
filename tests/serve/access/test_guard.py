"""The one rule: whatever is not known to be open takes a token of the right role."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from limits import RateLimitItemPerMinute
from starlette.routing import Mount

from denv.errors import StoreError
from denv.serve.access import guard
from denv.serve.access.bodies import MOST_BYTES
from denv.serve.access.rates import STRANGERS
from tests.serve.access.conftest import HERE

OPEN = ("/health", "/r/", "/static/", "/sign-in", "/gate/")


def addresses(routes, before=""):
    """Give every address of the application with its methods, those of its parts too."""
    for route in routes:
        if isinstance(route, Mount):
            yield from addresses(route.routes or [], before + route.path)
            yield before + route.path + "/nothing", {"GET"}
        else:
            path = re.sub(r"\{[^}]*\}", "x", getattr(route, "path", ""))
            if path:
                yield before + path, set(getattr(route, "methods", None) or {"GET"})
            for part in getattr(getattr(route, "original_router", None), "routes", []):
                yield from addresses([part], before)


def private(app):
    return [(p, m) for p, methods in addresses(app.routes) for m in methods if not is_open(p)]


def is_open(path):
    return path.startswith(OPEN)


def test_every_address_is_closed_to_strangers(site):
    """Of all routes there are, only those that are meant to be open answer nobody."""
    found = private(site.app)
    assert len(found) > 30
    assert any(path.startswith("/api/v1/") for path, _ in found)
    browser = site.browser()
    for number, (path, method) in enumerate(found):
        if number % 100 == 99:
            browser = site.browser(client=(f"10.0.0.{number}", 1))
        answer = browser.request(method, path)
        if path.startswith("/api/") or path == "/metrics":
            assert answer.status_code == 401, (method, path)
            assert method == "HEAD" or list(answer.json()) == ["reason"], (method, path)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        else:
            assert answer.status_code == 303, (method, path)
            assert answer.headers["Location"].startswith("/sign-in"), (method, path)


def test_no_address_but_the_end_of_a_session_lets_a_reader_change_anything(site):
    """Every method but GET and HEAD takes the role run, at every address, known or not."""
    asked = {path for path, _ in private(site.app)} - {"/sign-out"}
    for path in [*asked, "/not/there", "/api/v1/not/there"]:
        for method in ("POST", "DELETE", "OPTIONS", "ODD"):
            answer = site.browser().request(method, path, headers=site.bearer("read"))
            assert answer.status_code == 403, (method, path)


def test_both_roles_read(site):
    """Reading is open to both; what is not there is a page that says so."""
    for role in ("read", "run"):
        browser = site.browser(headers=site.bearer(role))
        for path in ("/", "/runs", "/metrics", "/api/v1/runs"):
            assert browser.get(path).status_code == 200, path
            assert browser.head(path).status_code == 200, path
        assert browser.get("/nope").status_code == 404
        assert browser.get("/api/v1/nope").status_code == 404


ODD = (
    "//health", "/health/", "/Health", "/health%00", "/health/../runs", "/health/%2e%2e/runs",
    "/r/../runs", "/r/..%2fruns", "/r/..%2Fruns", "/r/%2e%2e/runs", "/r//runs", "/r/./runs",
    "/r/..\\runs", "/r", "/r/", "/static/../runs", "/static/%2e%2e%2fruns", "/static/a/b",
    "/gate", "/gate/../runs", "/gate/..%2F..%2Fruns", "/sign-in/", "/sign-in/../runs",
    "/SIGN-IN", "/API/v1/runs", "/api//v1/runs", "/metrics/", "//metrics", "/%2fmetrics",
    "/;/health", "/runs;/health", "/r\x7f/x",
)  # fmt: skip


async def status_of(app, path):
    """Ask for a path just as it is written, which clients would first put in order."""
    said = []
    scope = {
        "type": "http", "method": "GET", "path": unquote(path), "raw_path": path.encode(),
        "query_string": b"", "root_path": "", "scheme": "http", "http_version": "1.1",
        "headers": [(b"host", b"localhost")], "client": ("10.1.0.1", 1),
        "server": ("localhost", 80), "state": {},
    }  # fmt: skip

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        said.append(message)

    await app(scope, receive, send)
    return said[0]["status"], dict(said[0]["headers"]).get(b"location", b"/sign-in")


async def test_odd_paths_are_private(site):
    """No way of writing a path makes of a private one an open one."""
    assert (await status_of(site.app, "/health"))[0] == 200
    for path in ODD:
        status, onward = await status_of(site.app, path)
        assert status in {303, 401}, path
        assert onward.startswith(b"/sign-in"), path


def test_what_is_no_token(site):
    """Anything else that is shown lets nobody in, not beside a session either."""
    browser, _ = site.signed_in("run")
    for shown in (
        "Bearer", "Bearer ", "Bearer x", "Basic eDp5", "Bearer denv_000000000000_" + "a" * 43,
        "Bearer denv_'; DROP TABLE tokens_" + "a" * 43, "Bearer " + "a" * 5000, "Bearer \xff",
    ):  # fmt: skip
        header = {"Authorization": shown.encode("latin-1")}
        assert browser.get("/api/v1/runs", headers=header).status_code == 401, shown


def test_a_secret_of_another_token_is_none(site):
    """The id of one token with the secret of another, or a letter off, lets nobody in."""
    read, run = (site.tokens[role].shown for role in ("read", "run"))
    mixed = run[: len("denv_") + 13] + read[len("denv_") + 13 :]
    off = run[:-1] + ("A" if run[-1] != "A" else "B")
    for shown in (mixed, off, run + "A", run.upper(), run.removeprefix("denv_")):
        header = {"Authorization": f"Bearer {shown}"}
        assert site.browser().get("/metrics", headers=header).status_code == 401
    twice = [("Authorization", f"Bearer {run}"), ("Authorization", f"Bearer {run}")]
    assert site.browser().get("/metrics", headers=twice).status_code == 401


def test_expired_and_revoked_tokens(site):
    """From the moment on at which a token has ended it lets nobody in."""
    browser = site.browser(headers=site.bearer("read"))
    assert browser.get("/metrics").status_code == 200
    site.store.tokens.revoke(site.tokens["read"].token.token, at=site.clock().timestamp())
    assert browser.get("/metrics").status_code == 401


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("called", ["evil.example", "", "localhost@evil", "x/sign-out?", "evil:80"])
def test_a_page_that_was_led_here_reads_nothing(site, called):
    """A name that is not this server's is refused, also to who has the token."""
    for path in ("/", "/metrics", "/api/v1/runs", "/sign-in"):
        answer = site.browser().get(path, headers={**site.bearer("run"), "Host": called})
        assert answer.status_code == 421, path
        assert "--allow-host" in answer.text


def test_named_hosts_and_other_addresses(site_of):
    """Names that are given are answered; where others reach the address, any name that is one."""
    named = site_of(allow_hosts=("denv.example",))
    for called, status in (("denv.example", 200), ("DENV.example:8", 200), ("other.example", 421)):
        header = {**named.bearer("read"), "Host": called}
        assert named.browser().get("/runs", headers=header).status_code == status


def test_where_others_reach_it_any_name_will_do(site_of):
    """On an address that others reach, names are not known; what is no name is refused still."""
    free = site_of(host="0.0.0.0", releases=None)
    for called, status in (("any.example", 403), ("a/sign-out?b", 421), ("", 421)):
        header = {**free.bearer("read"), "Host": called}
        assert free.browser().post("/runs", headers=header).status_code == status


# ---------------------------------------------------------------- forms


def test_forms_of_other_pages_are_refused(site):
    """A POST of a session takes the secret of its forms, and a browser that says it is ours."""
    browser, secret = site.signed_in("run")
    other = site.signed_in("run")[1]
    good = {"csrf": secret}
    for data, headers in (
        ({}, HERE),
        ({"csrf": ""}, HERE),
        ({"csrf": other}, HERE),
        ({"csrf": [secret, secret]}, HERE),
        (good, {}),
        (good, {"Origin": "http://evil.example"}),
        (good, {"Origin": "null"}),
        (good, {"Origin": "http://localhost.evil.example"}),
        (good, {"Origin": "http://localhost:81"}),
        (good, {"Origin": "http://["}),
        (good, {"Sec-Fetch-Site": "same-site"}),
        (good, {"Sec-Fetch-Site": "none"}),
        (good, {"Origin": "http://localhost", "Sec-Fetch-Site": "cross-site"}),
        (good, {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}),
    ):
        answer = browser.post("/rollouts/x/promote", data=data, headers=headers)
        assert answer.status_code == 403, (data, headers)
        assert browser.post("/sign-out", data=data, headers=headers).status_code == 403
    for headers in (HERE, {"Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-origin"}):
        assert browser.post("/nope", data=good, headers=headers).status_code == 404
    header = {**HERE, "X-CSRF-Token": secret}
    assert browser.post("/nope", json={}, headers=header).status_code == 404
    assert browser.post("/nope", json=good, headers=HERE).status_code == 403


def test_bearers_need_no_secret_of_forms(site):
    """A program that shows its token is no browser that was led to it."""
    assert site.browser().post("/nope", headers=site.bearer("run")).status_code == 404


def test_bodies_are_bounded(site):
    """Up to the bound a body is passed on; above it is refused, with its length or without."""
    browser = site.browser(headers=site.bearer("run"))
    assert browser.post("/nope", content=b"a" * MOST_BYTES).status_code == 404

    def parts():
        for _ in range(MOST_BYTES // 1000 + 2):
            yield b"a" * 1000

    for content in (b"a" * (MOST_BYTES + 1), parts()):
        assert browser.post("/nope", content=content).status_code == 413
        assert browser.post("/api/v1/nope", content=b"a" * (MOST_BYTES + 1)).status_code == 413
    for length in ("-1", "9" * 30, "x"):
        answer = browser.post("/nope", content=b"a", headers={"Content-Length": length})
        assert answer.status_code == 413


# ---------------------------------------------------------------- how often


def test_who_asks_too_often_has_to_wait(site, monkeypatch):
    """Strangers by their address, callers by their token: 429, and when to come again."""
    few = RateLimitItemPerMinute(5, namespace="caller")
    monkeypatch.setattr(guard, "REQUESTS", few)
    browser, header = site.browser(), site.bearer("read")
    for _ in range(STRANGERS.amount):
        assert browser.get("/metrics").status_code == 401
    answer = browser.get("/metrics")
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert browser.get("/metrics", headers=header).status_code == 200
    for _ in range(few.amount - 1):
        browser.get("/nope.json", headers=header)
    assert browser.get("/metrics", headers=header).status_code == 429
    assert browser.get("/metrics", headers=site.bearer("run")).status_code == 200


# ---------------------------------------------------------------- what breaks


def test_answers_tell_browsers_to_be_careful(site):
    """Every answer has the headers, errors too; what is private is kept nowhere."""
    reader = site.bearer("read")
    for path in (
        "/",
        "/nope",
        "/sign-in",
        "/metrics",
        "/api/v1/runs",
        "/health",
        "/r/x",
        "/gate/x",
    ):
        for headers in (None, reader):
            answer = site.browser().get(path, headers=headers)
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert "Referrer-Policy" in answer.headers
            if not path.startswith(("/health", "/r/", "/gate/")):
                assert answer.headers["Cache-Control"] == "no-store"
    page = site.browser().get("/", headers=reader).headers["Content-Security-Policy"]
    assert "unsafe" not in page


def test_a_store_that_cannot_be_read_lets_nobody_in(site, monkeypatch):
    """Where it cannot be told who asks, the answer is 503 and no page."""

    def broken(_):
        raise StoreError("the disk is gone")

    monkeypatch.setattr(site.store.tokens, "get", broken)
    for path in ("/", "/metrics", "/api/v1/runs"):
        assert site.browser().get(path, headers=site.bearer("read")).status_code == 503


def test_what_breaks_is_a_page_without_its_traceback(site, monkeypatch):
    """A fault of ours is 500 with the headers, and tells nothing of the inside."""

    def broken(*_, **__):
        raise RuntimeError("inside")

    monkeypatch.setattr(site.store.tokens, "get", broken)
    for path in ("/runs", "/metrics"):
        answer = site.browser().get(path, headers=site.bearer("read"))
        assert answer.status_code == 500
        assert "inside" not in answer.text
        assert "Content-Security-Policy" in answer.headers


def test_addresses_do_not_end_up_in_other_places(site):
    """No answer leads to the host that a request names."""
    for path in ("/r", "/runs/", "/api/v1/runs/", "/static"):
        for header in (None, site.bearer("read")):
            answer = site.browser().get(path, headers=header)
            assert not answer.headers.get("Location", "/").startswith("http"), path
