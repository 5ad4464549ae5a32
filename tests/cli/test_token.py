"""``denv token``: shown once, listed without its secret, and taken back."""

from __future__ import annotations

import hashlib

import pytest

from denv.cli import run
from denv.serve.access.issuing import SHOWN
from denv.store import open_store


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Give a data folder."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path))
    monkeypatch.delenv("DENV_DATABASE", raising=False)
    return tmp_path


def test_a_token_from_its_making_to_its_end(capsys, home):
    """The one line of standard output is the token; the data hold its hash, the list its id."""
    assert run(["token", "new", "--role", "run", "--name", "Ann", "--expires", "90d"]) == 0
    out, err = capsys.readouterr()
    shown = out.strip()
    found = SHOWN.fullmatch(shown)
    assert found is not None
    assert shown not in err
    store = open_store(home)
    kept = store.tokens.get(found["token"])
    store.close()
    assert kept is not None
    assert (kept.name, kept.role) == ("Ann", "run")
    assert kept.digest == hashlib.sha256(shown.encode()).digest()
    assert kept.expires == pytest.approx(kept.created + 90 * 86400)
    secret = shown.rsplit(kept.token + "_", 1)[1].encode()
    assert all(secret not in path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert run(["token", "list"]) == 0
    out = capsys.readouterr().out
    assert kept.token in out
    assert "open until" in out
    assert secret.decode() not in out
    for said in ("is revoked", "was revoked before"):
        assert run(["token", "revoke", kept.token]) == 0
        assert said in capsys.readouterr().err
    assert run(["token", "list"]) == 0
    assert "revoked" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["new", "--name", "x"],
        ["new", "--role", "admin", "--name", "x"],
        ["new", "--role", "read", "--name", " "],
        ["new", "--role", "read", "--name", "a\u202eb"],
        ["new", "--role", "read", "--name", "x" * 81],
        ["new", "--role", "read", "--name", "x", "--expires", "soon"],
        ["new", "--role", "read", "--name", "x", "--expires", "0s"],
        ["revoke", "nope"],
        ["revoke", "a\0b"],
    ],
)
def test_what_cannot_be_asked(capsys, arguments):
    """A wrong role, name, time or id is a usage error, and nothing is made."""
    assert run(["token", *arguments]) == 2
    capsys.readouterr()
    assert run(["token", "list"]) == 0
    assert capsys.readouterr().out == ""


def test_two_tokens_have_nothing_in_common(capsys):
    """Each is new."""
    made = []
    for _ in range(2):
        assert run(["token", "new", "--role", "read", "--name", "x"]) == 0
        made.append(capsys.readouterr().out.strip())
    assert len({token.split("_")[1] for token in made}) == 2
    assert len({token.split("_", 2)[2] for token in made}) == 2
