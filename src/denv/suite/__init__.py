"""Suites: JSONL ⇄ Case, streaming and strict.

``load_suite`` reads the whole file once and says everything that is wrong with it; iterating
the ``Suite`` reads it a second time and gives the cases, so that no more than one is in memory.
"""

from denv.suite.advice import advise
from denv.suite.line import dump_case
from denv.suite.loading import Suite, load_suite
from denv.suite.volume import Volume, volume_of

__all__ = ["Suite", "Volume", "advise", "dump_case", "load_suite", "volume_of"]
