"""What a server says of its work, one line each: never a traceback, never a request."""

from __future__ import annotations

import asyncio
import logging

LONGEST = 300
OURS = ("activity_type", "attempt", "workflow_id")


class LineFormatter(logging.Formatter):
    """Writes a record as one line: when, what went wrong, and of which piece of work."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the line."""
        about = getattr(record, "temporal_activity", None) or {}
        named = ", ".join(f"{name} {about[name]}" for name in OURS if name in about)
        what = record.getMessage().split("(", 1)[0].split("\n", 1)[0].strip()
        error = record.exc_info[1] if record.exc_info else None
        why = "" if error is None else f": {type(error).__name__}: {_first(error)}"
        when = self.formatTime(record, "%H:%M:%S")
        return (
            f"{when} {what} [{named}]{why}"[:LONGEST] if named else f"{when} {what}{why}"[:LONGEST]
        )


def is_news(record: logging.LogRecord) -> bool:
    """Tell whether a record is of interest: what was cancelled on purpose is not."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, asyncio.CancelledError)


def log_in_lines() -> None:
    """Have the engine's warnings and our own written to standard error, a line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter())
    handler.addFilter(is_news)
    logging.getLogger("denv").addHandler(handler)
    for name in ("temporalio", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.propagate = False
    # Whatever scans ports sends what is no HTTP: no news.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    # Nor is a form that is none: whoever sent it is told.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)


def _first(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]
