"""The tables. A suite's cases and answers only: customers' traffic has no table."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)


class Words(TypeDecorator[str]):
    """Text that people or servers wrote; what PostgreSQL cannot hold is shown as U+FFFD."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """Replace NUL and lone surrogates."""
        if value is None or (value.isascii() and "\0" not in value):
            return value
        whole = value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        return whole.replace("\0", "\ufffd")


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
    # Written once a run from its settings and head, since lists are filtered by them.
    Column("suite", String(64), nullable=False, server_default=""),
    Column("stage", String(64), nullable=False, server_default=""),
    Column("verdict", String(20)),
    Column("purpose", String(16), nullable=False, server_default="parity"),
    Column("stage_prompt_tokens", BigInteger),
    Column("stage_completion_tokens", BigInteger),
    Column("reference_prompt_tokens", BigInteger),
    Column("reference_completion_tokens", BigInteger),
)

Index("runs_by_started", runs.c.started)
Index("runs_by_stage", runs.c.stage, runs.c.started)
Index("runs_by_suite", runs.c.suite, runs.c.started)
# All that metrics count of ended runs, so that no row is read, which a long head makes slow.
Index(
    "runs_by_end",
    runs.c.stage,
    runs.c.finished,
    runs.c.purpose,
    runs.c.verdict,
    runs.c.run,
    runs.c.stage_prompt_tokens,
    runs.c.stage_completion_tokens,
    runs.c.reference_prompt_tokens,
    runs.c.reference_completion_tokens,
)

answers = Table(
    "answers",
    metadata,
    Column("run", String(64), primary_key=True),
    Column("case_index", Integer, primary_key=True),
    Column("side", String(16), primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("streamed", Integer, primary_key=True),
    Column("max_tokens", BigInteger, nullable=False),
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

# Passing results, nearly all, are in no index but that of their key: they are written at speed.
NOT_PASSED = text("outcome <> 'pass'")
Index(
    "results_not_passed",
    results.c.run,
    results.c.case_index,
    results.c.outcome,
    results.c.cause,
    sqlite_where=NOT_PASSED,
    postgresql_where=NOT_PASSED,
)

# Only ever added to: no row is changed or taken away, not by pruning either.
run_log = Table(
    "run_log",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("run", String(64), nullable=False),
    Column("finished", Float, nullable=False),
    Column("suite", String(64), nullable=False),
    Column("stage", String(64), nullable=False),
    Column("verdict", String(20), nullable=False),
    Column("report", String(64), nullable=False),
    Column("previous", String(64), nullable=False),
    Column("entry", String(64), nullable=False),
)

Index("run_log_by_run", run_log.c.run)
Index("run_log_by_stage", run_log.c.suite, run_log.c.stage)

publications = Table(
    "publications",
    metadata,
    Column("publication", String(32), primary_key=True),
    Column("run", String(64), nullable=False),
    Column("stage", String(64), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
    Column("indexed", Integer, nullable=False),
    Column("head", Text, nullable=False),
)

Index("publications_by_stage", publications.c.stage)

publication_files = Table(
    "publication_files",
    metadata,
    Column("publication", String(32), primary_key=True),
    Column("name", String(40), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

# ---------------------------------------------------------------- who may ask
# Digests of secrets alone; neither table is ever exported.

tokens = Table(
    "tokens",
    metadata,
    Column("token", String(16), primary_key=True),
    Column("name", Words, nullable=False),
    Column("role", String(8), nullable=False),
    Column("digest", LargeBinary(32), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
)

sessions = Table(
    "sessions",
    metadata,
    Column("digest", LargeBinary(32), primary_key=True),
    Column("token", String(16), nullable=False),
    Column("created", Float, nullable=False),
    Column("seen", Float, nullable=False),
)

Index("sessions_by_token", sessions.c.token)

# ---------------------------------------------------------------- measurements

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
    Column("stage", String(64), nullable=False, server_default=""),
    Column("verdict", String(20)),
)

Index("measures_by_started", measures.c.started)

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

# ---------------------------------------------------------------- rollouts
# A unique column that is null once the thing is over lets the database itself hold that a
# stage has one active rollout, an identity one open alarm, a proof one unused override.

rollouts = Table(
    "rollouts",
    metadata,
    Column("rollout", String(64), primary_key=True),
    Column("stage", Words, nullable=False),
    Column("active_stage", Words, unique=True),
    Column("release", Words, nullable=False),
    Column("proof", String(100), nullable=False),
    Column("started", Float, nullable=False),
    Column("ended", Float),
    Column("phase", String(40), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("plan", Text, nullable=False),
    Column("state", Text, nullable=False),
)

Index("rollouts_by_started", rollouts.c.started)

decisions = Table(
    "decisions",
    metadata,
    Column("rollout", String(64), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("phase", String(40), nullable=False),
    Column("event", Text, nullable=False),
    Column("rule", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("next_phase", String(40), nullable=False),
    Column("actions", Text, nullable=False),
    Column("detail", Text, nullable=False),
)

latches = Table(
    "latches",
    metadata,
    Column("proof", String(100), primary_key=True),
    Column("rollout", String(64), primary_key=True),
    Column("at", Float, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("run", String(64)),
)

overrides = Table(
    "overrides",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("proof", String(100), nullable=False, index=True),
    Column("unused_proof", String(100), unique=True),
    Column("by", Words, nullable=False),
    Column("reason", Words, nullable=False),
    Column("at", Float, nullable=False),
    Column("used_by", String(64)),
    Column("used_at", Float),
)

stages = Table(
    "stages",
    metadata,
    Column("stage", Words, primary_key=True),
    Column("incumbent", Text),
    Column("weights", Text),
    Column("weighed", Float),
)

# ---------------------------------------------------------------- alarms

alarms = Table(
    "alarms",
    metadata,
    Column("alarm", String(64), primary_key=True),
    Column("identity", Words, nullable=False),
    Column("open_identity", Words, unique=True),
    Column("kind", String(40), nullable=False),
    Column("stage", Words, nullable=False),
    Column("release", Words, nullable=False),
    Column("summary", Words, nullable=False),
    Column("run", String(64)),
    Column("rollout", String(64)),
    Column("details", Text, nullable=False),
    Column("opened", Float, nullable=False),
    Column("last", Float, nullable=False),
    Column("repeats", Integer, nullable=False),
    Column("resolved", Float),
    Column("resolved_by", Words),
)

Index("alarms_by_opened", alarms.c.opened)

occasions = Table(
    "occasions",
    metadata,
    Column("once", Words, primary_key=True),
    Column("alarm", String(64), nullable=False),
    Column("at", Float, nullable=False),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("alarm", String(64), primary_key=True),
    Column("sink", Words, primary_key=True),
    Column("action", String(16), primary_key=True),
    Column("state", String(16), nullable=False),
    Column("settings", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("last_error", Words),
    Column("next_at", Float),
    Column("delivered", Float),
)

Index("deliveries_by_state", deliveries.c.state, deliveries.c.created)

# ---------------------------------------------------------------- schedules

schedules = Table(
    "schedules",
    metadata,
    Column("name", Words, primary_key=True),
    Column("created", Float, nullable=False),
    Column("spec", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("paused", Words),
    Column("baseline", String(64)),
    Column("detector", Text, nullable=False),
    Column("last_slot", Float),
)

firings = Table(
    "firings",
    metadata,
    Column("schedule", Words, primary_key=True),
    Column("slot", Float, primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("at", Float, nullable=False),
    Column("verdict", String(20)),
    Column("run", String(64)),
    Column("document", Text, nullable=False),
)
