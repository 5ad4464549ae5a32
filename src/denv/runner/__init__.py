"""Bounded concurrency: drives a suite's cases through both sides to a report."""

from denv.runner.ledger import stored_report
from denv.runner.progress import Progress, Watch
from denv.runner.run import run_parity
from denv.runner.settings import Settings

__all__ = ["Progress", "Settings", "Watch", "run_parity", "stored_report"]
