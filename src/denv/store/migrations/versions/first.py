"""The form of the first release, which ``tables`` makes; there is nothing before it."""

revision = "first"
down_revision = None


def upgrade() -> None:
    """Do nothing: who has data has this form at least."""
