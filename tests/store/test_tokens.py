"""Tokens and sessions: they come back as they were, and end as they should."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import IntegrityError

from denv.errors import StoreError
from denv.store import Session, Token
from denv.store.exporting import NAMES
from denv.store.tokens import IDLE_S, SESSION_S
from denv.store.upkeep import faults_of

TOKEN = Token("0123456789ab", "Ann \u2603", "read", bytes(range(32)), created=100.0)
SESSION = Session(b"s" * 32, TOKEN.token, created=1000.0, seen=1000.0)


def test_every_field_comes_back(opened):
    """A token is what it was; an unknown id is None, one of the same id is refused."""
    other = Token("ba9876543210", "bob", "run", b"d" * 32, created=200.0, expires=300.5)
    opened.tokens.add(TOKEN)
    opened.tokens.add(other)
    assert opened.tokens.get(TOKEN.token) == TOKEN
    assert opened.tokens.get("nope") is None
    assert list(opened.tokens.all()) == [other, TOKEN]
    with pytest.raises(StoreError) as caught:
        opened.tokens.add(TOKEN)
    assert isinstance(caught.value.__cause__, IntegrityError)
    assert (TOKEN.is_open(1e12), other.is_open(300.4), other.is_open(300.5)) == (True, True, False)


def test_revoking_ends_sessions_at_once(opened):
    """A token is taken back once; its sessions are gone with it, those of others stay."""
    other = Token("ba9876543210", "bob", "run", b"d" * 32, created=200.0)
    theirs = Session(b"t" * 32, other.token, created=1000.0, seen=1000.0)
    for token in (TOKEN, other):
        opened.tokens.add(token)
    for session in (SESSION, theirs):
        opened.tokens.open_session(session)
    assert opened.tokens.session(SESSION.digest) == (SESSION, TOKEN)
    assert opened.tokens.revoke(TOKEN.token, at=1001.0)
    assert not opened.tokens.revoke(TOKEN.token, at=1002.0)
    assert not opened.tokens.revoke("nope", at=1002.0)
    assert opened.tokens.session(SESSION.digest) is None
    assert opened.tokens.session(theirs.digest) == (theirs, other)
    revoked = opened.tokens.get(TOKEN.token)
    assert (revoked.revoked, revoked.is_open(0.0)) == (1001.0, False)


def test_sessions_end(opened):
    """A session is seen, is taken away, and goes by itself when it is old or was not used."""
    opened.tokens.add(TOKEN)
    opened.tokens.open_session(SESSION)
    opened.tokens.see_session(SESSION.digest, at=2000.0)
    seen = Session(SESSION.digest, TOKEN.token, created=1000.0, seen=2000.0)
    assert opened.tokens.session(SESSION.digest) == (seen, TOKEN)
    assert seen.is_open(2000.0 + IDLE_S - 1)
    assert not seen.is_open(2000.0 + IDLE_S)
    busy = Session(b"t" * 32, TOKEN.token, created=0.0, seen=SESSION_S)
    assert not busy.is_open(SESSION_S)
    assert opened.tokens.end_old_sessions(2000.0 + IDLE_S - 1) == 0
    late = Session(b"u" * 32, TOKEN.token, created=2000.0 + IDLE_S, seen=2000.0 + IDLE_S)
    opened.tokens.open_session(late)  # which sweeps
    assert opened.tokens.session(SESSION.digest) is None
    opened.tokens.end_session(late.digest)
    assert opened.tokens.session(late.digest) is None
    assert faults_of(opened._database) == []


def test_neither_is_exported():
    """What says who may ask is among no tables that are written for others."""
    assert not {"tokens", "sessions", "meta"} & set(NAMES)
    assert "runs" in NAMES
