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
from denv.store.browsing import (
    Browsing,
    MeasureRow,
    RunRow,
    StageRow,
    SuiteRow,
    can_be_kept,
)
from denv.store.claims import Held
from denv.store.home import data_folder, kept_suite
from denv.store.protocol import (
    AnswerKey,
    MeasureRecord,
    RunRecord,
    Store,
    StoredAnswer,
    StoredProbe,
)
from denv.store.publications import Publication, PublicationStore
from denv.store.purposes import Purpose
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
from denv.store.tokens import Role, Session, Token, TokenStore

__all__ = [
    "AlarmRecord",
    "AlarmStore",
    "AnswerKey",
    "Browsing",
    "Decision",
    "DeliveryAction",
    "DeliveryRecord",
    "DeliveryState",
    "Firing",
    "Held",
    "Incumbent",
    "Latch",
    "LogEntry",
    "LogPlace",
    "MeasureRecord",
    "MeasureRow",
    "Override",
    "Publication",
    "PublicationStore",
    "Purpose",
    "Raise",
    "Resolve",
    "Role",
    "RolloutRecord",
    "RolloutStore",
    "RunLog",
    "RunRecord",
    "RunRow",
    "ScheduleRecord",
    "ScheduleStore",
    "Session",
    "SqlStore",
    "StageRecord",
    "StageRow",
    "StepCommit",
    "Store",
    "StoredAnswer",
    "StoredProbe",
    "SuiteRow",
    "Token",
    "TokenStore",
    "can_be_kept",
    "data_folder",
    "kept_suite",
    "open_store",
]
