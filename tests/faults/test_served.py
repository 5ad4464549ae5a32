"""Each fault served over real sockets, and decided by a run from a suite to its report."""

from __future__ import annotations

import io
import json
from fractions import Fraction
from itertools import groupby

import pytest

from denv.records import Kind, Side, Thresholds
from denv.report import write_json
from tests.faults.rows import differences, tries
from tests.faults.serving import by_messages


def _group(one):
    return one.streamed, len(one.stage), one.sampled


GROUPS = [list(group) for _, group in groupby(sorted(tries(), key=_group), key=_group)]


def refuse(word):
    raise ValueError(f"{word} is not JSON")


@pytest.mark.parametrize(
    "group", GROUPS, ids=lambda group: f"streamed={group[0].streamed}-repeats={len(group[0].stage)}"
)
async def test_served_faults_are_decided_right(serve, run, group):
    """What a run reports of a server's fault is what the fault is."""
    stage = await serve(by_messages(group, Side.STAGE))
    reference = await serve(by_messages(group, Side.REFERENCE))
    first = group[0]
    report, document = await run(
        [one.suite_line for one in group],
        stage,
        reference,
        stage_options={"sampled": "stage" in first.sampled, "concurrency": 1},
        stream="yes" if first.streamed else "no",
        repeats=len(first.stage),
    )
    found = {case["id"]: case for case in document["cases"]}
    assert found.keys() == {one.id for one in group}
    wrong = {one.id: differences(one.right, found[one.id]) for one in group}
    assert {name: lines for name, lines in wrong.items() if lines} == {}
    text = io.StringIO()
    write_json(report, text)
    assert json.loads(text.getvalue(), parse_constant=refuse)["cases"] == document["cases"]


async def test_backends_are_told_apart(serve, run):
    """Where a router mixes backends, the report counts the outcomes of each."""
    mixed = [one for one in tries() if one.id.startswith("b-provider-mix/")]
    stage = await serve(by_messages(mixed, Side.STAGE))
    reference = await serve(by_messages(mixed, Side.REFERENCE))
    _, document = await run([one.suite_line for one in mixed], stage, reference)
    groups = {
        (group["by"], group["value"]): (group["pass"], group["fail"])
        for group in document["stage"]["groups"]
    }
    assert groups == {
        ("provider", "P-fp8"): (1, 0),
        ("provider", "P-bf16"): (0, 1),
        ("system_fingerprint", "f1"): (1, 0),
        ("system_fingerprint", "f2"): (0, 1),
    }


async def test_absent_logprobs_never_pass(serve, run):
    """A suite whose logprobs never come is inconclusive where a threshold asks for them."""
    absent = [one for one in tries() if one.id.startswith("a-lp-absent/")]
    stage = await serve(by_messages(absent, Side.STAGE))
    reference = await serve(by_messages(absent, Side.REFERENCE))
    _, document = await run(
        [one.suite_line for one in absent],
        stage,
        reference,
        thresholds=Thresholds(rates={Kind.LOGPROBS: Fraction(1, 2)}),
    )
    assert document["verdict"] == "inconclusive"
    assert document["kinds"]["logprobs"]["unmeasured"] == len(absent)
    assert document["kinds"]["logprobs"]["pass_rate"] is None
