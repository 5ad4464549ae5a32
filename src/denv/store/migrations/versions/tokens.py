"""Who may use the pages and the API is kept, with who is signed in."""

import sqlalchemy as sa
from alembic import op

revision = "tokens"
down_revision = "publications"


def upgrade() -> None:
    """Add both tables."""
    op.create_table(
        "tokens",
        sa.Column("token", sa.String(16), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("role", sa.String(8), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float),
        sa.Column("revoked", sa.Float),
        if_not_exists=True,
    )
    op.create_table(
        "sessions",
        sa.Column("digest", sa.LargeBinary(32), primary_key=True),
        sa.Column("token", sa.String(16), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("seen", sa.Float, nullable=False),
        if_not_exists=True,
    )
    op.create_index("sessions_by_token", "sessions", ["token"], if_not_exists=True)
