"""The workflows that a worker takes on."""

from __future__ import annotations

from denv.rollout.engine.alarm_workflow import AlarmWorkflow
from denv.rollout.engine.parity_workflow import ParityWorkflow
from denv.rollout.engine.schedule_workflow import ScheduleWorkflow
from denv.rollout.engine.stage_workflow import StageWorkflow

WORKFLOWS: tuple[type, ...] = (
    StageWorkflow,
    ParityWorkflow,
    AlarmWorkflow,
    ScheduleWorkflow,
)
