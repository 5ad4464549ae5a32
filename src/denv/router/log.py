"""What the router says of its work: one JSON object a line, and nothing of a request's content."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, TextIO

LOGGER = logging.getLogger("denv.router")

SILENT = logging.getLogger("denv.router.http")
"""What the library says of bad requests quotes them, so it is said nowhere."""
SILENT.disabled = True


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = getattr(record, "fields", {})
        line = {"time": when, "level": record.levelname.lower(), "event": record.getMessage()}
        return json.dumps({**line, **fields})


def log_in_json(stream: TextIO | None = None) -> None:
    """Have the router's events written as lines, to standard error where no stream is named."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def say(event: str, **fields: Any) -> None:
    """Tell what happened."""
    LOGGER.info(event, extra={"fields": fields})


def warn(event: str, **fields: Any) -> None:
    """Tell what someone should look at."""
    LOGGER.warning(event, extra={"fields": fields})
