"""The other sinks: PagerDuty and CloudEvents at stub servers, apprise's own library, real programs.

PagerDuty itself is not asked: the stub only keeps what is sent, which is held against the fields
of its Events API v2. Signatures and events are read by the reference libraries of both standards.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import standardwebhooks
from cloudevents.core.bindings.http import HTTPMessage, from_structured
from cloudevents.core.formats.json import JSONFormat
from jsonschema import Draft202012Validator

from denv.alarms import Action, make_sink, sink_key
from denv.alarms.payloads import PAGERDUTY_SUMMARY, document
from denv.alarms.signature import signed_headers
from denv.errors import DeliveryError, UsageError
from denv.records import Secret
from denv.schemas import schema
from tests.alarms.receiver import Receiver
from tests.alarms.samples import ALARM, IDENTITY, OPENED, RESOLVED

KEY = "R0UT1NGKEY0123456789abcdefghijkl"
SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes ...").decode()


@pytest.fixture
async def hook():
    async with Receiver() as receiver:
        yield receiver


# ---------------------------------------------------------------- PagerDuty (a stub)


@pytest.fixture
def pagerduty(hook, monkeypatch):
    monkeypatch.setenv("PAGER_KEY", KEY)
    return make_sink({"pagerduty": {"routing-key-env": "PAGER_KEY", "url": f"{hook.url}/v2"}})


async def test_pagerduty_triggers_and_resolves_by_identity(hook, pagerduty):
    """Both events carry the identity as their dedup key, and the key in the body alone."""
    await pagerduty.deliver(ALARM, Action.FIRE)
    await pagerduty.deliver(RESOLVED, Action.RESOLVE)
    fired, resolved = (taken.json for taken in hook.taken)
    assert [taken.path for taken in hook.taken] == ["/v2", "/v2"]
    assert fired["event_action"] == "trigger"
    assert resolved == {"routing_key": KEY, "event_action": "resolve", "dedup_key": IDENTITY}
    assert fired["dedup_key"] == IDENTITY
    assert KEY not in str([taken.headers for taken in hook.taken])


async def test_pagerduty_payload(hook, pagerduty):
    """The payload has the three required fields, a severity that PagerDuty knows, and the run."""
    await pagerduty.deliver(ALARM, Action.FIRE)
    payload = hook.taken[0].json["payload"]
    assert payload["summary"] == f"parity-fail: {ALARM.summary}"
    assert payload["source"] == ALARM.stage
    assert payload["severity"] in {"critical", "error", "warning", "info"}
    assert payload["timestamp"] == "2026-09-21T14:13:20.000Z"
    assert payload["custom_details"]["run"] == ALARM.run


async def test_pagerduty_summary_is_cut(hook, pagerduty):
    """A summary longer than 1,024 characters would be refused, so it is cut."""
    await pagerduty.deliver(replace(ALARM, summary="x" * 5000), Action.FIRE)
    assert len(hook.taken[0].json["payload"]["summary"]) == PAGERDUTY_SUMMARY


async def test_pagerduty_refusal_never_shows_the_key(hook, pagerduty):
    """The answer's beginning is shown, with the routing key that it repeats cut out."""
    hook.status, hook.text = 400, json.dumps({"message": f"bad key {KEY}", "more": "x" * 5000})
    with pytest.raises(DeliveryError) as caught:
        await pagerduty.deliver(ALARM, Action.FIRE)
    assert str(caught.value).startswith('answered 400: {"message": "bad key ***"')
    assert KEY not in str(caught.value)
    assert len(str(caught.value)) < 300


async def test_key_that_is_not_set(hook, pagerduty, monkeypatch):
    """Without its key nothing is sent, and the reason names the variable."""
    monkeypatch.delenv("PAGER_KEY")
    with pytest.raises(DeliveryError, match="PAGER_KEY is not set"):
        await pagerduty.deliver(ALARM, Action.FIRE)
    assert hook.taken == []


async def test_nobody_there():
    """A sink that is down is one line that names its host."""
    async with Receiver() as gone:
        url = gone.url
    sink = make_sink({"alertmanager": {"url": url}})
    with pytest.raises(DeliveryError, match=r"127\.0\.0\.1"):
        await sink.deliver(ALARM, Action.FIRE)


async def test_a_redirect_is_no_delivery(hook):
    """A redirect is not followed: the alarm was not taken where it was to go."""
    hook.status = 302
    sink = make_sink({"alertmanager": {"url": hook.url}})
    with pytest.raises(DeliveryError, match="answered 302"):
        await sink.deliver(ALARM, Action.FIRE)


# ---------------------------------------------------------------- CloudEvents (a stub)


@pytest.fixture
def cloudevents(hook, monkeypatch):
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    monkeypatch.setenv("HOOK_TOKEN", "Bearer token-0123456789")
    return make_sink(
        {
            "cloudevents": {
                "url": f"{hook.url}/events",
                "secret-env": "HOOK_SECRET",
                "headers-env": {"Authorization": "HOOK_TOKEN"},
            }
        }
    )


async def test_cloudevents_are_read_by_the_reference_sdk(hook, cloudevents):
    """The structured event is valid CloudEvents 1.0; its data are the alarm's document."""
    await cloudevents.deliver(ALARM, Action.FIRE)
    taken = hook.taken[0]
    event = from_structured(HTTPMessage(taken.headers, taken.body), JSONFormat())
    assert event.get_specversion() == "1.0"
    assert (event.get_id(), event.get_type()) == ("a1-fire", "denv.alarm.fired")
    assert (event.get_subject(), event.get_source()) == (IDENTITY, "urn:denv:alarms")
    assert event.get_time() == datetime.fromtimestamp(OPENED, UTC)
    assert event.get_data() == document(ALARM, Action.FIRE)
    assert taken.headers["Content-Type"] == "application/cloudevents+json; charset=UTF-8"
    assert taken.headers["Authorization"] == "Bearer token-0123456789"


async def test_signature_is_verified_by_the_reference_library(hook, cloudevents):
    """Standard Webhooks' own library takes the event, and refuses it with one byte changed."""
    await cloudevents.deliver(RESOLVED, Action.RESOLVE)
    taken = hook.taken[0]
    headers = {name.lower(): value for name, value in taken.headers.items()}
    verifier = standardwebhooks.Webhook(SECRET)
    assert verifier.verify(taken.body, headers)["type"] == "denv.alarm.resolved"
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        verifier.verify(taken.body.replace(b"chat-r8", b"chat-r9"), headers)


async def test_an_event_that_comes_twice_is_known(hook, cloudevents):
    """Delivered again the event has the same id, and its resolve has another."""
    for action in (Action.FIRE, Action.FIRE, Action.RESOLVE):
        await cloudevents.deliver(ALARM, action)
    assert [taken.json["id"] for taken in hook.taken] == ["a1-fire", "a1-fire", "a1-resolve"]


def test_the_signature_of_the_standards_own_example():
    """The example that the reference libraries of Standard Webhooks are tested with."""
    headers = signed_headers(
        Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        message="msg_p5jXN8AQM9LWM0D4loKWxJek",
        sent=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    "secret",
    ["a plain password", "whsec_", "whsec_###", "whsec_c2hvcnQ=", SECRET.removeprefix("whsec_")],
)
def test_a_secret_that_is_none_is_refused(secret):
    """Only ``whsec_`` and 24 to 64 bytes are a secret; it is not shown."""
    with pytest.raises(UsageError) as caught:
        signed_headers(Secret(secret), message="m", sent=0, body=b"")
    assert str(caught.value) == (
        "the secret of the signature is not whsec_ followed by 24 to 64 bytes in base64"
    )


async def test_a_wrong_secret_names_its_variable(hook, cloudevents, monkeypatch):
    """The reason names the variable, and nothing is sent."""
    monkeypatch.setenv("HOOK_SECRET", "a-password")
    with pytest.raises(DeliveryError, match=r"^HOOK_SECRET: ") as caught:
        await cloudevents.deliver(ALARM, Action.FIRE)
    assert "a-password" not in str(caught.value)
    assert hook.taken == []


# ---------------------------------------------------------------- apprise (the real library)

OLD_IMPORT = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
"""One of apprise's services imports a module that newer Pythons do not have."""


@pytest.fixture
def apprised(hook, monkeypatch):
    pytest.importorskip("apprise")
    monkeypatch.setenv("CHAT_URL", f"json://user:pass-0123456789@127.0.0.1:{hook.port}/alarms")
    return make_sink({"apprise": {"url-env": "CHAT_URL"}})


@OLD_IMPORT
async def test_apprise_sends_a_message_for_fire_and_resolve(hook, apprised):
    """Title, text and type of both messages say what happened, with the run."""
    await apprised.deliver(ALARM, Action.FIRE)
    await apprised.deliver(RESOLVED, Action.RESOLVE)
    fired, resolved = (taken.json for taken in hook.taken)
    assert (fired["title"], fired["type"]) == ("[FIRING] parity-fail: chat-r8", "failure")
    assert fired["message"].splitlines()[0] == ALARM.summary
    assert f"run {ALARM.run}" in fired["message"]
    assert (resolved["title"], resolved["type"]) == ("[RESOLVED] parity-fail: chat-r8", "success")


@OLD_IMPORT
async def test_apprise_that_cannot_deliver_tells_no_address(hook, apprised, capfd):
    """A refusal is a reason without the address, and apprise's own log is kept quiet."""
    hook.status = 500
    with pytest.raises(DeliveryError) as caught:
        await apprised.deliver(ALARM, Action.FIRE)
    said = str(caught.value) + "".join(capfd.readouterr())
    assert "pass-0123456789" not in said
    assert "127.0.0.1" not in said
    assert apprised.shown == "apprise $CHAT_URL"


@OLD_IMPORT
async def test_an_address_that_apprise_does_not_know(apprised, monkeypatch):
    """An address of no known form is said to be one, and not shown."""
    monkeypatch.setenv("CHAT_URL", "nonsense-0123456789://x")
    with pytest.raises(DeliveryError, match="does not know the form") as caught:
        await apprised.deliver(ALARM, Action.FIRE)
    assert "nonsense" not in str(caught.value)


# ---------------------------------------------------------------- commands (real programs)


def command(tmp_path: Path, script: str, **settings):
    path = tmp_path / "program.py"
    path.write_text(script, "utf-8")
    return make_sink({"command": {"run": [sys.executable, str(path)], **settings}})


async def test_a_command_reads_the_alarm_on_standard_input(tmp_path):
    """The program gets one JSON document, whole, and the release's environment."""
    sink = command(
        tmp_path,
        "import os, sys; open(os.environ['OUT'], 'w').write(sys.stdin.read())",
        environment={"OUT": str(tmp_path / "out")},
    )
    await sink.deliver(ALARM, Action.FIRE)
    assert json.loads((tmp_path / "out").read_text("utf-8")) == document(ALARM, Action.FIRE)


async def test_a_command_that_reads_nothing_is_no_failure(tmp_path):
    """A program may look away; only its exit code counts, and its output is not ours."""
    await command(tmp_path, "print('noise')").deliver(ALARM, Action.FIRE)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("raise SystemExit(7)", "ended with exit code 7"),
        ("import os; os.kill(os.getpid(), 9)", "ended with signal 9"),
    ],
)
async def test_a_command_that_fails(tmp_path, script, reason):
    """Another exit code than 0, or a signal, means that it did not take the alarm."""
    with pytest.raises(DeliveryError, match=reason):
        await command(tmp_path, script).deliver(ALARM, Action.FIRE)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize(("run", "reason"), [("exit 0", None), ("exit 3", "exit code 3")])
def test_a_command_that_ends_unread(loop, run, reason):
    """Input that nobody reads breaks nothing, on either event loop: the exit code decides."""
    factory = pytest.importorskip("uvloop").new_event_loop if loop == "uvloop" else None
    sink = make_sink({"command": {"run": ["/bin/sh", "-c", f"exec 0<&-; {run}"]}})
    long = replace(ALARM, details={"text": "x" * 300_000})  # more than a pipe holds

    async def attempts():
        for _ in range(5):
            with pytest.raises(DeliveryError, match=reason) if reason else nullcontext():
                await sink.deliver(long, Action.FIRE)

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(attempts())


async def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    """After its time-out the program and what it started are gone."""
    script = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open(os.environ['OUT'], 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    out = tmp_path / "pid"
    sink = command(tmp_path, script, environment={"OUT": str(out)}, timeout="2s")
    with pytest.raises(DeliveryError, match="still running after 2 s"):
        await sink.deliver(ALARM, Action.FIRE)
    pid = int(out.read_text("utf-8"))
    async with asyncio.timeout(10):
        while _alive(pid):
            await asyncio.sleep(0.05)


async def test_what_key_files_hold_is_masked_too(tmp_path):
    """A command that prints a secret of the release, wherever that stands, tells nobody of it."""
    script = "import sys; sys.exit('refused: sk-of-a-key-file')"
    program = tmp_path / "prints.py"
    program.write_text(script, "utf-8")
    settings = {"command": {"run": [sys.executable, str(program)]}}
    sink = make_sink(settings, hidden=[Secret("sk-of-a-key-file")])
    with pytest.raises(DeliveryError) as failed:
        await sink.deliver(ALARM, Action.FIRE)
    assert str(failed.value) == "ended with exit code 1: refused: ***"


async def test_why_a_command_failed_is_told_without_secrets(tmp_path, monkeypatch, capfd):
    """The last line of its standard error is the reason; no value of the environment is in it."""
    monkeypatch.setenv("PLAIN_NAME", "value-of-a-key-env")
    script = (
        "import os, sys\n"
        "sys.stderr.write('first\\nno: \\x1b' + os.environ['PLAIN_NAME'] + ' ')\n"
        "sys.stderr.write(os.environ['OWN'] + ' at ' + os.environ['HOME'] + '\\n\\n')\n"
        "sys.exit(2)\n"
    )
    monkeypatch.setenv("HOME", "/home/someone")
    sink = command(tmp_path, script, environment={"OWN": "one-of-its-own"})
    with pytest.raises(DeliveryError) as caught:
        await sink.deliver(ALARM, Action.FIRE)
    assert str(caught.value) == "ended with exit code 2: no: \ufffd*** *** at /home/someone"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("'x' * 3000 + os.environ['KEY'] * 100", "ended with exit code 1"),
        ("'x' * 9000 + '\\n' + 'y' * 200", f"ended with exit code 1: {'y' * 159}…"),
    ],
)
async def test_of_a_long_standard_error_no_half_of_a_secret_is_told(
    tmp_path, monkeypatch, said, reason
):
    """What is cut is cut at a line's end, and a long line is shortened after it is masked."""
    monkeypatch.setenv("KEY", "0123456789abcdefghijkl")
    script = f"import os, sys; sys.exit({said})"
    with pytest.raises(DeliveryError) as caught:
        await command(tmp_path, script).deliver(ALARM, Action.FIRE)
    assert str(caught.value) == reason


async def test_a_command_does_not_outlive_a_killed_process(tmp_path):
    """Who delivers is killed by kill -9: the program, which its time-out cannot reach, goes too."""
    out = tmp_path / "pid"
    run = ["/bin/sh", "-c", f"echo $$ > {out}.new; mv {out}.new {out}; sleep 600; exit 0"]
    script = (
        "import asyncio\n"
        "from denv.alarms.records import Action\n"
        "from denv.alarms.sinks import make_sink\n"
        "from tests.alarms.samples import ALARM\n"
        f"sink = make_sink({{'command': {{'run': {run!r}, 'timeout': '9m'}}}})\n"
        "asyncio.run(sink.deliver(ALARM, Action.FIRE))\n"
    )
    deliverer = await asyncio.create_subprocess_exec(sys.executable, "-c", script)
    async with asyncio.timeout(60):
        while not out.exists():
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)  # its guard is started right after it
        pid = int(out.read_text("utf-8"))
        assert _alive(pid)
        deliverer.kill()
        await deliverer.wait()
        while _alive(pid):
            await asyncio.sleep(0.05)


def _alive(pid: int) -> bool:
    """Whether a process runs; one that ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_a_command_that_is_not_there():
    """A program that does not exist is named by what the system says."""
    sink = make_sink({"command": {"run": ["/nowhere/program", "--token=s3cr3t"]}})
    with pytest.raises(DeliveryError, match="cannot be started: No such file"):
        await sink.deliver(ALARM, Action.FIRE)
    assert "s3cr3t" not in sink.shown


# ---------------------------------------------------------------- documents and settings


@pytest.mark.parametrize(("alarm", "action"), [(ALARM, Action.FIRE), (RESOLVED, Action.RESOLVE)])
def test_the_document_follows_its_schema(alarm, action):
    """What commands read and events carry is valid under the shipped schema."""
    Draft202012Validator(schema("alarm-1")).validate(document(alarm, action))


def test_a_sinks_key_goes_with_its_settings():
    """The same settings in another order are the same sink; another address is another one."""
    one = {"cloudevents": {"url": "http://h/a", "secret-env": "S"}}
    other = {"cloudevents": {"secret-env": "S", "url": "http://h/a"}}
    assert sink_key(one) == sink_key(other)
    assert sink_key(one) != sink_key({"cloudevents": {"url": "http://h/b", "secret-env": "S"}})
    assert sink_key(one).startswith("cloudevents-")


def test_settings_of_another_version():
    """Settings that cannot be read are a failed delivery, so that the alarm stays owed."""
    with pytest.raises(DeliveryError, match="cannot be read"):
        make_sink({"pigeon": {}})
