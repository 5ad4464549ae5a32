"""Where runs, their journaled answers and their results are kept."""

from denv.store.home import data_folder
from denv.store.protocol import AnswerKey, RunRecord, Store, StoredAnswer
from denv.store.sql import SqlStore, open_store

__all__ = [
    "AnswerKey",
    "RunRecord",
    "SqlStore",
    "Store",
    "StoredAnswer",
    "data_folder",
    "open_store",
]
