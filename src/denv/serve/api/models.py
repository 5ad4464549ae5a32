"""What the API answers and takes, as pydantic models; fields that are not named here are refused.

Documents that have a form of their own elsewhere (a report, a case, a measurement) are passed on
as they are; times are in UTC, to the second.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from denv.serve.actions import MOST_REASON

SEEN = r"[^\s\x00-\x20\x7f-\xa0\ufeff]"
"""Something of a text can be seen."""


def _whole(value: Any) -> Any:
    """Take 30.0 for 30, which is the same number in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Document = Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]
CaseDocument = Annotated[
    dict[str, Any], WithJsonSchema({"$ref": "#/components/schemas/report.case"})
]
HeadDocument = Annotated[
    dict[str, Any], WithJsonSchema({"$ref": "#/components/schemas/report.head"})
]
Reason = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MOST_REASON, pattern=SEEN),
    Field(description="Why; it is shown in the log as one line."),
]
Days = Annotated[int, Field(ge=1, le=3650), BeforeValidator(_whole)]
Cursor = Annotated[
    str | None, Field(description="Take it as `cursor` for the next page; null on the last one.")
]


class Model(BaseModel):
    """The base of all: nothing beside the named fields, and names that Python has for itself."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, strict=True)


class Problem(Model):
    """Why a request was not carried out, in a sentence."""

    reason: str


# ---------------------------------------------------------------- runs


class Run(Model):
    """A run in a list; `stage` is the digest of the stage's URL and model.

    `purpose` is `parity` where it asks all of a suite; `look` (some cases that were drawn) and
    `golden` (golden prompts) are parts of a rollout.
    """

    run: str
    started: Time
    finished: Time | None
    state: str
    verdict: str | None
    suite_name: str
    suite_sha256: str
    cases: int
    stage: str
    stage_url: str
    stage_model: str | None
    reference_model: str | None
    release: str | None
    purpose: str


class Runs(Model):
    """A page of runs, the newest first."""

    runs: list[Run]
    next: Cursor


class Count(Model):
    """How many cases have an outcome and a cause."""

    outcome: str
    cause: str | None
    cases: int


class RunDetail(Run):
    """A run with its counts so far, and the report without its cases once it has ended."""

    counts: list[Count]
    report: HeadDocument | None


class Cases(Model):
    """A page of a run's cases, in the suite's order."""

    cases: list[CaseDocument]
    next: Cursor


class Stage(Model):
    """A stage that runs have asked.

    `latest` is the run that was started last. `standing` is the one whose verdict stands: the
    last full parity run that has ended, a cancelled one only where there is no other.
    """

    stage: str
    url: str
    model: str | None
    runs: int
    latest: Run
    standing: Run | None


class Stages(Model):
    """All stages, the one with the newest run first."""

    stages: list[Stage]


class Suite(Model):
    """A suite that was run; `kinds` says how many cases of each kind the run `measured` planned.

    That is the latest that has ended and asked every case, else the latest that has ended.
    """

    sha256: str
    name: str
    cases: int
    runs: int
    latest: str
    kinds: dict[str, int]
    measured: str | None


class Suites(Model):
    """All suites, the one with the newest run first."""

    suites: list[Suite]


# ---------------------------------------------------------------- measurements


class Measure(Model):
    """A measurement in a list; gates, sentinels and speed runs have no `verdict`.

    `admits` is what gates let be measured, null for other instruments and until they have ended.
    """

    measure: str
    instrument: str
    started: Time
    finished: Time | None
    state: str
    verdict: str | None
    admits: list[str] | None
    stage: str
    stage_url: str
    stage_model: str | None
    reference_model: str | None


class Measures(Model):
    """A page of measurements, the newest first."""

    measures: list[Measure]
    next: Cursor


class MeasureDetail(Model):
    """A measurement; `document` is what its command's `--json` writes, null until it has ended."""

    measure: str
    instrument: str
    started: Time
    finished: Time | None
    state: str
    document: Document | None


# ---------------------------------------------------------------- rollouts


class Rollout(Model):
    """A rollout in a list."""

    rollout: str
    release: str
    stage: str
    phase: str
    batch: int
    batches: list[float]
    started: Time
    ended: Time | None


class Rollouts(Model):
    """A page of rollouts, the newest first."""

    rollouts: list[Rollout]
    next: Cursor


class Bake(Model):
    """How much of a batch's time was observed."""

    observed_s: float
    of_s: float
    looks: int


class Wait(Model):
    """What a rollout waits for."""

    waits_for: str = Field(alias="for")
    until: Time | None


class Decision(Model):
    """A decision in a rollout's log, with the rule that made it."""

    seq: int
    at: Time
    phase: str
    event: str
    rule: str
    next_phase: str
    text: str
    detail: Document


class GivenOverride(Model):
    """The word that let a rollout begin in spite of an earlier failure."""

    by: str
    reason: str


class RolloutAlarm(Model):
    """An alarm of a rollout."""

    alarm: str
    kind: str
    opened: Time
    resolved: Time | None
    repeats: int


class RolloutDetail(Rollout):
    """A rollout: where it stands, what it waits for, and each decision."""

    schema_: Literal["denv.rollout/1"] = Field(alias="schema")
    proof: str
    weights: Any
    weights_confirmed: bool | None
    bake: Bake
    waits_for: list[Wait]
    cause: str | None
    incomplete: Any
    override: GivenOverride | None
    alarms: list[RolloutAlarm]
    decisions: list[Decision]


# ---------------------------------------------------------------- alarms


class Delivery(Model):
    """What one sink was told of an alarm, or is still to be told."""

    sink: str
    action: str
    state: str
    attempts: int
    last_error: str | None
    delivered: Time | None


class Alarm(Model):
    """An alarm with its deliveries."""

    alarm: str
    identity: str
    kind: str
    severity: str
    stage: str
    release: str
    summary: str
    run: str | None
    rollout: str | None
    opened: Time
    last: Time
    repeats: int
    resolved: Time | None
    resolved_by: str | None
    details: Document
    deliveries: list[Delivery]


class Alarms(Model):
    """A page of alarms, the newest first."""

    alarms: list[Alarm]
    next: Cursor


# ---------------------------------------------------------------- schedules


class ScheduleEngine(Model):
    """A schedule as the engine has it."""

    next_times: list[Time]
    paused: bool
    note: str | None
    running: int
    lost: int
    overlapped: int


class Schedule(Model):
    """A schedule; `history` has its latest firings, the oldest of them first.

    `engine` is null where `engine_missing` says why the next times are not known.
    """

    schema_: Literal["denv.schedule/1"] = Field(alias="schema")
    name: str
    release: str
    stage: str
    created: Time
    timing: Document
    paused: str | None
    baseline: str | None
    engine: ScheduleEngine | None
    engine_missing: str | None
    detectors: Document | None
    drift: Document | None
    history: list[Document]


class ScheduleDetail(Schedule):
    """A schedule with a page of its firings; `drift` is that of the latest one among them."""

    next: Cursor


class Schedules(Model):
    """All schedules with their last firing."""

    schedules: list[Schedule]


# ---------------------------------------------------------------- publications


class Publication(Model):
    """A report that was published; `path` is where it is served while `served`."""

    publication: str
    run: str
    stage: str
    path: str
    created: Time
    expires: Time | None
    revoked: Time | None
    served: bool
    indexed: bool
    verdict: str


class Publications(Model):
    """All published reports, the newest first; those taken back too."""

    publications: list[Publication]


# ---------------------------------------------------------------- what is taken, and said of it


class Nothing(Model):
    """A body without fields."""


class Promote(Model):
    """The end of a bake; the reason may be left out."""

    reason: Reason | None = None


class Told(Model):
    """An order that was taken; the log of what it is about says what follows."""

    told: str


class Trigger(Model):
    """A full run out of turn."""

    new_baseline: bool = Field(
        default=False, description="What both sides say now is what later runs compare with."
    )


class Publish(Model):
    """How a report is made public."""

    stale_days: Days = Field(default=30, description="How long it is fresh.")
    expires_days: Days | None = Field(default=None, description="It is served no longer than this.")
    indexed: bool = Field(default=False, description="Search engines may list it.")
    with_suite: bool = Field(default=False, description="The suite lies beside the report.")


class Because(Model):
    """The reason for an action."""

    reason: Reason
