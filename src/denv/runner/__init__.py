"""Bounded concurrency: drives a suite's cases through both sides to a report."""

from denv.runner.ledger import stored_report
from denv.runner.measuring import Measured, Measuring, run_measure
from denv.runner.private import PrivatePart
from denv.runner.progress import Progress, Watch
from denv.runner.run import run_parity
from denv.runner.settings import Settings
from denv.runner.shards import ShardEnd, ShardPlan, close_shards, open_shards, run_shard

__all__ = [
    "Measured",
    "Measuring",
    "PrivatePart",
    "Progress",
    "Settings",
    "ShardEnd",
    "ShardPlan",
    "Watch",
    "close_shards",
    "open_shards",
    "run_measure",
    "run_parity",
    "run_shard",
    "stored_report",
]
