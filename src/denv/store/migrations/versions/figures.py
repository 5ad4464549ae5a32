"""Of each run stand what it was asked for and its tokens: figures are read without any report."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "figures"
down_revision = "browsing"

_BATCH = 200
_TOKENS = (
    "stage_prompt_tokens",
    "stage_completion_tokens",
    "reference_prompt_tokens",
    "reference_completion_tokens",
)
_MOST = 2**63 - 1


def upgrade() -> None:
    """Add the columns with what is there already, and the index."""
    connection = op.get_bind()
    there = {column["name"] for column in sa.inspect(connection).get_columns("runs")}
    columns: list[sa.Column[Any]] = [
        sa.Column("purpose", sa.String(16), nullable=False, server_default="parity")
    ]
    columns += [sa.Column(name, sa.BigInteger) for name in _TOKENS]
    for column in columns:
        if column.name not in there:
            op.add_column("runs", column)
    _fill(connection)
    names = ["stage", "finished", "purpose", "verdict", "run", *_TOKENS]
    op.create_index("runs_by_end", "runs", names, if_not_exists=True)


def _fill(connection: sa.Connection) -> None:
    """Write the new columns of every run, some runs at a time."""
    names = ("run", "settings", "head", "purpose", *_TOKENS)
    runs = sa.table("runs", *(sa.column(name) for name in names))
    rollouts = connection.scalars(sa.text("SELECT rollout FROM rollouts")).all()
    keys: Sequence[str] = connection.scalars(sa.select(runs.c.run)).all()
    golden = _golden(keys, rollouts)
    for first in range(0, len(keys), _BATCH):
        query = sa.select(runs.c.run, runs.c.settings, runs.c.head)
        rows = connection.execute(query.where(runs.c.run.in_(keys[first : first + _BATCH])))
        for run, settings, head in rows.all():
            identity = json.loads(settings).get("identity") or {}
            look = "look" if "only" in identity else "parity"
            values = {"purpose": "golden" if run in golden else look}
            values |= _tokens(json.loads(head or "null") or {})
            connection.execute(sa.update(runs).where(runs.c.run == run).values(values))


def _golden(runs: Iterable[str], rollouts: Iterable[str]) -> set[str]:
    """Find the runs of golden prompts by their ids: a rollout's, a step's and a replica's place.

    A run of parity, or a look, is named by its rollout and step alone. A rollout may be named as
    another one with a number: the longest name counts.
    """
    known = set(rollouts)
    found = set()
    for run in runs:
        parts = run.split("-")
        for end in range(len(parts) - 1, 0, -1):
            if "-".join(parts[:end]) in known:
                rest = parts[end:]
                if len(rest) in {2, 3} and all(re.fullmatch("[0-9]+", each) for each in rest):
                    found.add(run)
                break
    return found


def _tokens(head: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name in _TOKENS:
        side, _, what = name.partition("_")
        count = ((head.get(side) or {}).get("usage") or {}).get(what)
        found[name] = count if isinstance(count, int) and 0 <= count <= _MOST else None
    return found
