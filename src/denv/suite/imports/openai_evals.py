"""Samples of the Evals framework: JSONL with ``input`` and ``ideal``.

How an ideal is compared is not in the file but in the eval's registry entry: ``match`` wants the
answer to begin with one of the ideals, ``includes`` to hold one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from denv.suite.imports.gathering import Gathering, Imported
from denv.suite.imports.patterns import any_of, begins, literal
from denv.suite.imports.samples import samples_of

Comparison = Literal["match", "includes"]

_READ = frozenset({"input", "ideal"})


def read_openai_evals(text: str, *, source: str, comparison: Comparison = "match") -> Imported:
    """Turn samples into cases whose answers are compared as the eval's class does."""
    gathering = Gathering(source)
    for where, sample in samples_of(text, gathering):
        ideals = _ideals(sample.get("ideal"))
        if "input" not in sample:
            gathering.leave(where, "has no input")
        elif ideals is None:
            what = "has no ideal" if "ideal" not in sample else "an ideal that is no text"
            gathering.leave(where, f"{what}: {_hint(sample)}")
        else:
            for name in sorted(sample.keys() - _READ):
                gathering.count_field(name, "the basic evals read input and ideal alone")
            fields = {"messages": _messages(sample["input"])}
            gathering.add(where, fields, expect=_expect(ideals, comparison))
    return gathering.imported()


def _hint(sample: Mapping[str, Any]) -> str:
    others = ", ".join(sorted(sample.keys() - _READ)) or "nothing else"
    return f"only match and includes are known here (it has {others})"


def _ideals(given: Any) -> list[str] | None:
    listed = given if isinstance(given, list) else [given]
    if not listed or not all(isinstance(each, str) and each for each in listed):
        return None
    return listed


def _messages(given: Any) -> Any:
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _expect(ideals: list[str], comparison: Comparison) -> dict[str, str]:
    if comparison == "match":
        return {"regex": begins(any_of(map(literal, ideals)))}
    if len(ideals) == 1:
        return {"contains": ideals[0]}
    return {"regex": any_of(map(literal, ideals))}
