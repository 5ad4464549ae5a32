"""``denv alarm``: a marked test to each sink, the list, and an alarm resolved by hand."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest
import yaml
from jsonschema import Draft202012Validator

from denv.alarms import sinks_of
from denv.release import load_release
from denv.schemas import schema
from denv.store import data_folder, open_store
from tests.alarms.alertmanagers import alertmanager
from tests.alarms.receiver import Receiver
from tests.alarms.samples import IDENTITY, raised

KEY = "R0UT1NGKEY0123456789abcdefghijkl"


@pytest.fixture
async def hook():
    async with Receiver() as receiver:
        yield receiver


@pytest.fixture
def release(tmp_path):
    """Write a release with these sinks."""

    def write(*alarms):
        path = tmp_path / "release.yaml"
        settings = {"release": "chat-r8", "stage": {"url": "http://127.0.0.1:9/v1"}}
        path.write_text(yaml.safe_dump({**settings, "alarms": list(alarms)}), "utf-8")
        return path

    return write


def pager(hook):
    return {"pagerduty": {"routing-key-env": "PAGER_KEY", "url": f"{hook.url}/pager"}}


def owe(path, home):
    """Raise an alarm that the release's sinks are owed."""
    store = open_store(data_folder(home))
    alarm = store.alarms.raise_alarm(raised(sinks=sinks_of(load_release(path).alarms)))
    store.close()
    return alarm


# ---------------------------------------------------------------- test


async def test_each_sink_gets_one_marked_test_and_its_resolve(denv, hook, release, monkeypatch):
    """Fire and resolve reach every sink under one identity, and each sink has its line."""
    monkeypatch.setenv("PAGER_KEY", KEY)
    script = "import json, sys; sys.exit(not json.load(sys.stdin)['test'])"
    path = release(
        {"alertmanager": hook.url},
        pager(hook),
        {"command": {"run": [sys.executable, "-c", script]}},
    )
    ended = await denv("alarm", "test", path)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        f"alertmanager {hook.url}: taken",
        f"pagerduty {hook.url}/pager: taken",
        f"command {sys.executable}: taken",
    ]
    events = [taken.json for taken in hook.taken if taken.path == "/pager"]
    assert [event["event_action"] for event in events] == ["trigger", "resolve"]
    assert events[0]["dedup_key"] == events[1]["dedup_key"]
    assert "test" in events[0]["payload"]["summary"]
    assert events[0]["payload"]["severity"] == "info"


async def test_a_sink_that_fails_is_named_and_the_others_are_tried(
    denv, hook, release, monkeypatch
):
    """One that refuses makes the exit code 1; its reason holds no key; the rest took theirs."""
    monkeypatch.setenv("PAGER_KEY", KEY)
    hook.status, hook.text = 403, json.dumps({"error": KEY})
    path = release(pager(hook), {"command": {"run": [sys.executable, "-c", "0"]}})
    ended = await denv("alarm", "test", path)
    assert ended.code == 1
    first, second = ended.out.splitlines()
    assert first == f'pagerduty {hook.url}/pager: not taken: answered 403: {{"error": "***"}}'
    assert second.endswith(": taken")
    assert KEY not in ended.out + ended.err


async def test_programs_that_read_nothing(denv, hook, release):
    """Each sink has its line, by the exit code of its program, whether it read or not."""
    path = release(
        {"command": {"run": ["/bin/true"]}},
        {"command": {"run": ["/bin/sh", "-c", "exit 3"]}},
        {"alertmanager": hook.url},
    )
    ended = await denv("alarm", "test", path)
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.splitlines() == [
        "command /bin/true: taken",
        "command /bin/sh: not taken: ended with exit code 3",
        f"alertmanager {hook.url}: taken",
    ]


async def test_a_release_without_sinks(denv, release):
    """Nothing to test is a usage error that names the key."""
    ended = await denv("alarm", "test", release())
    assert ended.code == 2
    assert ended.lines == [f"denv: {release()}: alarms: the release names no sink"]


async def test_a_command_that_prints_a_key_file_tells_nobody_of_it(denv, release, tmp_path):
    """What the release's key files hold is masked in the reason, on both streams."""
    key = tmp_path / "stage.key"
    key.write_text("sk-0123456789-of-a-file\n", "utf-8")
    key.chmod(0o600)
    script = f"import sys; sys.exit('no: ' + open({str(key)!r}).read())"
    path = release({"command": {"run": [sys.executable, "-c", script]}})
    keyed = path.read_text("utf-8").replace("stage:\n", f"stage:\n  key-file: {key}\n")
    path.write_text(keyed, "utf-8")
    ended = await denv("alarm", "test", path)
    assert ended.code == 1
    assert ended.out.splitlines() == [
        f"command {sys.executable}: not taken: ended with exit code 1: no: ***"
    ]
    assert "0123456789" not in ended.out + ended.err


async def test_a_real_alertmanager_tells_its_receiver(denv, hook, release):
    """Through a real Alertmanager each test is one notification of its own."""
    async with alertmanager(hook.url) as url:
        path = release({"alertmanager": url})
        assert [(await denv("alarm", "test", path)).code for _ in range(2)] == [0, 0]
        async with asyncio.timeout(10):
            while len(hook.taken) < 2:
                await asyncio.sleep(0.05)
    names = {taken.json["alerts"][0]["labels"]["identity"] for taken in hook.taken}
    assert len(names) == 2


# ---------------------------------------------------------------- list, resolve


async def test_list_shows_alarms_and_deliveries(denv, hook, release, home):
    """Each alarm is shown with its run, and what each sink was told, as text and as JSON."""
    alarm = owe(release({"alertmanager": hook.url}), home)
    ended = await denv("alarm", "list")
    assert ended.code == 0
    assert alarm.alarm in ended.out
    assert "fire waiting" in ended.out
    document = json.loads((await denv("alarm", "list", "--json")).out)
    Draft202012Validator(schema("alarms-1")).validate(document)
    (shown,) = document["alarms"]
    assert document["schema"] == "denv.alarms/1"
    assert (shown["identity"], shown["run"], shown["resolved"]) == (IDENTITY, alarm.run, None)
    assert [each["state"] for each in shown["deliveries"]] == ["waiting"]


async def test_an_empty_list(denv):
    """Without alarms the list says so, and as JSON is an empty one."""
    assert (await denv("alarm", "list")).out == "no alarm\n"
    assert json.loads((await denv("alarm", "list", "--json")).out)["alarms"] == []


@pytest.mark.parametrize("by_identity", [False, True])
async def test_resolved_by_hand(denv, hook, release, home, by_identity):
    """The alarm is resolved with name and reason, and its sinks are told, fire before resolve."""
    alarm = owe(release({"alertmanager": hook.url}), home)
    name = alarm.identity if by_identity else alarm.alarm
    ended = await denv("alarm", "resolve", name, "--by", "ann", "--reason", "known fault")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [f"{alarm.alarm}: resolved", f"alertmanager {hook.url}: told"]
    fired, resolved = (taken.json[0] for taken in hook.taken)
    assert fired["labels"] == resolved["labels"]
    assert fired["endsAt"] > resolved["endsAt"]
    (shown,) = json.loads((await denv("alarm", "list", "--json")).out)["alarms"]
    assert shown["resolved_by"] == "ann: known fault"
    assert json.loads((await denv("alarm", "list", "--open", "--json")).out)["alarms"] == []
    again = await denv("alarm", "resolve", name, "--by", "ann", "--reason", "known fault")
    assert again.code == 2


async def test_resolved_while_the_sink_is_down(denv, hook, release, home):
    """The resolve holds although the sink is down; what it is owed stays owed."""
    alarm = owe(release({"alertmanager": hook.url}), home)
    hook.status = 503
    ended = await denv("alarm", "resolve", alarm.alarm, "--by", "ann", "--reason", "x")
    assert ended.code == 0
    assert "not told, still owed: answered 503" in ended.out
    store = open_store(data_folder(home))
    assert len(store.alarms.waiting_deliveries()) == 2
    store.close()


async def test_resolving_what_is_not_there(denv):
    """An unknown id, and words that are no line, are usage errors."""
    ended = await denv("alarm", "resolve", "nope", "--by", "a", "--reason", "b")
    assert (ended.code, len(ended.lines)) == (2, 1)
    ended = await denv("alarm", "resolve", "nope", "--by", "a\nb", "--reason", "c")
    assert ended.lines == ["denv: --by must be a text of one line, up to 100 characters"]
