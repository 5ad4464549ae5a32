"""The dashboard and the alert rules name what ``/metrics`` gives, and Prometheus can read them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from denv.serve.families import families
from denv.serve.metering import ScheduleFigures, Snapshot, StageFigures, StageLabel
from denv.store import RunRow
from tests.deploy.conftest import DEPLOY, manifest

DASHBOARD = json.loads((DEPLOY / "grafana" / "denv-parity.json").read_text("utf-8"))
(GROUP,) = manifest("prometheus/denv-alerts.yaml")["groups"]
HERE = Path(__file__).parent

PROMETHEUS_OWN = {"up": {"job", "instance"}}
WORDS = {"by", "unless", "offset", "and", "or", "without"}
FUNCTIONS = {"sum", "max", "increase", "time", "label_values"}


def full() -> Snapshot:
    """Give a snapshot in which everything is there that can be."""
    kind = {"pass_rate": 1.0, "interval": [0.9, 1.0], "threshold": 0.95}
    side = {"kinds": {"exact": {"agreement": 1.0}}}
    head = {"kinds": {"exact": kind}, "noise": {"stage": side, "reference": side}}
    tokens = {(s, what): 1 for s in ("stage", "reference") for what in ("prompt", "completion")}
    standing = RunRow(
        run="r",
        started=0.0,
        finished=1.0,
        state="finished",
        verdict="pass",
        suite_name="core.jsonl",
        suite_sha256="0" * 64,
        cases=59,
        stage="d",
        stage_url="http://s.test/v1",
        stage_model="m",
        reference_model="m",
        release=None,
    )
    figures = StageFigures(standing, head, {"pass": 1}, tokens)
    return Snapshot(
        stages={StageLabel("http://s.test/v1", "m"): figures},
        left_out=0,
        alarms={},
        phases={"http://s.test/v1": "baking"},
        schedules={"nightly": ScheduleFigures(paused=False, last_firing=1.0)},
    )


def emitted() -> dict[str, set[str]]:
    """Give each metric that is emitted, with its labels."""
    found: dict[str, set[str]] = {}
    for family in families(full(), {"nightly": 2.0}, now=3.0):
        assert family.samples, family.name
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def dashboard_expressions():
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]


EXPRESSIONS = [*dashboard_expressions(), *(rule["expr"] for rule in GROUP["rules"])]


def named(expression):
    """Give the metrics that an expression of PromQL names, and the labels that it picks by."""
    bare = re.sub(r'"[^"]*"', "", expression)
    groups = re.findall(r"\bby \(([^)]*)\)", bare)
    bare = re.sub(r"\bby \([^)]*\)", "", bare)
    labels = {label.strip() for group in groups for label in group.split(",")}
    if found := re.fullmatch(r"label_values\((.*), (\w+)\)", bare):
        bare, label = found.groups()
        labels.add(label)
    matchers = re.findall(r"\{([^}]*)\}", bare)
    labels |= {label for each in matchers for label in re.findall(r"(\w+)\s*[=!]", each)}
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\boffset \w+", "", bare)
    return set(re.findall(r"[A-Za-z_]\w*", bare)) - WORDS - FUNCTIONS, labels


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_metric_and_label_is_emitted(expression):
    """Whatever an expression names is in what the collector gives."""
    known = {**emitted(), **PROMETHEUS_OWN}
    metrics, labels = named(expression)
    assert metrics
    assert metrics <= set(known)
    assert labels <= set.union(*(known[metric] for metric in metrics))


def test_a_metric_that_is_not_there_is_noticed():
    """The test above would fail for a slip in a name or in a label."""
    assert named('sum by (kind) (denv_alarm_open{staeg=~"x"}[1d]) > 0') == (
        {"denv_alarm_open"},
        {"kind", "staeg"},
    )
    assert named("label_values(denv_parity_pass_rat, kind)") == (
        {"denv_parity_pass_rat"},
        {"kind"},
    )


def test_every_metric_is_on_the_dashboard():
    """What is measured can be seen."""
    shown = set().union(*(named(each)[0] for each in dashboard_expressions()))
    assert set(emitted()) == shown


def test_the_dashboard_is_bound_to_no_datasource_of_its_own():
    """Each panel takes the datasource that is chosen above, and each has an id and a place."""
    panels = DASHBOARD["panels"]
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    shown = [panel for panel in panels if panel["type"] != "row"]
    assert all(panel["datasource"] == chosen for panel in shown)
    assert all(each["datasource"] == chosen for panel in shown for each in panel["targets"])
    assert DASHBOARD["templating"]["list"][0]["type"] == "datasource"
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    for n, one in enumerate(places):
        assert one["x"] + one["w"] <= 24
        assert not any(overlap(one, other) for other in places[:n])


def overlap(one, other):
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "w"), ("y", "h"))
    )


def test_rules_say_what_is_wrong():
    """Each alert has a severity that denv's own alarms have too, and a sentence."""
    for rule in GROUP["rules"]:
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert rule["annotations"]["summary"]


def test_prometheus_reads_rules_and_expressions(tmp_path):
    """Prometheus' own tool takes them, and the alerts fire and end as they should."""
    promtool = shutil.which("promtool")
    if promtool is None:  # Debian has it with a whole server alone, which nothing here needs
        pytest.skip("promtool is not installed")
    panels = [
        re.sub(r"\$\w+", "x", each)
        for each in dashboard_expressions()
        if not each.startswith("label_values")
    ]
    rules = [{"record": f"r:{n}", "expr": each} for n, each in enumerate(panels)]
    file = tmp_path / "panels.yaml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    subprocess.run([promtool, "check", "rules", file], check=True)
    subprocess.run(
        [promtool, "check", "rules", DEPLOY / "prometheus" / "denv-alerts.yaml"], check=True
    )
    subprocess.run([promtool, "test", "rules", HERE / "denv-alerts.test.yaml"], check=True)
