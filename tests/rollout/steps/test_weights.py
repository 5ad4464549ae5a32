"""Weights reach a file and a router, are read back, and never go back in time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import stat
from fractions import Fraction

import pytest
from aiohttp import web

from denv.errors import UsageError
from denv.release import Weights
from denv.rollout.steps.weights import NO_CARRIER, changed_file, check_file, set_weights
from denv.rollout.weights import Party, Table, table_of

KEY = b"thirty bytes of a webhook's key"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
NEW = Party("r8", (("a", "http://a/v1"),))
OLD = Party("r7", (("x", "http://x/v1"),))


def table(version, share="1/10", stage="http://stage/v1"):
    return table_of(stage, share=Fraction(share), newcomer=NEW, incumbent=OLD, version=version)


def to_file(path):
    return Weights(file=str(path))


class Router:
    """A receiver that checks signatures, and keeps what it is given as its options say."""

    def __init__(self, *, status=200, forgets=False, late=0, held=b""):
        self.held, self.status, self.forgets, self.late = held, status, forgets, late
        self.pending = b""
        self.methods = []
        self.team = None
        self.app = web.Application()
        self.app.router.add_post("/weights", self.take)
        self.app.router.add_get("/weights", self.give)

    def check(self, request, body):
        """Verify as Standard Webhooks says: HMAC over id, time and body, in base64."""
        about = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}."
        right = hmac.new(KEY, about.encode() + body, hashlib.sha256).digest()
        assert request.headers["webhook-signature"] == f"v1,{base64.b64encode(right).decode()}"
        self.methods.append(request.method)
        self.team = request.headers.get("X-Team")

    async def take(self, request):
        body = await request.read()
        self.check(request, body)
        if not self.forgets and self.status == 200:
            self.pending = body
            self.held = self.held if self.late else body
        return web.Response(status=self.status, text=SECRET)

    async def give(self, request):
        self.check(request, b"")
        if self.pending and self.late:
            self.late -= 1
        elif self.pending:
            self.held = self.pending
        return web.Response(body=self.held) if self.held else web.Response(status=404)


@pytest.fixture
def hook(monkeypatch, web_server):
    """Give the settings of a webhook to a router."""
    monkeypatch.setenv("HOOK", SECRET)
    monkeypatch.setenv("TEAM", "chat")

    async def weights_at(router, **more):
        url = await web_server(router.app) + "/weights"
        settings = {"url": url, "secret-env": "HOOK", "headers-env": {"X-Team": "TEAM"}}
        return Weights.model_validate({"webhook": settings, **more})

    return weights_at


async def no_sleep(_seconds):
    """Take no time."""


async def carry(weights, one):
    return await set_weights(weights, one, sleep=no_sleep)


# ---------------------------------------------------------------- the file


async def test_a_file_holds_the_table(tmp_path):
    """The file holds the whole table, readable as the umask says, and no draft is left."""
    path = tmp_path / "weights.json"
    assert (await carry(to_file(path), table(1))).held
    assert Table.from_json(path.read_bytes()) == table(1)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    assert sorted(p.name for p in tmp_path.iterdir()) == [".weights.json.lock", "weights.json"]


async def test_a_newer_table_replaces_an_older_one_and_never_the_reverse(tmp_path):
    """Version 1 after version 2 is refused, and the file stays as it was."""
    path = tmp_path / "weights.json"
    assert (await carry(to_file(path), table(1))).held
    assert (await carry(to_file(path), table(2, "1/2"))).held
    outcome = await carry(to_file(path), table(1))
    assert not outcome.held
    assert "holds version 2, newer than 1" in outcome.why
    assert Table.from_json(path.read_bytes()) == table(2, "1/2")


async def test_the_same_table_again_changes_nothing(tmp_path):
    """Setting a table twice writes once: the file is the same inode."""
    path = tmp_path / "weights.json"
    await carry(to_file(path), table(1))
    before = path.stat().st_ino
    assert (await carry(to_file(path), table(1))).held
    assert path.stat().st_ino == before


async def test_two_tables_of_one_version_are_an_error(tmp_path):
    """Other weights under the same version are refused."""
    await carry(to_file(tmp_path / "w"), table(1))
    outcome = await carry(to_file(tmp_path / "w"), table(1, "1/2"))
    assert "another table of the same version" in outcome.why


async def test_another_stage_is_left_alone(tmp_path):
    """The file of another stage is never overwritten, however old it is."""
    await carry(to_file(tmp_path / "w"), table(1))
    outcome = await carry(to_file(tmp_path / "w"), table(2, stage="http://other/v1"))
    assert "the table of another stage, http://stage/v1" in outcome.why


async def test_a_file_that_is_no_table_is_left_alone(tmp_path):
    """A path that was mistyped destroys nothing."""
    path = tmp_path / "weights.json"
    path.write_text("not ours")
    outcome = await carry(to_file(path), table(1))
    assert not outcome.held
    assert path.read_text() == "not ours"


async def test_a_symbolic_link_stays_one(tmp_path):
    """The file that a link means is replaced, not the link."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    assert (await carry(to_file(link), table(1))).held
    assert link.is_symlink()
    assert Table.from_json((tmp_path / "real").read_bytes()) == table(1)


async def test_a_folder_that_is_not_there(tmp_path):
    """What cannot be written is an outcome that names the file."""
    outcome = await carry(to_file(tmp_path / "none" / "w"), table(1))
    assert "none/w: No such file" in outcome.why


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, ""),
        (lambda path: path.write_bytes(table(3).to_json()), ""),
        (lambda path: path.mkdir(), "is a folder"),
        (os.mkfifo, "is no regular file"),
        (lambda path: path.write_text("nothing"), "no strict JSON"),
        (
            lambda path: path.write_bytes(table(1, stage="http://other/v1").to_json()),
            "the table of another stage, http://other/v1",
        ),
    ],
)
def test_a_hopeless_file_is_seen_before_it_is_needed(tmp_path, make, why):
    """What could never be written is told without writing anything."""
    path = tmp_path / "w"
    make(path)
    before = sorted(tmp_path.iterdir())
    found = check_file(path, stage="http://stage/v1")
    assert (why in found) if why else not found
    assert sorted(tmp_path.iterdir()) == before


async def test_nothing_carries_weights():
    """Without a carrier the step holds, and says that nothing was set."""
    outcome = await carry(None, table(1))
    assert (outcome.held, outcome.note) == (True, NO_CARRIER)


# ---------------------------------------------------------------- the webhook


async def test_a_router_takes_the_table_and_shows_it(hook):
    """It is looked at, sent, and read back, each request signed and with the named header."""
    router = Router()
    assert (await carry(await hook(router), table(1))).held
    assert Table.from_json(router.held) == table(1)
    assert router.methods == ["GET", "POST", "GET"]
    assert router.team == "chat"


async def test_the_same_table_is_not_sent_again(hook):
    """A router that holds the table already is only looked at."""
    router = Router(held=table(1).to_json())
    assert (await carry(await hook(router), table(1))).held
    assert router.methods == ["GET"]


async def test_an_older_table_is_not_sent(hook):
    """A router that holds a newer table is left alone."""
    router = Router(held=table(3).to_json())
    outcome = await carry(await hook(router), table(2))
    assert "holds version 3, newer than 2" in outcome.why
    assert router.methods == ["GET"]


async def test_a_router_may_take_a_moment(hook):
    """It is read back until it shows the table, within the time-out."""
    router = Router(late=3)
    assert (await carry(await hook(router), table(1))).held
    assert router.methods == ["GET", "POST", *["GET"] * 4]


async def test_a_router_that_does_not_do_what_it_says(hook):
    """A table that was accepted and is not there is no success."""
    outcome = await carry(await hook(Router(forgets=True)), table(1))
    assert not outcome.held
    assert "accepted, and another one is read back" in outcome.why


@pytest.mark.parametrize("status", [302, 400, 401, 409, 500])
async def test_a_refusal_is_named_by_its_status(hook, status):
    """A status that is no success says so, and the body is not shown."""
    outcome = await carry(await hook(Router(status=status)), table(1))
    assert f"status {status}" in outcome.why
    assert SECRET not in outcome.why


async def test_a_body_that_is_no_table(hook):
    """What is read back must be a table."""
    outcome = await carry(await hook(Router(held=b"<html>")), table(1))
    assert "reading back: no strict JSON" in outcome.why


async def test_nobody_listens(monkeypatch):
    """A router that is not there is an outcome."""
    monkeypatch.setenv("HOOK", SECRET)
    webhook = {"url": "http://127.0.0.1:1/weights", "secret-env": "HOOK"}
    outcome = await carry(Weights.model_validate({"webhook": webhook}), table(1))
    assert not outcome.held
    assert "127.0.0.1:1" in outcome.why


async def test_a_secret_that_is_not_set(hook, monkeypatch):
    """A missing secret is named by its variable, and nothing is sent."""
    router = Router()
    weights = await hook(router)
    monkeypatch.delenv("HOOK")
    with pytest.raises(UsageError, match="HOOK is not set"):
        await carry(weights, table(1))
    assert router.methods == []


async def test_a_secret_that_is_none(hook, monkeypatch):
    """A secret of another form is refused before anything is sent, and is not shown."""
    router = Router()
    weights = await hook(router)
    monkeypatch.setenv("HOOK", "too-short-to-sign")
    with pytest.raises(UsageError) as caught:
        await carry(weights, table(1))
    assert "too-short" not in str(caught.value)
    assert router.methods == []


async def test_both_carriers(hook, tmp_path):
    """File and webhook hold the same table."""
    router = Router()
    weights = await hook(router, file=str(tmp_path / "w"))
    assert (await carry(weights, table(1))).held
    assert router.held == (tmp_path / "w").read_bytes()


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (table(7).to_json(), ""),
        (table(7, share="9/10").to_json(), "it holds other weights, version 7, than were set"),
        (table(8).to_json(), "it holds other weights, version 8, than were set"),
        (None, "the file is gone"),
        (b"nothing of use", "no strict JSON"),
    ],
)
async def test_what_others_did_to_the_file_is_seen(tmp_path, found, words):
    """Any other content than what was set is said in one line; the same written anew is none."""
    path = tmp_path / "weights.json"
    if found is not None:
        path.write_bytes(found)
    said = await changed_file(to_file(path), table(7))
    assert (words in said) if words else said == ""
    assert "\n" not in said


async def test_where_no_file_carries_weights_none_can_be_changed():
    """A release without a file has nothing to be looked at."""
    assert await changed_file(None, table(1)) == ""
    webhook = Weights.model_validate({"webhook": {"url": "http://h/w", "secret-env": "HOOK"}})
    assert await changed_file(webhook, table(1)) == ""
