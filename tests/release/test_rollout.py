"""The rollout and alarms sections: typed, strict, each error with its line and key."""

from fractions import Fraction

import pytest
import yaml
from jsonschema import Draft202012Validator, ValidationError

from denv.errors import ReleaseError
from denv.release import (
    AlarmCommand,
    AlarmEntry,
    Alertmanager,
    Apprise,
    CloudEvents,
    PagerDuty,
    Rollout,
    load_release,
)
from denv.schemas import schema

SMALL = "release: r\nstage: {url: 'http://127.0.0.1:8080/v1'}\n"
WHOLE = (
    SMALL
    + """\
rollout:
  batches: [10%, 0.5, 100%]
  replicas:
    - {name: a, url: http://10.0.0.8:8000/v1}
    - {name: b, url: http://10.0.0.9:8000/v1/, batch: 2, key-env: B_KEY}
  health: {path: '/healthz?full=1', status: 204, passes: 5, every: 500ms, timeout: 2m}
  golden: golden.jsonl
  bake: 10m
  parity-every: 2m
  look-cases: 40
  deadline: 3h
  backoff: {first: 5s, most: 1m}
  shards: 4
  deploy:
    start: {run: [systemctl, start, "llm@{replica}"], environment: {PORT: "8000"}, timeout: 5m}
    stop: {run: [systemctl, stop, "llm@{replica}"]}
  weights:
    file: weights.json
    webhook: {url: http://router:8000/weights, secret-env: HOOK, headers-env: {X-Api-Key: ROUTER}}
alarms:
  - alertmanager: http://127.0.0.1:9093/
  - alertmanager: {url: https://alerts.example.com, headers-env: {Authorization: ALERTS}}
  - pagerduty: {routing-key-env: PAGER}
  - cloudevents: {url: https://events.example.com/denv, secret-env: EVENTS}
  - apprise: {url-env: SLACK}
  - command: {run: [mail, -s, denv, ops@example.com], timeout: 10s}
"""
)


@pytest.fixture
def load(tmp_path):
    """Load a release from its text."""

    def from_text(text):
        path = tmp_path / "release.yaml"
        path.write_text(text)
        return load_release(path)

    return from_text


def test_whole_sections(load):
    """Every key arrives: shares exact, durations in seconds, sinks in their order."""
    release = load(WHOLE)
    rollout = release.rollout
    assert rollout.batches == (Fraction(1, 10), Fraction(1, 2), Fraction(1))
    assert [(r.name, r.url, r.batch, r.key_env) for r in rollout.replicas] == [
        ("a", "http://10.0.0.8:8000/v1", 1, None),
        ("b", "http://10.0.0.9:8000/v1", 2, "B_KEY"),
    ]
    health = rollout.health
    assert (health.path, health.status, health.passes) == ("/healthz?full=1", 204, 5)
    assert (health.every, health.timeout) == (0.5, 120)
    assert (rollout.golden, rollout.bake, rollout.parity_every) == ("golden.jsonl", 600, 120)
    assert (rollout.look_cases, rollout.deadline, rollout.shards) == (40, 10_800, 4)
    assert (rollout.backoff.first, rollout.backoff.most) == (5, 60)
    assert rollout.deploy.start.run == ("systemctl", "start", "llm@{replica}")
    assert (rollout.deploy.start.timeout, rollout.deploy.stop.timeout) == (300, 300)
    assert rollout.deploy.start.environment == {"PORT": "8000"}
    assert rollout.weights.file == "weights.json"
    assert rollout.weights.webhook.headers_env == {"X-Api-Key": "ROUTER"}
    kinds = [type(sink) for sink in release.alarms]
    assert kinds == [Alertmanager, Alertmanager, PagerDuty, CloudEvents, Apprise, AlarmCommand]
    assert release.alarms[0] == Alertmanager(url="http://127.0.0.1:9093")
    assert release.alarms[2].url == "https://events.pagerduty.com/v2/enqueue"


def test_defaults(load):
    """What is left out has its default, and looks are taken five times in a bake."""
    rollout = load(SMALL).rollout
    assert rollout == Rollout()
    assert (rollout.batches, rollout.bake, rollout.deadline) == ((1,), 600, 7200)
    assert rollout.look_every_s == 120
    health = rollout.health
    assert (health.path, health.status, health.passes) == ("/health", 200, 3)
    assert (health.every, health.timeout) == (2, 60)
    assert load(SMALL + "rollout: {bake: 0s}").rollout.look_every_s is None


def test_entries_are_made_from_sinks(load):
    """A sink can be written as the entry it came from."""
    release = load(WHOLE)
    assert [AlarmEntry.of(sink).sink for sink in release.alarms] == list(release.alarms)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rollout: {batches: []}", "3: rollout.batches: must end with 100%"),
        ("rollout: {batches: [50%]}", "3: rollout.batches: must end with 100%"),
        ("rollout: {batches: [0%, 100%]}", "3: rollout.batches: must rise"),
        ("rollout: {batches: [50%, 10%, 100%]}", "3: rollout.batches: must rise"),
        ("rollout: {batches: [100%, 100%]}", "3: rollout.batches: must rise"),
        ("rollout: {batches: [10, 100%]}", "3: rollout.batches[0]: '10' is a share without"),
        ("rollout: {batches: 10%}", "3: rollout.batches: must be a list"),
        ("rollout: {bakes: 1m}", '3: rollout.bakes: unknown key; did you mean "bake"?'),
        ("rollout: {parity_every: 1m}", 'did you mean "parity-every"?'),
        ("rollout: {bake: 10}", "3: rollout.bake: '10' is not a duration: write 10s"),
        ("rollout: {bake: 1m, parity-every: 2m}", "parity would never be looked at"),
        ("rollout: {deadline: 0s}", "3: rollout.deadline: must be longer than 0s"),
        ("rollout: {look-cases: 0}", "3: rollout.look-cases: must be 1 or more"),
        ("rollout: {health: {path: health}}", "3: rollout.health.path: must be a path"),
        ("rollout: {health: {path: 'http://h/x'}}", "3: rollout.health.path: must be a path"),
        ("rollout: {health: {status: 99}}", "3: rollout.health.status: must be 100 or more"),
        ("rollout: {health: {passes: 31, every: 2s}}", "do not fit into a timeout of 60s"),
        ("rollout: {backoff: {first: 10m}}", "3: rollout.backoff: first must not be longer"),
        ("rollout:\n  replicas:\n    - {name: a}", "5: rollout.replicas[0].url: missing"),
        (
            "rollout:\n  replicas:\n    - {name: a, url: 'http://h/v1', bach: 2}",
            '5: rollout.replicas[0].bach: unknown key; did you mean "batch"?',
        ),
        ("rollout: {replicas: [{name: a b, url: 'http://h/v1'}]}", "replicas[0].name: must be"),
        ("rollout: {replicas: [{name: a, url: 'http://h'}]}", "must be a base that ends in /v1"),
        (
            "rollout: {replicas: [{name: a, url: http://h/v1}, {name: a, url: http://i/v1}]}",
            "3: rollout: replicas: the name 'a' stands twice",
        ),
        (
            "rollout: {replicas: [{name: a, url: http://h/v1}, {name: b, url: http://h/v1}]}",
            "3: rollout: replicas: the url 'http://h/v1' stands twice",
        ),
        (
            "rollout: {replicas: [{name: a, url: http://h/v1, batch: 2}]}",
            "replicas: a comes with batch 2, and the last one is 1",
        ),
        (
            "rollout: {batches: [1%, 100%], replicas: [{name: a, url: http://h/v1, batch: 2}]}",
            "replicas: none is there in batch 1",
        ),
        ("rollout: {deploy: {start: {run: [a]}}}", "3: rollout.deploy.stop: missing"),
        ("rollout: {deploy: {start: {run: a b}, stop: {run: [a]}}}", "start.run: must be a list"),
        (
            "rollout: {deploy: {start: {run: []}, stop: {run: [a]}}}",
            "start.run: must have at least 1 entry",
        ),
        ("rollout: {look-cases: x}", "rollout.look-cases: must be a whole number"),
        ("rollout: {health: {passes: 2000}}", "rollout.health.passes: must be 1000 or less"),
        (
            "rollout: {deploy: {start: {run: [a, '{repica}']}, stop: {run: [a]}}}",
            "{repica} is not replaced; is {replica} meant?",
        ),
        ("rollout: {weights: {}}", "3: rollout.weights: must name a file or a webhook"),
        ("rollout: {weights: {webhook: {url: http://h}}}", "webhook.secret-env: missing"),
        ("alarms: [{}]", "3: alarms[0]: must name one sink"),
        ("alarms: [{apprise: {url-env: A}, command: {run: [a]}}]", "3: alarms[0]: must name one"),
        ("alarms: [parity-fail]", "3: alarms[0]: must be a mapping"),
        ("alarms:\n  - slack: {}", "4: alarms[0].slack: unknown key"),
        ("alarms:\n  - alertmanger: x", '4: alarms[0].alertmanger: unknown key; did you mean "al'),
        ("alarms: [{alertmanager: localhost}]", "alarms[0].alertmanager.url: must be an URL"),
    ],
)
def test_errors(load, text, problem):
    """What is wrong with a section is named with its line and key."""
    with pytest.raises(ReleaseError) as caught:
        load(SMALL + text)
    assert problem in str(caught.value)


def test_braces_that_are_no_placeholder_stay(load):
    """Arguments may hold braces of another meaning, such as a program for awk."""
    text = "rollout: {deploy: {start: {run: [awk, '{print}']}, stop: {run: ['true']}}}"
    assert load(SMALL + text).rollout.deploy.start.run == ("awk", "{print}")


@pytest.mark.parametrize(
    "text",
    [
        "rollout: {weights: {webhook: {url: http://h/x, secret-env: sk-secret-value}}}",
        "rollout: {weights: {webhook: {url: http://h/x?token=secret-value, secret-env: A}}}",
        "rollout: {weights: {webhook: {url: http://u:secret-value@h/x, secret-env: A}}}",
        "rollout: {deploy: {start: {run: [a], environment: {HF_TOKEN: secret-value}}}}",
        "alarms: [{pagerduty: {routing-key-env: sk-secret-value}}]",
        "alarms: [{apprise: {url-env: slack://secret-value}}]",
        "alarms: [{cloudevents: {url: http://h, secret-env: A, headers-env: {B: a secret-value}}}]",
        "alarms: [{alertmanager: http://h/?key=secret-value}]",
    ],
)
def test_secrets_are_refused_and_not_repeated(load, text):
    """A secret that stands in a section is refused, and the error does not show it."""
    with pytest.raises(ReleaseError) as caught:
        load(SMALL + text)
    assert "secret-value" not in str(caught.value)


def test_digest_tells_the_sections_apart(load):
    """Spelling does not change the digest, a default written out does not, a setting does."""
    one = load(WHOLE).digest
    assert load(WHOLE.replace("bake: 10m", "bake: 600s").replace("0.5", "50%")).digest == one
    assert load(WHOLE.replace("bake: 10m", "bake: 11m")).digest != one
    assert load(SMALL + "rollout: {bake: 10m}").digest == load(SMALL).digest


def test_schema_takes_what_loads():
    """The shipped schema takes the whole release, and refuses an entry of two sinks."""
    validator = Draft202012Validator(schema("release-1"))
    validator.validate(yaml.safe_load(WHOLE))
    two = {"apprise": {"url-env": "A"}, "command": {"run": ["a"]}}
    with pytest.raises(ValidationError):
        validator.validate({**yaml.safe_load(SMALL), "alarms": [two]})
