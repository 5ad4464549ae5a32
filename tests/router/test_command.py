"""``denv router`` as a process, and its settings."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from denv.cli import run
from denv.errors import ReleaseError
from denv.release import load_settings
from denv.router.settings import DROPPED, RouterSettings
from tests.router.replicas import table_of

SETTINGS = "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\ntable: weights.json\nanonymous: {}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "router.yaml").write_text(SETTINGS)
    table = table_of(("http://127.0.0.1:9/v1", 1))
    (tmp_path / "weights.json").write_bytes(table.to_json())
    return tmp_path


def test_it_runs_until_it_is_told_to_end(folder):
    """It says where it listens, answers there, and ends with 0 at SIGTERM."""
    command = [sys.executable, "-m", "denv", "router", "--config", str(folder / "router.yaml")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            line = next(line for line in process.stderr if line.startswith("routing"))
            found = re.fullmatch(r"routing (\S+)/v1 \(admin at (\S+), process \d+\)\n", line)
            assert found is not None
            with urllib.request.urlopen(f"{found[2]}/health") as response:
                assert response.status == 200
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.stderr.read().endswith("ended\n")
    assert process.returncode == 0


def test_check_reads_all_and_listens_nowhere(folder, capsys):
    """--check reads settings, secrets and table; each that is wrong is one line and exit code 2."""
    config = folder / "router.yaml"
    assert run(["router", "--config", str(config), "--check"]) == 0
    (folder / "weights.json").write_text("{}")
    assert run(["router", "--config", str(config), "--check"]) == 2
    assert run(["router", "--config", str(config), "--table", "none.json", "--check"]) == 2
    config.write_text(SETTINGS + "permit-secret: {key-env: NOT_SET_ANYWHERE}\n")
    assert run(["router", "--config", str(config), "--check"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert "weights.json: no table of the form denv.weights/1" in lines[1]
    assert "none.json: there is no such table" in lines[2]
    assert "NOT_SET_ANYWHERE" in lines[3]


@pytest.mark.parametrize("flag", ["--listen", "--admin"])
def test_a_flag_that_is_no_address_is_refused(folder, capsys, flag):
    """An address is HOST:PORT."""
    command = ["router", "--config", str(folder / "router.yaml"), flag, "8080", "--check"]
    assert run(command) == 2
    assert f"{flag} must be written HOST:PORT" in capsys.readouterr().err


def test_flags_that_make_one_address_are_refused(folder, capsys):
    """What the command line names is held against the file's other address."""
    config = folder / "router.yaml"
    config.write_text("admin: 127.0.0.1:9\ntable: weights.json\nanonymous: {}\n")
    command = ["router", "--config", str(config), "--listen", "[::]:9", "--check"]
    assert run(command) == 2
    assert "listen and admin are one address" in capsys.readouterr().err


@pytest.mark.parametrize("size", [5_000, 10_000_000])
def test_a_key_that_no_request_can_show_is_refused(folder, capsys, size):
    """A client whose key is longer than a header may be could never get in."""
    (folder / "key").write_text("k" * size)
    (folder / "key").chmod(0o600)
    config = folder / "router.yaml"
    config.write_text("table: weights.json\nclients: [{name: acme, key-file: key}]\n")
    assert run(["router", "--config", str(config), "--check"]) == 2
    said = capsys.readouterr().err
    assert len(said) < 500
    assert "longer than 4096" in said or "more than 65536" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("table: w\n", "nobody may ask"),
        ("clients: [{name: a, key-env: A}, {name: a, key-env: B}]\n", "named twice: a"),
        ("clients: [{name: a}]\n", "must name one of key-env and key-file"),
        ("anonymous: {burst: 2}\n", "burst needs a rate"),
        ("anonymous: {rate: 1e-300}\n", "must be 0.0001 or more"),
        ("anonymous: {rate: 1e300}\n", "must be 1000000.0 or less"),
        ("anonymous: {rate: 1, burst: 10000000}\n", "must be 1000000 or less"),
        ("anonymous: {}\nlisten: 127.0.0.1:9\nadmin: 127.0.0.1:9\n", "are one address"),
        ("anonymous: {}\nlisten: 0.0.0.0:9\nadmin: 127.0.0.1:9\n", "are one address"),
        ("anonymous: {}\nlisten: '8080'\n", "must be written HOST:PORT"),
        ("anonymous: {}\nretries: {statuses: [404]}\n", "can name 429"),
        ("anonymous: {}\ntimeout: {}\n", 'did you mean "timeouts"'),
        ("anonymous: {}\nhealth: {path: health}\n", "must begin with / and have no spaces"),
        ("anonymous: {}\nlimits: {body: 10}\n", "must be 1024 or more"),
        ('anonymous: {}\nupstream: {user-agent: "a\\nb"}\n', "printable ASCII"),
        (
            "anonymous: {}\nupstream: {credentials: [{key-env: A, hosts: [example.com]}]}\n",
            "must be written as http://HOST:PORT",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_told_by_line(tmp_path, text, said):
    """Each fault names file, line and key, and what is wrong."""
    path = tmp_path / "router.yaml"
    path.write_text(text)
    with pytest.raises(ReleaseError, match=re.escape(said)) as error:
        load_settings(path, RouterSettings)
    assert re.match(rf"{re.escape(str(path))}:\d+: ", str(error.value))


def test_a_refused_entry_is_one_fault(tmp_path):
    """A list whose entries are refused is not called too short besides."""
    path = tmp_path / "router.yaml"
    entry = "{key-env: A, hosts: [example.com, 'http://a*b']}"
    path.write_text(f"anonymous: {{}}\nupstream: {{credentials: [{entry}]}}\n")
    with pytest.raises(ReleaseError) as error:
        load_settings(path, RouterSettings)
    lines = str(error.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        "upstream.credentials[0].hosts[0]",
        "upstream.credentials[0].hosts[1]",
    ]


def test_the_defaults_are_those_of_the_page():
    """What docs/router.md says of defaults is so."""
    settings = RouterSettings.model_validate({"anonymous": {}})
    page = (Path(__file__).parents[2] / "docs" / "router.md").read_text()
    shown = {
        "listen": settings.listen,
        "admin": settings.admin,
        "limits.body": str(settings.limits.body),
        "limits.in-flight": str(settings.limits.in_flight),
        "limits.queue": str(settings.limits.queue),
        "limits.queue-timeout": f"{settings.limits.queue_timeout:g}s",
        "timeouts.body": f"{settings.timeouts.body:g}s",
        "timeouts.connect": f"{settings.timeouts.connect:g}s",
        "timeouts.first-byte": f"{settings.timeouts.first_byte / 60:g}m",
        "timeouts.idle": f"{settings.timeouts.idle / 60:g}m",
        "timeouts.total": f"{settings.timeouts.total / 3600:g}h",
        "retries.attempts": str(settings.retries.attempts),
        "health.every": f"{settings.health.every:g}s",
        "health.timeout": f"{settings.health.timeout:g}s",
        "health.failures": str(settings.health.failures),
        "health.passes": str(settings.health.passes),
        "drain": f"{settings.drain:g}s",
        "drop-fields": ", ".join(DROPPED),
    }
    for key, value in shown.items():
        row = re.search(rf"^\| `{re.escape(key)}` \|.*\| ([^|]*) \|$", page, re.MULTILINE)
        assert row is not None, key
        assert row[1].strip("`") == value, key
