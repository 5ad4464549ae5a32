"""Release files: frozen settings, and errors with line and key."""

import dataclasses
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from denv.errors import ReleaseError
from denv.records import Kind, Thresholds
from denv.release import Rollout, load_release, release_schema
from denv.schemas import schema, schema_names

WHOLE = """\
release: chat-r8
stage: {url: http://127.0.0.1:8080/v1/, model: smollm2, key-file: stage.key}
engine: {name: llama.cpp, version: b11549, deterministic: false}
recipe: smollm2                     # a comment
parity:
  reference: {url: https://api.example.com/v1, model: m, key-env: REFERENCE_KEY, max-age: 24h}
  suite: suites/core.jsonl
  pass: { tool-calls: 99%, exact: 0.95 }
  coverage: 90%
rollout: {batches: [10%, 50%, 100%], bake: 10m}
alarms: [{alertmanager: http://127.0.0.1:9093}]
"""
SMALL = "release: r\nstage: {url: 'http://127.0.0.1:8080/v1'}\n"


@pytest.fixture
def load(tmp_path):
    """Load a release from its text."""

    def from_text(text):
        path = tmp_path / "release.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_release(path)

    return from_text


def problems(load, text):
    with pytest.raises(ReleaseError) as caught:
        load(text)
    return [line.rpartition("release.yaml:")[2] for line in str(caught.value).split("\n")]


def test_whole_release(load, tmp_path):
    """Every key of a release arrives, shares as exact fractions and durations as seconds."""
    release = load(WHOLE)
    assert (release.name, release.recipe) == ("chat-r8", "smollm2")
    assert (release.stage.url, release.stage.model) == ("http://127.0.0.1:8080/v1", "smollm2")
    assert release.resolve(release.stage.key_file) == tmp_path / "stage.key"
    assert (release.engine.name, release.engine.version) == ("llama.cpp", "b11549")
    assert release.parity.reference.key_env == "REFERENCE_KEY"
    assert release.parity.reference.max_age == 86_400
    assert release.suite == tmp_path / "suites" / "core.jsonl"
    assert release.parity.thresholds == Thresholds(
        rates={Kind.TOOL_CALLS: Fraction(99, 100), Kind.EXACT: Fraction(95, 100)}
    )
    assert release.rollout.batches == (Fraction(1, 10), Fraction(1, 2), Fraction(1))
    assert release.rollout.bake == 600
    assert [sink.url for sink in release.alarms] == ["http://127.0.0.1:9093"]


def test_defaults(load):
    """What is left out has the contract's defaults: coverage 90 %, 2 % retried, one answer."""
    release = load(SMALL)
    assert release.suite is None
    assert release.parity.thresholds == Thresholds({}, Fraction(9, 10), Fraction(2, 100), None)
    assert (release.parity.repeats, release.rollout, release.alarms) == (1, Rollout(), ())


def test_absolute_suite_stays(load):
    """An absolute suite path is not moved to the release's folder."""
    assert load(SMALL + "parity: {suite: /srv/core.jsonl}\n").suite == Path("/srv/core.jsonl")


def test_frozen(load):
    """A release cannot be changed once it is read."""
    release = load(SMALL)
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.name = "other"
    with pytest.raises(ValidationError, match="frozen"):
        release.stage.url = "http://elsewhere/v1"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("stage: {url: 'http://h/v1'}", "1: release: missing"),
        ("release: r", "1: stage: missing"),
        ("release: r\nstage:\n  model: m", "2: stage.url: missing"),
        (SMALL + "foo: 1", "3: foo: unknown key (keys: release, stage, engine, recipe, parity"),
        (SMALL + "engin: {name: x}", '3: engin: unknown key; did you mean "engine"?'),
        (SMALL + "parity:\n  coverge: 90%", '4: parity.coverge: unknown key; did you mean "cov'),
        (
            SMALL + "parity:\n  reference:\n    url: http://h/v1\n    key_env: A",
            '6: parity.reference.key_env: unknown key; did you mean "key-env"?',
        ),
        (SMALL + "release: s", "3: release: stands on line 1 too"),
        (SMALL + "rollout:\n  bake: 1m\n  bake: 2m", "5: rollout.bake: stands on line 4 too"),
        ("release: 8\nstage: {url: 'http://h/v1'}", "1: release: must be a text; if it is one"),
        (SMALL + "engine: {name: no}", "3: engine.name: must be a text"),
        (SMALL + "engine: {name: x, version: 1.10}", "3: engine.version: must be a text"),
        (SMALL + "engine: {name: x, deterministic: 'no'}", "engine.deterministic: must be true or"),
        (SMALL + "engine: llama.cpp", "3: engine: must be a mapping"),
        (SMALL + "alarms: {}", "3: alarms: must be a list"),
        (SMALL + "rollout: []", "3: rollout: must be a mapping"),
        (SMALL + "parity: {repeats: 0}", "3: parity.repeats: "),
        (SMALL + "parity: {repeats: true}", "3: parity.repeats: must be a whole number"),
        (SMALL + "parity: {coverage: 99}", "3: parity.coverage: '99' is a share without its sign"),
        (SMALL + "parity: {coverage: 1.5}", "3: parity.coverage: '1.5' is above 100 %"),
        (SMALL + "parity: {coverage: true}", "3: parity.coverage: must be written as 99%"),
        (SMALL + "parity: {confidence: 100%}", "3: parity.confidence: must lie between"),
        (SMALL + "parity: {pass: {}}", "3: parity.pass: must name kinds"),
        (SMALL + "parity: {pass: 99%}", "3: parity.pass: must name kinds"),
        (SMALL + "parity: {pass: {tool-call: 99%}}", "3: parity.pass: no kind 'tool-call'"),
        (SMALL + "parity:\n  pass:\n    exact: 99", "5: parity.pass.exact: '99' is a share"),
        (SMALL + "parity: {reference: {url: http://h/v1, max-age: 24}}", "write 24s"),
        ("release: r\nstage: {url: ftp://h/v1}", "2: stage.url: must be an URL"),
        ("release: r\nstage: {url: 'http:///v1'}", "2: stage.url: must be an URL"),
        ("release: r\nstage: {url: 'http://h:x/v1'}", "2: stage.url: must be an URL"),
        (f"release: r\nstage: {{url: http://{'é' * 64}.example.com/v1}}", "2: stage.url: must be"),
        (f"release: r\nstage: {{url: http://{'a' * 64}.example.com/v1}}", "2: stage.url: must be"),
        ("release: r\nstage: {url: http://h}", "2: stage.url: must be a base that ends in /v1"),
        ("release: r\nstage: {url: 'http://h/v1?a=b'}", "2: stage.url: must be a base, without"),
        ("release: r\nstage: {url: http://u:p@h/v1}", "2: stage.url: must not hold a user"),
        (
            "release: r\nstage: {url: http://h/v1, key-env: A, key-file: b}",
            "2: stage: key-env and key-file exclude each other",
        ),
        ("release: r\nstage: {url: http://h/v1, headers: {a b: c}}", "cannot be sent as a header"),
        ("release: r\nstage: {url: http://h/v1, extra: {seed: 1}}", "seed is set by the run"),
        ("release: &r x\nstage: *r", "1: anchors and aliases"),
        ("release: !!str x", "1: tags are not taken"),
        ("release: !!python/object:os.system x", "1: tags are not taken"),
        (SMALL + "rollout: {a: 1:30}", "3: rollout.a: '1:30' is read as a number in more than one"),
        (SMALL + "rollout: {a: 010}", "3: rollout.a: '010' is read as a number"),
        (SMALL + "rollout: {a: .inf}", "3: rollout.a: '.inf' is read as a number"),
        (SMALL + "rollout: {? [a] : 1}", "3: rollout: a key must be a plain text"),
        (SMALL + "rollout: {a: [}", "3: not YAML"),
        (SMALL + "---\nrelease: s", "not YAML"),
        ("rollout: " + "[" * 5000 + "]" * 5000, "1: nested too deeply"),
        ("release: \x01", "not YAML"),
        ("", "1: empty"),
        ("- a", "1: not a mapping"),
        (b"release: \xff", "1: not UTF-8"),
        ("#" * 1_100_000, "larger than 1 MiB"),
    ],
)
def test_errors(load, text, problem):
    """What is wrong with a release is named with its line and key."""
    found = problems(load, text)
    assert any(problem in one for one in found), found


def test_all_problems_at_once(load):
    """Problems come together, in the order of their lines."""
    found = problems(load, "foo: 1\nstage: {}\nbar: 2\n")
    assert [int(one.split(":")[0]) for one in found] == [1, 1, 2, 3]


@pytest.mark.parametrize(
    "stage",
    [
        "key-env: sk-secret-value",
        "headers: {Authorization: sk-secret-value}",
        "headers: {X-Api-Key: sk-secret-value}",
        "headers: {X-Auth-Token: sk-secret-value}",
        "headers: {api_key: sk-secret-value}",
    ],
)
def test_keys_are_refused_and_not_repeated(load, stage):
    """A key that stands in a release is refused, and the error does not show it."""
    found = problems(load, f"release: r\nstage: {{url: http://h/v1, {stage}}}")
    assert "secret" not in "".join(found)


def test_missing_file(tmp_path):
    """A release that is not there is an error of the release."""
    with pytest.raises(ReleaseError, match="cannot be read"):
        load_release(tmp_path / "none.yaml")


def test_digest_is_of_the_settings(load):
    """Order, comments and spelling do not change the digest; a setting does."""
    one = load(WHOLE).digest
    assert one.startswith("denv.release/1:sha256:")
    assert len(one.rpartition(":")[2]) == 64
    respelled = WHOLE.replace("99%", "0.99").replace("24h", "1d").replace("# a comment", "")
    lines = respelled.splitlines()
    assert load("\n".join([*lines[1:4], lines[0], *lines[4:]])).digest == one
    assert load(WHOLE.replace("99%", "98%")).digest != one
    assert load(WHOLE.replace("bake: 10m", "bake: 9m")).digest != one


def test_schema_is_shipped_as_generated():
    """The shipped schema is the one that the settings generate, and it is valid."""
    assert schema("release-1") == release_schema()
    Draft202012Validator.check_schema(schema("release-1"))


@pytest.mark.parametrize("text", [WHOLE, SMALL])
def test_schema_accepts_releases(text):
    """A release that loads is valid by the schema too."""
    Draft202012Validator(schema("release-1")).validate(yaml.safe_load(text))


def test_unknown_schema():
    """A name that is not shipped is a LookupError; the shipped ones are listed."""
    assert {"suite-1", "release-1"} <= set(schema_names())
    with pytest.raises(LookupError, match="no schema"):
        schema("../errors")
