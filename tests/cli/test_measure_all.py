"""``denv parity measure all``, against stub servers: an API that offers chat and nothing else."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from denv.schemas import schema
from tests.stubs import answers

SMALL = ("--texts", 2, "--items", 2, "--per-template", 1, "--max-tokens", 8)


def chat_only(request, n):
    """Answer chat with its last words; any other path is not there."""
    if request is None or "messages" not in request:
        return answers.error(404, "not found")
    return answers.completion(request["messages"][-1]["content"][:40])


@pytest.fixture
def ask(denv, serve):
    async def run(*options):
        stub = await serve(chat_only)
        ended = await denv(
            "parity", "measure", "all", "--stage", stub.url, "--reference", stub.url,
            "--retries", 0, "--concurrency", 8, *SMALL, *options,
        )  # fmt: skip
        return ended, stub

    return run


@pytest.mark.slow
async def test_one_document_for_all(ask, tmp_path):
    """The document holds gates and looks, is as its schema says, and its verdict is the exit."""
    target = tmp_path / "all.json"
    ended, _ = await ask("--force", "--json", target, "--html", tmp_path / "all.html")
    document = json.loads(target.read_text("utf-8"))
    Draft202012Validator(schema("measure-1")).validate(document)
    assert document["stopped"] is None
    assert {document[part]["verdict"] for part in ("tokens", "answers", "derivations")} == {
        "undecided"
    }
    assert ended.code == 3
    assert document["spent"]["stage"]["requests"] > 100
    assert document["looks"]["alpha_each"] == pytest.approx(0.05 / 3)
    assert "UNDECIDED" in ended.err
    html = (tmp_path / "all.html").read_text("utf-8")
    assert all(f'<h2 id="{part}">' in html for part in ("gates", "tokens", "answers"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--confidence", "90%"), "must be at least 95 %"),
        (("--confidence", "x"), "--confidence"),
        (("--texts", 0), "--texts"),
        (("--json", "/nowhere/all.json"), "there is no folder"),
        (("--resume", "all-1"), "there is no measurement 'all-1'"),
    ],
)
async def test_bad_input_is_a_line_and_nothing_is_sent(ask, options, says):
    """What cannot be done as asked is exit 2, named, before any request."""
    ended, stub = await ask(*options)
    assert ended.code == 2
    assert says in ended.err
    assert stub.seen == []
