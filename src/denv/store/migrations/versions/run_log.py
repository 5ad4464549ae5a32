"""Ended runs have a log in which each entry holds the hash of the one before."""

import sqlalchemy as sa
from alembic import op

revision = "run_log"
down_revision = "by_start"


def upgrade() -> None:
    """Add the log, empty: what ended before was not watched."""
    op.create_table(
        "run_log",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("run", sa.String(64), nullable=False),
        sa.Column("finished", sa.Float, nullable=False),
        sa.Column("suite", sa.String(64), nullable=False),
        sa.Column("stage", sa.String(64), nullable=False),
        sa.Column("verdict", sa.String(20), nullable=False),
        sa.Column("report", sa.String(64), nullable=False),
        sa.Column("previous", sa.String(64), nullable=False),
        sa.Column("entry", sa.String(64), nullable=False),
        if_not_exists=True,
    )
    op.create_index("run_log_by_run", "run_log", ["run"], if_not_exists=True)
    op.create_index("run_log_by_stage", "run_log", ["suite", "stage"], if_not_exists=True)
