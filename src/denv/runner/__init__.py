"""Bounded concurrency: drives a suite's cases through both sides to a report."""

from denv.runner.ledger import stored_report
from denv.runner.measuring import Measured, Measuring, run_measure
from denv.runner.progress import Progress, Watch
from denv.runner.run import run_parity
from denv.runner.settings import Settings

__all__ = [
    "Measured",
    "Measuring",
    "Progress",
    "Settings",
    "Watch",
    "run_measure",
    "run_parity",
    "stored_report",
]
