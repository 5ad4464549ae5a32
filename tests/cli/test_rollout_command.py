"""``denv rollout``: what is refused, what is shown without an engine, and the way to the end."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import closing
from typing import get_args

import pytest
from jsonschema import Draft202012Validator, ValidationError

from denv.records import Kind, Verdict
from denv.release import load_release
from denv.rollout import states
from denv.rollout.documents import now_document
from denv.rollout.engine.admitting import admit, terms_of
from denv.rollout.engine.commits import commit_of
from denv.rollout.engine.orders import order_of
from denv.rollout.plan import freeze
from denv.rollout.states.rules import Rule
from denv.schemas import schema
from denv.store import RolloutRecord, open_store
from tests.rollout.engine.staging import Releases


@pytest.fixture
async def releases(tmp_path, serve):
    """Give what writes releases, to servers that nobody asks here."""
    return Releases(tmp_path, stage=await serve(), reference=await serve())


def followed(document):
    """Hold a document against its schema, and give it."""
    Draft202012Validator(schema("rollout-1")).validate(document)
    return document


class Table:
    """A rollout that the test decides on, without any engine."""

    def __init__(self, home, release):
        self.store = open_store(home)
        self.plan = freeze(load_release(release), data_folder=home)
        order = order_of(self.plan, rollout="r1", started=1_700_000_000.0)
        admitted = admit(order, self.store.rollouts, at=1_700_000_000.0)
        self.state = states.state_from_json(admitted.state)
        self.decide(states.event_from_json(admitted.events[0]))

    def decide(self, event):
        """Write the decision that an event makes."""
        record = self.store.rollouts.get_rollout("r1")
        assert record is not None
        step = states.next_state(self.state, event)
        commit = commit_of(
            record,
            self.plan,
            step=step,
            phase=self.state.phase.value,
            event=states.event_to_json(event),
            ended=step.state.phase in states.TERMINAL,
            at=1_700_000_000.0 + step.state.steps,
        )
        self.store.rollouts.commit_step("r1", commit)
        self.state = step.state


async def test_without_an_engine_one_line_says_what_to_do(denv, releases):
    """Nothing is begun, and the line names both ways."""
    ended = await denv("rollout", "start", releases.write())
    assert ended.code == 4
    assert len(ended.lines) == 1
    assert "start one by denv serve, or name one by --temporal" in ended.err


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"weights": {"file": "."}}, "rollout.weights.file: {folder}: is a folder"),
        (
            {"weights": {"file": "none/w.json"}},
            "rollout.weights.file: {folder}/none/w.json: its folder is not there",
        ),
        ({"weights": {"file": "suite.jsonl"}}, "rollout.weights.file: {folder}/suite.jsonl: no "),
        ({"golden": "empty.jsonl"}, "empty.jsonl: "),
    ],
)
async def test_what_is_wrong_here_is_told_before_an_engine_is_looked_for(
    denv, releases, changes, line
):
    """A rollout that could never be carried out is refused with exit code 2, in one line."""
    (releases.folder / "empty.jsonl").write_text("", "utf-8")
    ended = await denv("rollout", "start", releases.write(**changes))
    assert ended.code == 2
    assert len(ended.lines) == 1
    assert line.format(folder=releases.folder) in ended.err


async def test_a_threshold_for_a_kind_that_the_suite_lacks_needs_no_engine(denv, releases):
    """The mistake in the release is told, not that no engine is there."""
    path = releases.write()
    path.write_text(path.read_text().replace("exact: 95%", "tool-calls: 95%"), "utf-8")
    ended = await denv("rollout", "start", path)
    assert ended.code == 2
    assert "parity.pass" in ended.err


async def test_gates_need_a_folder_that_is_there(denv):
    """A folder of releases that is not there is a mistake in the command."""
    ended = await denv("serve", "--releases", "/nope")
    assert ended.code == 2
    assert "'/nope' does not exist" in ended.err


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--temporal", "nowhere"], "--temporal: 'nowhere' is no HOST:PORT"),
        (["--tls"], "say by --temporal HOST:PORT which server is meant"),
        (["--temporal", "127.0.0.1:1"], "no Temporal server answers at 127.0.0.1:1 without TLS"),
        (
            ["--temporal", "127.0.0.1:1", "--tls-cert", "/none"],
            "--tls-cert and --tls-key belong together",
        ),
        (
            ["--temporal", "127.0.0.1:1", "--tls-ca", "/none"],
            "--tls-ca: /none: No such file or directory",
        ),
    ],
)
async def test_a_server_that_cannot_be_used_is_one_line(denv, releases, options, line):
    """Each mistake about the server is told in one line."""
    ended = await denv("rollout", "start", releases.write(), *options)
    assert ended.code in {2, 4}
    assert ended.lines == [f"denv: {line}"]


async def test_an_api_key_is_sent_over_tls_alone(denv, releases, monkeypatch):
    """A key never travels in the clear, and is not shown."""
    monkeypatch.setenv("THE_KEY", "very-secret")
    where = ["--temporal", "127.0.0.1:1", "--temporal-key-env", "THE_KEY"]
    ended = await denv("rollout", "start", releases.write(), *where)
    assert ended.code == 2
    assert ended.lines == ["denv: an API key is sent over TLS alone: add --tls"]


async def test_status_needs_no_engine(denv, releases, home):
    """Where it stands, what it waits for and until when, and why, out of the data alone."""
    table = Table(home, releases.write())
    table.decide(states.ReplicasStarted(answers=table.state.pending[0].number))
    ended = await denv("rollout", "status", "--json")
    document = followed(json.loads(ended.out))
    assert ended.code == 0
    assert document["schema"] == "denv.rollout/1"
    assert document["phase"] == "health"
    assert [each["for"] for each in document["waits_for"]] == [
        "the health checks",
        "a pass of parity, else it is taken back",
    ]
    # The batch began at second 1 after the start, and has 60 s: 22:13:21 + 60 s.
    assert document["waits_for"][1]["until"] == "2023-11-14T22:14:21Z"
    assert [each["rule"] for each in document["decisions"]] == ["begin", "replicas-started"]
    shown = await denv("rollout", "status")
    assert "waits for the health checks" in shown.out
    listed = await denv("rollout", "list", "--json")
    assert [row["rollout"] for row in json.loads(listed.out)["rollouts"]] == ["r1"]


async def test_how_it_ended_is_the_exit_code(denv, releases, home):
    """A failure is 1; an override needs a failure, a reason, and is given once."""
    table = Table(home, releases.write(golden=None))
    refused = await denv("rollout", "override", "r1", "--reason", "x", "--by", "ann")
    assert refused.code == 2
    table.decide(states.ReplicasStarted(answers=table.state.pending[0].number))
    table.decide(states.Healthy(answers=table.state.pending[0].number))
    table.decide(states.GoldenPassed(answers=table.state.pending[0].number, run="g"))
    table.decide(
        states.ParityEnded(
            answers=table.state.pending[0].number,
            run="p",
            verdict=Verdict.FAIL,
            proof_digest=table.plan.proof_digest,
            tallies=(states.Tally(kind=Kind.EXACT, passed=1, failed=23),),
        )
    )
    table.decide(states.WeightsRestored(answers=table.state.pending[0].number))
    table.decide(states.ReplicasStopped(answers=table.state.pending[0].number))
    ended = await denv("rollout", "status", "r1", "--json")
    assert ended.code == 1
    followed(json.loads(ended.out))
    given = await denv("rollout", "override", "r1", "--reason", "network", "--by", "ann")
    assert given.code == 0
    assert table.store.rollouts.overrides(table.plan.proof_digest)[0].reason == "network"
    again = await denv("rollout", "override", "r1", "--reason", "network", "--by", "ann")
    assert again.code == 2
    told = await denv("rollout", "rollback", "r1", "--reason", "x")
    assert told.lines == ["denv: rollout r1 has ended (rolled-back)"]


def test_the_schema_refuses_what_is_not_of_it(home):
    """A rollout that waits for its turn follows the schema; one with a field more does not."""
    with closing(open_store(home)) as store:
        waiting = now_document(store, "r1")
    followed(waiting)
    with pytest.raises(ValidationError):
        followed({**waiting, "more": 1})
    rollout = schema("rollout-1")["$defs"]["rollout"]
    assert set(rollout["required"]) == set(rollout["properties"])


def test_the_schema_names_each_phase_event_and_rule():
    """What a rollout may say is what its table has."""
    decision = schema("rollout-1")["$defs"]["decision"]["properties"]
    assert set(decision["phase"]["enum"]) == {phase.value for phase in states.Phase}
    assert set(decision["rule"]["enum"]) == {rule.value for rule in Rule}
    events = get_args(get_args(states.Event)[0])
    named = {each.__dataclass_fields__["type"].default for each in events}
    assert set(decision["event"]["enum"]) == named


@pytest.mark.parametrize("columns", [80, 120])
async def test_a_list_is_readable(denv, releases, home, monkeypatch, columns):
    """Each rollout is a line below its stage, whole, and nothing is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    plan = freeze(load_release(releases.write("chat-r8-long-name")), data_folder=home)
    state = states.state_to_json(states.State(terms=terms_of(plan, has_incumbent=False)))
    phases = ("promoted", "rollback-incomplete", "baking")
    store = open_store(home)
    for n, phase in enumerate(phases):
        store.rollouts.create_rollout(
            RolloutRecord(
                rollout=f"r20261130-19053{n}-2bb66{n}",
                stage=f"https://models.example.com/chat-{n % 2}/v1",
                release=plan.release,
                proof=plan.proof_digest,
                started=1_700_000_000.0 + n,
                plan={},
                state=state,
                phase=phase,
                ended=1_700_000_300.0 if phase == "promoted" else None,
            )
        )
    store.close()
    lines = (await denv("rollout", "list")).out.splitlines()
    assert all(len(line.rstrip()) <= columns for line in lines)
    for n, phase in enumerate(phases):
        (line,) = [each for each in lines if f"r20261130-19053{n}-2bb66{n}" in each]
        assert phase in line
        assert "0/2" in line
        assert ("2023-11-14 22:13" in line) is (columns == 120)
    text = "".join("".join(lines).split())
    assert text.count("https://models.example.com/chat-") == 2
    assert "chat-r8" in text


async def test_there_is_nothing_to_show(denv, home):
    """Without a rollout, or with another's id, one line says so."""
    assert (await denv("rollout", "status")).lines == ["denv: there is no rollout yet"]
    assert (await denv("rollout", "status", "x")).lines == ["denv: there is no rollout 'x'"]
    assert (await denv("rollout", "promote")).lines == ["denv: no rollout is under way"]


@pytest.mark.parametrize("command", [["serve"], ["worker"], ["rollout", "start"]])
async def test_without_the_extra_one_line_says_how_to_get_it(denv, releases, monkeypatch, command):
    """Whoever has not installed Temporal is told how, and nothing else of denv misses it."""
    monkeypatch.setattr("denv.rollout.engine.extra.find_spec", lambda _: None)
    given = [releases.write()] if command[-1] == "start" else []
    ended = await denv(*command, *given)
    assert ended.code == 2
    assert ended.lines == ["denv: temporalio is not installed: pip install 'denv-parity[durable]'"]
    assert (await denv("rollout", "list")).code == 0


async def test_weights_that_were_not_read_back_are_shown_as_wanted(denv, releases, home):
    """What was noted before it was set is no fact until the rollout's log says it was read back."""
    table = Table(home, releases.write())
    table.decide(states.Rollback(by="ann"))
    number = table.state.pending[0].number
    row = {"release": "r1", "replica": "a", "url": releases.stage.url, "weight": 0.0}
    noted = {"version": 1, "weights": [row], "set_by": f"r1/{number}"}
    table.store.rollouts.set_weights(releases.stage.url, noted, at=1.0)
    shown = await denv("rollout", "status", "r1")
    assert "wanted, not confirmed" in shown.out
    found = followed(json.loads((await denv("rollout", "status", "r1", "--json")).out))
    assert found["weights_confirmed"] is False
    table.decide(states.WeightsRestored(answers=number))
    shown = await denv("rollout", "status", "r1")
    assert "0.00% r1 a" in shown.out
    assert "not confirmed" not in shown.out
    found = json.loads((await denv("rollout", "status", "r1", "--json")).out)
    assert found["weights_confirmed"] is True


async def test_status_and_list_load_nothing_of_temporal(home):
    """Looking at rollouts needs no extra."""
    program = (
        "import sys; from denv.cli import run;"
        "run(['rollout', 'list']); run(['rollout', 'status']);"
        "print([name for name in sys.modules if name.startswith('temporalio')])"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode().splitlines()[-1] == "[]"
