"""Lists of runs, of cases that did not pass and of measurements are read without what they hold."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "browsing"
down_revision = "tokens"

_STAGE_TAG = b"denv.run-log-stage/1\0"
_BATCH = 200

_COLUMNS = {
    "runs": ("suite", "stage", "verdict"),
    "measures": ("stage", "verdict"),
}


def upgrade() -> None:
    """Add the columns with what is there already, and the indexes."""
    connection = op.get_bind()
    for table, names in _COLUMNS.items():
        there = {column["name"] for column in sa.inspect(connection).get_columns(table)}
        for name in names:
            if name not in there:
                op.add_column(table, _column(name))
    _fill(connection, "runs", "run", "head", _of_run)
    _fill(connection, "measures", "measure", "document", _of_measure)
    op.create_index("runs_by_stage", "runs", ["stage", "started"], if_not_exists=True)
    op.create_index("runs_by_suite", "runs", ["suite", "started"], if_not_exists=True)
    where = sa.text("outcome <> 'pass'")
    op.create_index(
        "results_not_passed",
        "results",
        ["run", "case_index", "outcome", "cause"],
        sqlite_where=where,
        postgresql_where=where,
        if_not_exists=True,
    )


def _column(name: str) -> "sa.Column[str]":
    if name == "verdict":
        return sa.Column(name, sa.String(20))
    return sa.Column(name, sa.String(64), nullable=False, server_default="")


def _fill(
    connection: sa.Connection,
    name: str,
    key: str,
    result: str,
    values_of: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, str | None]],
) -> None:
    """Write the new columns of every row, some rows at a time."""
    names = (key, "settings", result, *_COLUMNS[name])
    table = sa.table(name, *(sa.column(column) for column in names))
    keys = connection.execute(sa.select(table.c[key])).scalars().all()
    for first in range(0, len(keys), _BATCH):
        query = sa.select(table.c[key], table.c.settings, table.c[result])
        rows = connection.execute(query.where(table.c[key].in_(keys[first : first + _BATCH])))
        for row in rows.all():
            settings, document = json.loads(row[1]), json.loads(row[2] or "null") or {}
            values = values_of(settings, document)
            connection.execute(sa.update(table).where(table.c[key] == row[0]).values(values))


def _of_run(settings: Mapping[str, Any], head: Mapping[str, Any]) -> dict[str, str | None]:
    identity = settings.get("identity") or {}
    suite = (identity.get("suite") or {}).get("sha256") or ""
    return {"suite": suite, "stage": _stage(identity), "verdict": _text(head.get("verdict"))}


def _of_measure(settings: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, str | None]:
    return {"stage": _stage(settings), "verdict": _text(document.get("verdict"))}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _stage(identity: Mapping[str, Any]) -> str:
    stage = identity.get("stage")
    if not isinstance(stage, dict) or not stage.get("url"):
        return ""
    asked = {name: stage.get(name) for name in ("url", "model")}
    canonical = json.dumps(asked, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(_STAGE_TAG + canonical.encode()).hexdigest()
