"""``denv parity compare``: two runs of one suite, by id, file and folder."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator
from scipy.stats import binomtest

from denv.schemas import schema
from tests import suites
from tests.cli import publishing

WORSE = {str(n) for n in range(2, 10)}


@pytest.fixture
async def runs(denv, serve, tmp_path):
    """Run twice: first one case fails, then eight others."""
    _, one = await publishing.run(denv, serve, tmp_path, wrong={"0"})
    _, other = await publishing.run(denv, serve, tmp_path, wrong=WORSE)
    return one, other


async def test_two_runs_side_by_side(denv, runs):
    """Cases that changed are named, and the p-value is the exact one of the pairs that differ."""
    ended = await denv("parity", "compare", *runs, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    Draft202012Validator(schema("compare-1")).validate(found)
    row = found["kinds"]["exact"]
    assert (row["pairs"], row["only_a"], row["only_b"]) == (20, 8, 1)
    assert row["p_value"] == pytest.approx(binomtest(1, 9).pvalue)
    assert (row["a"]["pass_rate"], row["b"]["pass_rate"]) == (0.95, 0.6)
    assert {case["id"]: (case["a"], case["b"]) for case in found["changed"]} == {
        "c0": ("fail", "pass"),
        **{f"c{n}": ("pass", "fail") for n in WORSE},
    }
    assert found["says"].startswith("B passes fewer cases")
    told = await denv("parity", "compare", *runs)
    assert "8, only B 1; exact McNemar p = 0.0391" in told.out
    assert "c2  pass → fail" in told.out


async def test_files_and_folders_of_others(denv, runs, tmp_path):
    """A run's file and a public folder compare as the runs themselves."""
    one, other = runs
    await denv("parity", "report", one, "--json", tmp_path / "one.json")
    await denv("parity", "report", other, "--public", "--out", tmp_path / "other")
    by_id = json.loads((await denv("parity", "compare", *runs, "--json")).out)
    for name in ("other", "other/report.json"):
        ended = await denv("parity", "compare", tmp_path / "one.json", tmp_path / name, "--json")
        assert ended.code == 0, ended.err
        found = json.loads(ended.out)
        assert found["all"] == by_id["all"]
        assert len(found["changed"]) == 9


async def test_a_run_is_like_itself(denv, runs):
    """Nothing changed, p is 1, and no proof of sameness is claimed."""
    found = json.loads((await denv("parity", "compare", runs[0], runs[0], "--json")).out)
    assert (found["changed"], found["all"]["p_value"]) == ([], 1.0)
    assert "no proof that they are alike" in found["says"]


async def test_other_suites_are_refused_or_compared_on_common_cases(denv, serve, runs, tmp_path):
    """Different suites are refused plainly; --common compares cases of one id and check."""
    lines = [*suites.numbered(10), suites.line("new", "number 50;", {"contains": "50"})]
    lines[4] = suites.line("c4", "number 4;", {"equals": "number 4;"})
    suite = suites.write(tmp_path, lines, "other.jsonl")
    stage, reference = await serve(), await serve()
    ended = await denv(
        *("parity", "run", "--suite", suite, "--json", "-", "--quiet"),
        *("--stage", stage.url, "--reference", reference.url),
    )
    other = json.loads(ended.out)["run"]
    refused = await denv("parity", "compare", runs[0], other)
    assert (refused.code, len(refused.lines)) == (2, 1)
    assert "different suites, core.jsonl and other.jsonl" in refused.err
    found = json.loads((await denv("parity", "compare", runs[0], other, "--common", "--json")).out)
    assert (found["cases"], found["different"]) == (9, 1)
    assert (found["only_in_a"], found["only_in_b"], found["same_suite"]) == (10, 1, False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "is no report"),
        ('{"schema": "denv.parity.public/1"}', "$.cases: is no list"),
        ('{"schema": "denv.parity.public/1", "cases": []}', "is a required property"),
        ('{"schema": "x", "a": NaN}', "is not JSON"),
        (None, "there is no such file"),
    ],
)
async def test_what_is_no_report(denv, tmp_path, content, said):
    """A file that is no report is exit 2 in one line that names it."""
    path = tmp_path / "bad.json"
    if content is not None:
        path.write_text(content)
    ended = await denv("parity", "compare", path, path)
    assert (ended.code, len(ended.lines)) == (2, 1)
    assert said in ended.err
    assert "bad.json" in ended.err
