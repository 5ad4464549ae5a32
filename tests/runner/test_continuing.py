"""Runs that are continued, replayed or stopped at awkward moments."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from math import inf, nan

import pytest

from denv.errors import EndpointError, ResumeError, StoreError, SuiteError, UsageError
from denv.records import Endpoint, Kind, Price, Secret, Thresholds, Timeouts
from denv.report import validate
from denv.runner import Settings, run_parity
from denv.runner.searching import KillableSearch
from tests import suites
from tests.stubs import StubServer, answers

GONE = "http://127.0.0.1:9/v1"


@pytest.fixture
def run(store):
    """Run a suite to its document."""

    async def start(suite, stage, reference, **options):
        settings = options.pop("settings", None)
        report = await run_parity(
            suite, stage=stage, reference=reference, settings=settings, store=store, **options
        )
        document = {**report.head, "cases": list(report.cases())}
        validate(document)
        counted = sum(
            kind[outcome]
            for kind in document["kinds"].values()
            for outcome in ("pass", "fail", "reference-fail", "unmeasured", "reference-error")
        )
        assert counted == len(document["cases"])
        return document

    return start


def side(stub, **options):
    return Endpoint(stub.url, **{"model": "stub", "retries": 0, **options})


def asked(stub):
    """Give what was asked apart from preflights."""
    contents = [seen.json["messages"][-1]["content"] for seen in stub.seen if seen.method == "POST"]
    return [content for content in contents if content != "Hello"]


class Breaking:
    """Echoes, but breaks at these numbers while ``broken`` holds."""

    def __init__(self, *numbers):
        self.broken = True
        self.contents = {f"number {number};" for number in numbers}

    def __call__(self, request, n):
        content = request["messages"][-1]["content"]
        if self.broken and content in self.contents:
            return answers.error(500, "boom")
        return answers.completion(content)


# ---------------------------------------------------------------- resuming


async def test_fail_fast_that_has_ended_asks_nothing_more(tmp_path, serve, run):
    """A run that stopped because it was decided is still decided when it is resumed."""
    stage, reference = await serve(lambda r, n: answers.completion("Hello")), await serve()
    suite = suites.load(tmp_path, suites.numbered(50))
    settings = Settings(fail_fast=True)
    both = side(stage, concurrency=1), side(reference, concurrency=1)
    first = await run(suite, *both, settings=settings)
    assert len(first["cases"]) < 50
    before = len(asked(stage))
    again = await run(suite, *both, settings=settings, resume=first["run"])
    assert len(asked(stage)) == before
    assert again["verdict"] == first["verdict"] == "fail"
    whole = await run(suite, *both, resume=first["run"])
    assert whole["kinds"]["exact"]["fail"] == 50
    # The one that was in flight when the run stopped may have been asked and given up.
    assert len(asked(stage)) <= 51
    assert set(asked(stage)) == {f"number {n};" for n in range(50)}


async def test_run_whose_stage_was_unreachable_is_continued(tmp_path, serve, run):
    """When the stage is there again, the same run asks it every case."""
    reference = await serve()
    suite = suites.load(tmp_path, suites.numbered(5))
    async with StubServer() as gone:
        url, port = gone.url, gone._port
    first = await run(suite, Endpoint(url, model="stub", retries=0), side(reference))
    assert (first["verdict"], first["cases"]) == ("fail", [])
    async with StubServer(port=port) as back:
        again = await run(suite, side(back), side(reference), resume=first["run"])
        assert len(asked(back)) == 5
    assert again["verdict"] == "pass"
    assert again["run"] == first["run"]


@pytest.mark.parametrize("obstacle", ["offline", "key", "gone", "stop"])
async def test_resume_that_cannot_ask_loses_nothing(tmp_path, serve, run, store, obstacle):
    """A run that ended is left as it was where what it lacks cannot be asked again."""
    handler = Breaking(2)
    stage, reference = await serve(), await serve(handler)
    suite = suites.load(tmp_path, suites.numbered(5))
    first = await run(suite, side(stage), side(reference))
    kept = store.answers(first["run"], 0, 9), list(store.results(first["run"]))
    before = len(asked(reference))
    options = {"resume": first["run"]}
    if obstacle == "stop":
        options["stop"] = asyncio.Event()
        options["stop"].set()
    if obstacle == "offline":
        options["settings"] = Settings(offline=True)
        with pytest.raises(UsageError, match="reference to case 'c2'"):
            await run(suite, side(stage), side(reference), **options)
    elif obstacle == "key":
        reference._handler = answers.needs_key("right")
        with pytest.raises(EndpointError, match="401"):
            await run(suite, side(stage), side(reference, key=Secret("wrong-key")), **options)
    else:
        if obstacle == "gone":
            reference._handler = answers.failing(1000, 500)
        document = await run(suite, side(stage), side(reference), **options)
        assert document["verdict"] == {"gone": "error", "stop": "cancelled"}[obstacle]
        assert len(document["cases"]) == 5
    assert (store.answers(first["run"], 0, 9), list(store.results(first["run"]))) == kept
    assert len(asked(reference)) == before
    handler.broken, reference._handler = False, handler
    again = await run(suite, side(stage), side(reference), resume=first["run"])
    assert again["verdict"] == "pass"
    assert len(asked(stage)) == 5


async def test_answers_of_two_models_are_not_one_run(tmp_path, serve, run):
    """Where nobody named the model and another one is served now, the run is not continued."""
    stage, reference = await serve(Breaking(), models=["a"]), await serve()
    suite = suites.load(tmp_path, suites.numbered(50))
    stop = asyncio.Event()
    first = await run(
        suite,
        side(stage, model=None),
        side(reference),
        stop=stop,
        watch=lambda progress: stop.set() if progress.done > 5 else None,
    )
    stage._models = ["b"]
    before = len(asked(stage))
    with pytest.raises(ResumeError, match=r"stage .*'a'.*'b'"):
        await run(suite, side(stage, model=None), side(reference), resume=first["run"])
    assert len(asked(stage)) == before
    stage._models = ["a"]
    again = await run(suite, side(stage, model=None), side(reference), resume=first["run"])
    assert again["verdict"] == "pass"


async def test_stopped_in_the_preflight(tmp_path, serve, run):
    """A run that is stopped before its first case is cancelled, and can be continued."""
    waiting = asyncio.Event()

    async def late(request):
        waiting.set()
        await asyncio.sleep(0 if go_on else 30)
        return answers.completion(request["messages"][-1]["content"])

    go_on = False
    stage, reference = await serve(lambda request, n: late(request)), await serve()
    suite = suites.load(tmp_path, suites.numbered(3))
    stop = asyncio.Event()
    running = asyncio.create_task(run(suite, side(stage), side(reference), stop=stop))
    await waiting.wait()
    stop.set()
    first = await asyncio.wait_for(running, 5)
    assert (first["verdict"], first["cases"]) == ("cancelled", [])
    go_on = True
    again = await run(suite, side(stage), side(reference), resume=first["run"])
    assert again["verdict"] == "pass"


async def test_store_that_fails_ends_the_run(tmp_path, serve, run, store):
    """A store that can no longer be written is an error, and the run can be continued."""
    suite = suites.load(tmp_path, suites.numbered(200))
    stub = await serve()
    ids: list[str] = []

    def fill(progress):
        if progress.done == 20:
            with store._database.engine.connect() as connection:
                connection.exec_driver_sql(
                    "CREATE TRIGGER full BEFORE INSERT ON answers "
                    "BEGIN SELECT RAISE(ABORT, 'no space left'); END"
                )

    with pytest.raises(StoreError, match="no space left"):
        await run(suite, side(stub), side(stub), watch=fill, on_start=ids.append)
    with store._database.engine.connect() as connection:
        connection.exec_driver_sql("DROP TRIGGER full")
    journaled = len(store.answers(ids[0], 0, 200))
    before = len(asked(stub))
    again = await run(suite, side(stub), side(stub), resume=ids[0])
    assert again["verdict"] == "pass"
    assert len(asked(stub)) - before == 400 - journaled


async def test_suite_that_changes_meanwhile(tmp_path, serve, run):
    """A suite's file that is changed while it is asked ends the run with an error."""
    path = suites.write(tmp_path, suites.numbered(250))
    suite = suites.load(tmp_path, suites.numbered(250))
    stub = await serve()

    def change(progress):
        if progress.done == 20:
            path.write_bytes(path.read_bytes().replace(b"number 249;", b"number 000;"))

    with pytest.raises(SuiteError, match="changed"):
        await run(suite, side(stub), side(stub), watch=change)


# ---------------------------------------------------------------- cache


async def test_stage_is_asked_though_it_is_the_reference_too(tmp_path, serve, run):
    """Where both sides are one endpoint, kept answers serve the reference and never the stage."""
    stub = await serve()
    suite = suites.load(tmp_path, suites.numbered(5))
    await run(suite, side(stub), side(stub))
    before = len(asked(stub))
    document = await run(suite, side(stub), side(stub), settings=Settings(max_age_s=3600))
    assert len(asked(stub)) - before == 5
    assert (document["stage"]["cached"], document["reference"]["cached"]) == (0, 5)


async def test_kept_reference_need_not_be_there(tmp_path, serve, run):
    """Where all of the reference's answers are kept it may be gone; where one lacks, it may not."""
    stage = await serve()
    suite = suites.load(tmp_path, suites.numbered(5))
    settings = Settings(max_age_s=3600)
    async with StubServer() as reference:
        kept = side(reference)
        await run(suite, side(stage), kept)
    document = await run(suite, side(stage), kept, settings=settings)
    assert document["verdict"] == "pass"
    before = len(asked(stage))
    more = suites.load(tmp_path, suites.numbered(6))
    document = await run(more, side(stage), kept, settings=settings)
    assert (document["verdict"], document["cases"]) == ("error", [])
    assert len(asked(stage)) == before


async def test_offline_can_be_resumed(tmp_path, serve, run):
    """Offline a run that was stopped goes on where its missing answers are kept elsewhere."""
    stub = await serve()
    suite = suites.load(tmp_path, suites.numbered(200))
    stop = asyncio.Event()
    first = await run(
        suite,
        side(stub),
        side(stub),
        stop=stop,
        watch=lambda progress: stop.set() if progress.done > 20 else None,
    )
    settings = Settings(offline=True)
    with pytest.raises(UsageError, match="and 3"):
        await run(suite, side(stub), side(stub), settings=settings, resume=first["run"])
    await run(suite, side(stub), side(stub))
    before = len(stub.seen)
    document = await run(suite, side(stub), side(stub), settings=settings, resume=first["run"])
    assert len(stub.seen) == before
    assert document["verdict"] == "pass"


# ---------------------------------------------------------------- sides


async def test_rate_limits_alone_are_no_failure(tmp_path, serve, run):
    """A stage that only ever says 429 is inconclusive; a reference that does is an error."""
    limited, good = await serve(answers.rate_limited(1000, "0")), await serve()
    suite = suites.load(tmp_path, suites.numbered(3))
    document = await run(suite, side(limited), side(good))
    assert document["verdict"] == "inconclusive"
    assert any("rate-limited" in reason for reason in document["reasons"])
    document = await run(suite, side(good), side(limited))
    assert document["verdict"] == "error"
    assert asked(good) == asked(limited) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": inf},
        {"rate": nan},
        {"concurrency": 0},
        {"retries": -1},
        {"timeouts": Timeouts(total_s=inf)},
        {"timeouts": Timeouts(connect_s=0)},
        {"price": Price(nan, 1.0)},
        {"price": Price(1.0, inf)},
    ],
    ids=str,
)
async def test_numbers_that_mean_nothing(tmp_path, serve, run, wrong):
    """A side's number that is out of range is refused before anything is sent."""
    stub = await serve()
    suite = suites.load(tmp_path, suites.numbered(1))
    with pytest.raises(UsageError, match="stage"):
        await run(suite, side(stub, **wrong), side(stub))
    assert stub.seen == []


@pytest.mark.parametrize("max_age_s", [-1.0, inf, nan])
async def test_ages_that_mean_nothing(tmp_path, serve, run, max_age_s):
    """An age that no document can hold is refused before anything is sent."""
    stub = await serve()
    suite = suites.load(tmp_path, suites.numbered(1))
    with pytest.raises(UsageError, match="max-age"):
        await run(suite, side(stub), side(stub), settings=Settings(max_age_s=max_age_s))
    assert stub.seen == []


async def test_threshold_of_half_is_met_by_half(tmp_path, serve, run):
    """The resumed part counts with the first: 5 of 10 pass, which is a half and no less."""
    handler = Breaking(0, 1, 2, 3, 4)
    stage, reference = await serve(handler), await serve()
    suite = suites.load(tmp_path, suites.numbered(10))
    settings = Settings(thresholds=Thresholds(rates={Kind.EXACT: Fraction(1, 2)}))
    first = await run(suite, side(stage), side(reference), settings=settings)
    handler.broken = False
    again = await run(suite, side(stage), side(reference), settings=settings, resume=first["run"])
    assert first["kinds"] == again["kinds"]
    assert again["kinds"]["exact"]["pass_rate"] == 0.5
    assert again["verdict"] == "pass"


def test_closed_search_starts_nothing():
    """A search that comes after the end starts no process that nobody would end."""
    search = KillableSearch()
    search.close()
    with pytest.raises(TimeoutError):
        search("a$", "a" * 100_000)
    assert search._child is None


async def test_one_run_is_carried_out_once_at_a_time(tmp_path, run, serve):
    """While a run goes on nobody else may resume it; afterwards its lock is gone."""
    stub = await serve()
    suite = suites.load(tmp_path, suites.numbered(60))
    refused = []

    async def again(run_id):
        with pytest.raises(ResumeError, match="another process") as caught:
            await run(suite, side(stub), side(stub), resume=run_id)
        refused.append(caught.value)

    tasks = []

    def on_start(run_id):
        tasks.append(asyncio.create_task(again(run_id)))

    await run(suite, side(stub), side(stub), on_start=on_start)
    await asyncio.gather(*tasks)
    assert len(refused) == 1
    assert not list((tmp_path / "home").glob("*.lock"))
