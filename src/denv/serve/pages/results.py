"""What a measurement comes to in a list: its verdict, or in its place what it says without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from denv.instruments.admission import GATES_SCHEMA
from denv.instruments.speed.bench import SCHEMA as SPEED_SCHEMA
from denv.records import Json
from denv.report.gates import verdict_of
from denv.report.speed import headline
from denv.rollout.schedules.glance import Glance
from denv.serve.pages.instruments import ENDS
from denv.store import MeasureRow

Document = Mapping[str, Json]

OF_LOGPROBS = {"logprobs-close", "tokens"}
"""Measurements that read more of an answer than its text."""

WITHOUT_VERDICT = ("gates", "sentinel", "speed")
"""Instruments whose documents have none; what they say is read from the document."""


@dataclass(frozen=True, slots=True)
class Result:
    """A ``word`` in the colour of ``tone``, None where there is none, and what else is said."""

    word: str | None
    tone: str = "ungated"
    says: str = ""


def result_of(row: MeasureRow, document: Document | None) -> Result:
    """Say what a measurement came to; ``document`` is that of an instrument without verdict."""
    if row.verdict is not None:
        return Result(row.verdict, ENDS.get(row.verdict, "ungated"))
    read = None if document is None else READ.get(str(document.get("schema")))
    if document is None or read is None:
        return Result(None, says=row.state)
    return read(document)


def admitted(document: Document) -> str:
    """Say in a few words what gates admit; that speed may be measured says nothing.

    >>> admitted({"admissible": {"regex": True, "tokens": False, "logprobs-close": False}})
    'text only'
    >>> admitted({"admissible": {"regex": True, "tokens": True, "answers": False}})
    'all but answers'
    """
    asked = {name: may for name, may in document["admissible"].items() if name != "speed"}
    may = [name for name, allowed in asked.items() if allowed]
    not_ = [name for name, allowed in asked.items() if not allowed]
    if not may or not not_:
        return "none admitted" if not_ else "all admitted"
    if set(not_) == OF_LOGPROBS:
        return "text only"
    return f"all but {', '.join(not_)}" if len(not_) <= len(may) else f"only {', '.join(may)}"


def _gates(document: Document) -> Result:
    word = verdict_of(document)
    return Result(word, ENDS[word], admitted(document))


def _sentinel(document: Document) -> Result:
    why = document["why"]
    word = "escalate" if why else "calm"
    more = f", and {len(why) - 1} more" if len(why) > 1 else ""
    return Result(word, ENDS[word], f"{why[0]}{more}" if why else "")


def _speed(document: Document) -> Result:
    return Result(None, says=headline(document))


READ: Mapping[str, Callable[[Document], Result]] = {
    GATES_SCHEMA: _gates,
    Glance.schema: _sentinel,
    SPEED_SCHEMA: _speed,
}
"""By the form of the document: one of a later version is not guessed at."""
