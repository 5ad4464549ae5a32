"""Schedules for tests: two stub sides that change when they are told to, and a plan over them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from denv.rollout.plan import freeze
from denv.rollout.schedules.timing import Timing
from denv.store import ScheduleRecord
from tests import suites
from tests.stubs import answers

DAY = 86_400.0
START = 1_800_000_000.0
CASES = 40

RELEASE = """
release: chat-r8
stage: {{url: {stage}}}
parity:
  reference: {{url: {reference}}}
  suite: suite.jsonl
  pass: {{exact: {rate}}}
rollout: {{golden: golden.jsonl}}
alarms:
  - {{command: {{run: [echo, alarm]}}}}
"""


@dataclass
class Side:
    """A stub that echoes, but answers nonsense to some numbers."""

    wrong: set[int] = field(default_factory=set)
    down: bool = False
    asked: int = 0

    def __call__(self, request, n):
        content = request["messages"][-1]["content"]
        self.asked += content != "Hello"
        if self.down:
            return answers.error(500, "broken")
        bad = any(content == f"number {number};" for number in self.wrong)
        return answers.completion("no" if bad else content)


def write_suites(folder, *, cases=CASES):
    """Write a suite and golden prompts."""
    suites.write(folder, suites.numbered(cases))
    suites.write(folder, [dict(line, max_tokens=8) for line in suites.numbered(2)], "golden.jsonl")


def plan_of(release_of, tmp_path, *, stage, reference, rate="50%", cases=CASES):
    """Freeze a plan over two stubs."""
    write_suites(tmp_path, cases=cases)
    text = RELEASE.format(stage=stage.url, reference=reference.url, rate=rate)
    return freeze(release_of(text), data_folder=tmp_path / "home")


def add(store, plan, *, name="nightly", **timing):
    """Add a schedule of one run a day."""
    given = Timing(**{"every_s": DAY, **timing})
    record = ScheduleRecord(
        name=name,
        created=START,
        spec=given.to_json(),
        plan=json.loads(plan.to_json()),
    )
    store.schedules.add_schedule(record)
    return record
