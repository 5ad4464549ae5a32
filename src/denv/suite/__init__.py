"""Suites: JSONL ⇄ Case, streaming and strict.

``load_suite`` reads the whole file once and says everything that is wrong with it; iterating
the ``Suite`` reads it a second time and gives the cases, so that no more than one is in memory.
"""

from denv.suite.advice import advise
from denv.suite.line import dump_case
from denv.suite.loading import Suite, load_suite

__all__ = ["Suite", "advise", "dump_case", "load_suite"]
