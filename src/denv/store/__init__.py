"""Where runs, their journaled answers and their results are kept."""

from denv.store.home import data_folder
from denv.store.protocol import (
    AnswerKey,
    MeasureRecord,
    RunRecord,
    Store,
    StoredAnswer,
    StoredProbe,
)
from denv.store.sql import SqlStore, open_store

__all__ = [
    "AnswerKey",
    "MeasureRecord",
    "RunRecord",
    "SqlStore",
    "Store",
    "StoredAnswer",
    "StoredProbe",
    "data_folder",
    "open_store",
]
