"""The tables. A suite's cases and answers only: customers' traffic has no table."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

SCHEMA_VERSION = 1

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("run", String(64), primary_key=True),
    Column("started", Float, nullable=False),
    Column("finished", Float),
    Column("state", String(16), nullable=False),
    Column("settings", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("head", Text),
)

answers = Table(
    "answers",
    metadata,
    Column("run", String(64), primary_key=True),
    Column("case_index", Integer, primary_key=True),
    Column("side", String(16), primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("streamed", Integer, primary_key=True),
    Column("max_tokens", Integer, nullable=False),
    Column("answered", Float, nullable=False),
    Column("cache_key", LargeBinary(32)),
    Column("exchange", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

Index("answers_by_cache_key", answers.c.cache_key, answers.c.answered)

results = Table(
    "results",
    metadata,
    Column("run", String(64), primary_key=True),
    Column("case_index", Integer, primary_key=True),
    Column("outcome", String(20), nullable=False),
    Column("cause", String(20)),
    Column("document", Text, nullable=False),
)

measures = Table(
    "measures",
    metadata,
    Column("measure", String(64), primary_key=True),
    Column("instrument", String(40), nullable=False),
    Column("started", Float, nullable=False),
    Column("finished", Float),
    Column("state", String(16), nullable=False),
    Column("settings", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("document", Text),
)

probes = Table(
    "probes",
    metadata,
    Column("measure", String(64), primary_key=True),
    Column("key", LargeBinary(32), primary_key=True),
    Column("side", String(16), nullable=False),
    Column("answered", Float, nullable=False),
    Column("exchange", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
