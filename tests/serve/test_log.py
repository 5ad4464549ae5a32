"""What a server says of its work stands in single lines."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys

from denv.serve.log import LineFormatter, is_news


def record(error, **extra):
    """Give a record as Temporal's worker writes it."""
    message = "Completing activity as failed ({'activity_id': '2'})"
    made = logging.LogRecord(
        "temporalio.activity", logging.WARNING, "f", 1, message, (), (type(error), error, None)
    )
    made.__dict__.update(extra)
    return made


def test_a_failure_is_one_line_without_a_traceback():
    """What failed, of which work, and why."""
    about = {"activity_type": "commit", "attempt": 2, "workflow_id": "w", "namespace": "default"}
    line = LineFormatter().format(record(ValueError("no\nmore"), temporal_activity=about))
    said = "Completing activity as failed [activity_type commit, attempt 2, workflow_id w]"
    assert line[9:] == f"{said}: ValueError: no"


def test_what_was_cancelled_on_purpose_is_no_news():
    """Work that is stopped because another decision came is as it should be."""
    assert not is_news(record(asyncio.CancelledError()))
    assert is_news(record(ValueError("x")))


def test_what_callers_send_is_no_news():
    """A form that is none is told to its sender, and not to the log; our own warnings are."""
    said = (
        "import logging; from denv.serve.log import log_in_lines; log_in_lines();"
        "logging.getLogger('python_multipart.multipart').warning('Expected boundary character');"
        "logging.getLogger('denv.serve').warning('ours')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stderr[9:] == "ours\n"
