"""Reports that are published are kept with their files, to be served."""

import sqlalchemy as sa
from alembic import op

revision = "publications"
down_revision = "run_log"


def upgrade() -> None:
    """Add both tables."""
    op.create_table(
        "publications",
        sa.Column("publication", sa.String(32), primary_key=True),
        sa.Column("run", sa.String(64), nullable=False),
        sa.Column("stage", sa.String(64), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float),
        sa.Column("revoked", sa.Float),
        sa.Column("indexed", sa.Integer, nullable=False),
        sa.Column("head", sa.Text, nullable=False),
        if_not_exists=True,
    )
    op.create_index("publications_by_stage", "publications", ["stage"], if_not_exists=True)
    op.create_table(
        "publication_files",
        sa.Column("publication", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
        if_not_exists=True,
    )
