"""Where runs, rollouts, alarms and schedules are kept, with every journaled answer."""

from denv.store.alarming import (
    AlarmRecord,
    AlarmStore,
    DeliveryAction,
    DeliveryRecord,
    DeliveryState,
    Raise,
    Resolve,
)
from denv.store.home import data_folder
from denv.store.protocol import (
    AnswerKey,
    MeasureRecord,
    RunRecord,
    Store,
    StoredAnswer,
    StoredProbe,
)
from denv.store.publications import Publication, PublicationStore
from denv.store.rollouts import (
    Decision,
    Incumbent,
    Latch,
    Override,
    RolloutRecord,
    RolloutStore,
    StageRecord,
    StepCommit,
)
from denv.store.runlog import LogEntry, LogPlace, RunLog
from denv.store.scheduling import Firing, ScheduleRecord, ScheduleStore
from denv.store.sql import SqlStore, open_store

__all__ = [
    "AlarmRecord",
    "AlarmStore",
    "AnswerKey",
    "Decision",
    "DeliveryAction",
    "DeliveryRecord",
    "DeliveryState",
    "Firing",
    "Incumbent",
    "Latch",
    "LogEntry",
    "LogPlace",
    "MeasureRecord",
    "Override",
    "Publication",
    "PublicationStore",
    "Raise",
    "Resolve",
    "RolloutRecord",
    "RolloutStore",
    "RunLog",
    "RunRecord",
    "ScheduleRecord",
    "ScheduleStore",
    "SqlStore",
    "StageRecord",
    "StepCommit",
    "Store",
    "StoredAnswer",
    "StoredProbe",
    "data_folder",
    "open_store",
]
