"""Runs and measurements are found by when they started: histories and pruning read them so."""

from alembic import op

revision = "by_start"
down_revision = "first"


def upgrade() -> None:
    """Add the indexes."""
    op.create_index("runs_by_started", "runs", ["started"], if_not_exists=True)
    op.create_index("measures_by_started", "measures", ["started"], if_not_exists=True)
