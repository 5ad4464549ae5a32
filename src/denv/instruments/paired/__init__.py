"""What answers and derivations share: one item set, asked of both sides and judged in pairs.

``ask_both`` asks, ``Reading`` is what an instrument makes of an answer, ``compare`` judges.
"""

from __future__ import annotations

from denv.instruments.paired.comparison import PairedResult, compare
from denv.instruments.paired.judging import Judgement, Settings, Verdict
from denv.instruments.paired.pairing import Change, Pair, Reading, Table, tabulate
from denv.instruments.paired.traces import Trace, Traces, compare_traces

__all__ = [
    "Change",
    "Judgement",
    "Pair",
    "PairedResult",
    "Reading",
    "Settings",
    "Table",
    "Trace",
    "Traces",
    "Verdict",
    "compare",
    "compare_traces",
    "tabulate",
]
