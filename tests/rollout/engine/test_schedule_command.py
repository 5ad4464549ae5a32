"""``denv parity schedule`` against a real engine, in this process."""

from __future__ import annotations

import asyncio
import json
import uuid

import pytest
from jsonschema import Draft202012Validator

from denv import cli
from denv.schemas import schema

DAILY = ("--every", "24h")


@pytest.fixture
def name():
    """Give a name that no other test has."""
    return f"s{uuid.uuid4().hex[:10]}"


@pytest.fixture
def schedule(engine, releases, name, capsys):
    """Run a command of a schedule beside the engine; give its exit code, output and errors."""
    server = ("--temporal", engine.connection.address, "--queue", engine.queue)

    async def run(command, *arguments, given=name):
        capsys.readouterr()
        words = ["parity", "schedule", command, *([given] if given else []), *arguments]
        if command != "list":
            words += server
        code = await asyncio.to_thread(cli.run, [str(word) for word in words])
        return code, *capsys.readouterr()

    return run


def followed(document):
    """Hold a document against its schema, and give it."""
    Draft202012Validator(schema("schedule-1")).validate(document)
    return document


async def until_history(engine, name, count):
    """Wait until a schedule has so many full runs."""
    async with asyncio.timeout(120):
        while sum(f.kind == "full" for f in engine.store.schedules.history(name)) < count:
            await asyncio.sleep(0.2)


@pytest.mark.slow
async def test_a_schedules_life(schedule, engine, releases, name, tmp_path):
    """Added, shown, triggered, drawn, paused, resumed, given a new baseline, removed."""
    release = releases.write()
    code, out, err = await schedule(
        "add", "--release", release, "--cron", "30 2 * * *", "--timezone", "Europe/Berlin",
        "--jitter", "5m", "--sentinel-every", "12h",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"schedule {name} of r1: cron 30 2 * * * (Europe/Berlin)"
    timing = engine.store.schedules.get_schedule(name).spec
    assert timing["cadence_s"] == pytest.approx(86_400, rel=0.01)

    code, out, _ = await schedule("show", "--json")
    shown = followed(json.loads(out))
    assert code == 0
    assert len(shown["engine"]["next_times"]) >= 5
    assert not shown["engine"]["paused"]
    assert shown["history"] == []

    code, out, _ = await schedule("trigger")
    assert code == 0
    await until_history(engine, name, 1)
    code, out, _ = await schedule("trigger", "--new-baseline")
    await until_history(engine, name, 2)
    code, out, _ = await schedule("show", "--picture", tmp_path / "h.svg")
    assert "100.0% passed  baseline" in out
    assert "detectors: a false alarm every 365d on average, 730 looks" in out
    assert b"pass rate" in (tmp_path / "h.svg").read_bytes()

    code, out, _ = await schedule("pause", "--note", "maintenance")
    assert code == 0
    assert "paused: maintenance" in (await schedule("show"))[1]
    assert "paused: maintenance" in (await schedule("list", given=None))[1]
    assert (await schedule("resume"))[0] == 0
    assert "resumed after: maintenance" in (await schedule("show"))[1]
    shown = followed(json.loads((await schedule("show", "--json"))[1]))
    assert [firing["kind"] for firing in shown["history"]] == ["full", "full", "skipped"]
    assert shown["detectors"]["by_name"]
    assert (await schedule("resume"))[0] == 2

    assert (await schedule("remove"))[0] == 0
    code, _, err = await schedule("show")
    assert code == 2
    assert f"there is no schedule '{name}'" in err
    assert (await schedule("remove"))[0] == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "give --cron or --every, one of them"),
        (("--every", "6h", "--cron", "0 0 * * *"), "give --cron or --every, one of them"),
        (("--every", "1s"), "--every must be at least 60s"),
        (("--every", "soon"), "--every: "),
        (("--cron", "0 0 * *"), "--cron '0 0 * *': write five fields"),
        (("--cron", "61 0 * * *"), "--cron '61 0 * * *': "),
        (("--cron", "0 0 29 2 *"), "fires less than twice in the year to come"),
        (("--cron", "0 0 * * *", "--timezone", "Mars"), "--timezone 'Mars': there is no such"),
        (("--every", "1h", "--timezone", "Europe/Berlin"), "--timezone belongs to --cron"),
        (("--every", "1h", "--jitter", "2h"), "--jitter must be shorter than --every"),
        (("--every", "1h", "--overlap", "never"), "never"),
        (("--every", "1h", "--sentinel-every", "1h", "--sentinel-tokens", "9"), "--sentinel-tok"),
    ],
)
async def test_what_cannot_be(schedule, engine, releases, options, words):
    """It is one line that names the option, and no schedule is left behind."""
    code, _, err = await schedule("add", "--release", releases.write(), *options)
    assert code == 2
    assert words in err
    assert len(err.splitlines()) == 1
    assert engine.store.schedules.list_schedules() == []
    code, _, err = await schedule("remove")
    assert "there is no schedule" in err


async def test_names(schedule, releases):
    """A name stands in files and identifiers; one that is taken is refused."""
    code, _, err = await schedule("add", "--release", releases.write(), *DAILY, given="a/b")
    assert code == 2
    assert "a schedule's name is 1 to 40 of" in err
    assert (await schedule("add", "--release", releases.write(), *DAILY))[0] == 0
    code, _, err = await schedule("add", "--release", releases.write(), *DAILY)
    assert code == 2
    assert "there is a schedule named" in err
    code, _, err = await schedule("pause", "--note", "x", given="other")
    assert code == 2
    assert "there is no schedule 'other'" in err
    code, _, err = await schedule("show", "--picture", "h.svg")
    assert code == 2
    assert "has no full run yet" in err


async def test_without_an_engine(engine, releases, name, capsys):
    """Showing needs the data alone and says what is missing; changing needs the engine."""
    code = await asyncio.to_thread(
        cli.run, ["parity", "schedule", "add", name, "--release", str(releases.write()), *DAILY]
    )
    assert code == 4
    assert "no engine serves" in capsys.readouterr().err
    assert await asyncio.to_thread(cli.run, ["parity", "schedule", "list"]) == 0
    assert capsys.readouterr().out == "no schedule\n"
