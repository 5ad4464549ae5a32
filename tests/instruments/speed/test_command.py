"""``denv bench speed`` from its options to its files and exit codes."""

from __future__ import annotations

import contextlib
import json

import pytest

from denv.cli.bench import speed
from denv.store import open_store
from denv.store.runlog import stage_digest
from tests.instruments.speed.test_live import KEY, speaking
from tests.stubs import answers

SPEAKING = speaking(pause_s=0.004)
SMALL = ("--tokens", "12", "--depth", "60", "--concurrency", "1", "--retries", "0")


async def test_a_server_is_measured(denv, serve, tmp_path):
    """Cost first, then the tables on standard error, the document and the page in their files."""
    stub = await serve(SPEAKING)
    ended = await denv(
        "bench", "speed", "--stage", stub.url, *SMALL,
        "--json", tmp_path / "speed.json", "--html", tmp_path / "speed.html",
    )  # fmt: skip
    assert (ended.code, ended.out) == (0, "")
    assert ended.lines[0].startswith("stage: at most 13 requests, about ")
    assert "Speed by context depth" in ended.err
    document = json.loads((tmp_path / "speed.json").read_text("utf-8"))
    assert document["settings"]["depths"] == [60]
    assert document["depths"][0]["cells"][0]["usable"] == 3
    assert "<svg" in (tmp_path / "speed.html").read_text("utf-8")
    assert stub.chats == 13 + 1  # and the preflight


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Give what opens the data folder that the command is given."""
    monkeypatch.delenv("DENV_DATABASE", raising=False)
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(contextlib.closing(open_store(tmp_path / "kept")))


async def test_a_run_that_has_ended_is_kept(denv, serve, kept, tmp_path):
    """Its document is in the data with what was asked; the last line has its id, and no verdict."""
    stub = await serve(SPEAKING)
    ended = await denv(
        "bench", "speed", "--stage", stub.url, *SMALL, "--store", tmp_path / "kept", "--json", "-"
    )
    document, store = json.loads(ended.out), kept()
    record = store.get_measure(document["bench"])
    assert (record.instrument, record.state, record.document) == ("speed", "finished", document)
    assert record.settings["stage"]["url"] == stub.url
    assert record.settings["instrument"] == document["settings"]
    assert ended.lines[-1] == f"speed run {record.measure} is kept"
    (row,) = store.browsing.measures()
    assert (row.verdict, row.stage_model) == (None, "stub")
    assert row.stage == stage_digest({"url": stub.url, "model": None})
    assert row.started < row.finished


async def test_a_run_that_was_cut_short_is_not_kept(denv, serve, kept, tmp_path):
    """No row is written before the end, so none can be gone on with in another session."""
    speak = speaking()

    def handler(request, n):
        return answers.error(500, "out of memory") if n > 4 else speak(request, n)

    stub = await serve(handler)
    ended = await denv("bench", "speed", "--stage", stub.url, *SMALL, "--store", tmp_path / "kept")
    assert ended.code == 4
    assert kept().browsing.measures() == []


async def test_what_cannot_be_kept_is_shown(denv, serve, kept, tmp_path):
    """A database that takes no more costs the row, exit 4, and not what was measured."""
    with kept().browsing._read() as connection:  # a fault below the store
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON measures BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        connection.commit()
    stub = await serve(SPEAKING)
    ended = await denv(
        "bench", "speed", "--stage", stub.url, *SMALL, "--store", tmp_path / "kept", "--json", "-"
    )
    assert ended.code == 4
    assert json.loads(ended.out)["schema"] == "denv.bench.speed/1"
    assert "Speed by context depth" in ended.err
    assert "full" in ended.lines[-1]
    assert kept().browsing.measures() == []


async def test_standard_output_is_the_document(denv, serve):
    """``--json -`` keeps standard output clean."""
    stub = await serve(SPEAKING)
    ended = await denv("bench", "speed", "--stage", stub.url, *SMALL, "--json", "-", "--quiet")
    assert json.loads(ended.out)["schema"] == "denv.bench.speed/1"


async def test_a_reference_is_a_second_column(denv, serve):
    """Both sides are asked the same number of requests, each with its own model."""
    stage, reference = (
        await serve(SPEAKING),
        await serve(SPEAKING, models=["other"]),
    )
    ended = await denv(
        "bench", "speed", "--stage", stage.url, "--reference", reference.url, *SMALL,
        "--reference-price", "1/2", "--json", "-",
    )  # fmt: skip
    document = json.loads(ended.out)
    assert stage.chats == reference.chats
    assert document["servers"]["reference"]["model"] == "other"
    assert [cell["server"] for cell in document["depths"][0]["cells"]] == ["stage", "reference"]
    assert "at the given price" in ended.lines[1]


async def test_draft_servers_are_columns(denv, serve):
    """The stage and a server of another length stand side by side at each depth."""
    stage, other = await serve(SPEAKING), await serve(SPEAKING)
    ended = await denv(
        "bench", "speed", "--stage", stage.url, "--draft-server", f"3={other.url}", *SMALL,
        "--json", "-",
    )  # fmt: skip
    document = json.loads(ended.out)
    cells = document["depths"][0]["cells"]
    assert [(cell["server"], cell["draft"]) for cell in cells] == [
        ("stage", None),
        ("stage, draft 3", 3),
    ]
    assert document["drafting"]["state"] == "servers"
    assert other.chats == stage.chats


async def test_draft_lengths_go_into_the_request(denv, serve):
    """They are tried first; a server that tells no drafts gives one column."""
    stage = await serve(SPEAKING)
    ended = await denv(
        "bench", "speed", "--stage", stage.url, "--draft", "0,2,8", *SMALL, "--json", "-"
    )
    asked = [json.loads(seen.body).get("speculative.n_max") for seen in stage.seen if seen.body]
    assert [length for length in asked if length is not None] == [8, 0]
    assert json.loads(ended.out)["drafting"]["state"] == "untold"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--stage URL is missing"),
        (("--depth", "0"), "--depth '0': numbers from 1 to 10,000,000"),
        (("--depth", "a"), "--depth 'a': write whole numbers, as in 1,2,4"),
        (("--concurrency", "1,2000"), "--concurrency '1,2000': numbers from 1 to 1,000"),
        (("--draft", "4"), "--draft takes at least two lengths, since they are compared"),
        (("--draft", "1,-2"), "--draft '1,-2': numbers from 0 to 1,000"),
        (("--draft-server", "x"), "--draft-server: write it as N=URL, N being the draft length"),
        (
            ("--draft-server", "1=http://127.0.0.1:1"),
            (
                "--draft-server: http://127.0.0.1:1: a base URL ends in /v1, "
                "is http://127.0.0.1:1/v1 meant?"
            ),
        ),
        (
            ("--draft", "1,2", "--draft-server", "1=http://127.0.0.1:1/v1"),
            "--draft and --draft-server exclude each other",
        ),
        (
            ("--draft", "1,2", "--stage-extra", '{"speculative.n_max": 3}'),
            "--draft sets speculative.n_max: leave it out of --stage-extra",
        ),
        (
            ("--draft-server", "1=http://127.0.0.1:1/v1", "--draft-server", "01=http://b/v1"),
            "--draft-server: the length 1 stands twice",
        ),
        (("--json", "/nowhere/a.json"), "--json /nowhere/a.json: there is no folder /nowhere"),
        (("--stage-key-env", "NOT_SET"), None),
    ],
)  # fmt: skip
async def test_what_is_asked_for_wrongly(denv, options, said):
    """One line that names the option, exit 2, and nothing is sent."""
    stage = ("--stage", "http://127.0.0.1:9/v1") if options else ()
    ended = await denv("bench", "speed", *stage, *options)
    assert ended.code == 2
    assert len(ended.lines) == 1
    if said is not None:
        assert ended.lines == [f"denv: {said}"]


@pytest.mark.parametrize("option", [("--rounds", "2"), ("--tokens", "7")])
async def test_numbers_below_the_least(denv, option):
    """A median of two and a rate of seven tokens are not to be had."""
    ended = await denv("bench", "speed", "--stage", "http://127.0.0.1:9/v1", *option)
    assert ended.code == 2
    assert option[0] in ended.err


async def test_a_key_goes_to_no_other_host(denv, serve, monkeypatch):
    """A draft server on another port is another host: refused, and nothing is sent to it."""
    stage, other = await serve(SPEAKING), await serve(SPEAKING)
    monkeypatch.setenv("STAGE_KEY", KEY)
    ended = await denv(
        "bench", "speed", "--stage", stage.url, "--stage-key-env", "STAGE_KEY",
        "--draft-server", f"2={other.url}", *SMALL,
    )  # fmt: skip
    assert ended.code == 2
    assert "go to its own host alone" in ended.lines[0]
    assert other.seen == []


async def test_a_server_that_cannot_be_reached(denv):
    """Exit 4, one line, after the cost."""
    ended = await denv(
        "bench", "speed", "--stage", "http://127.0.0.1:9/v1", "--stage-model", "m", *SMALL
    )
    assert ended.code == 4
    assert "the stage is unreachable" in ended.lines[-1]


async def test_a_server_that_fails_every_stream(denv, serve):
    """Exit 4 where nothing could be measured."""

    def handler(request, n):
        if request.get("stream"):
            return answers.error(500, "out of memory")
        return answers.completion("Hello")

    stub = await serve(handler)
    ended = await denv("bench", "speed", "--stage", stub.url, *SMALL)
    assert ended.code == 4
    assert "the stage gives no stream: " in ended.lines[-1]


def test_there_is_no_option_of_pace():
    """Rate, sampling and concurrency of a side would change what is measured."""
    names = {name for parameter in speed.params for name in parameter.opts}
    assert "--stage-model" in names
    assert not names & {"--stage-rate", "--stage-sampled", "--stage-concurrency", "--rate"}
