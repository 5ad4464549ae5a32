"""Wrong answers, as faulty deployments give them: one kind after the other through a family."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from denv.recipes.making.drafts import Json, answer, calling

Wrong = tuple[dict[str, Any], str]
"""An answer, and what went wrong, in words."""


def compact(value: Any) -> str:
    """Write arguments as a model writes them."""
    return json.dumps(value, ensure_ascii=False)


def changed(value: Any) -> Any:
    """Give another value of the same type, by one off or with its last item or letter lost."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 10
        case str():
            return value[:-1]
        case list():
            return value[:-1]
        case _:
            last = list(value)[-1]
            return {**value, last: changed(value[last])}


def stringified(value: Any) -> Any:
    """Give a value with every number and truth value in it written as a string."""
    match value:
        case Mapping():
            return {key: stringified(item) for key, item in value.items()}
        case list():
            return [stringified(item) for item in value]
        case str():
            return value
        case _:
            return compact(value)


# ---------------------------------------------------------------- instead of a call


def _as_text(_name: str, _arguments: Json) -> Wrong:
    return answer("Certainly! I have taken care of that for you."), "text instead of a call"


def _left_in_text(name: str, arguments: Json) -> Wrong:
    written = compact({"name": name, "arguments": arguments})
    return answer(f"<tool_call>\n{written}\n</tool_call>"), "the call is left in the text"


def _typed_wrong(name: str, arguments: Json) -> Wrong:
    given = stringified(arguments)
    if given == arguments:
        return _last_changed(name, arguments)
    return calling(name, given), "numbers and truth values become strings"


def _lost(name: str, arguments: Json) -> Wrong:
    kept = dict(list(arguments.items())[:-1])
    return calling(name, kept), f"the argument {list(arguments)[-1]} is lost"


def _encoded_twice(name: str, arguments: Json) -> Wrong:
    return calling(name, compact(compact(arguments))), "the arguments are encoded twice"


def _cut(name: str, arguments: Json) -> Wrong:
    cut = {**calling(name, compact(arguments)[:-2]), "finish_reason": "length"}
    return cut, "the arguments are cut off"


def _prefixed(name: str, arguments: Json) -> Wrong:
    return calling(f"functions.{name}:0", arguments), "the name keeps the template's marks"


def _last_changed(name: str, arguments: Json) -> Wrong:
    last = list(arguments)[-1]
    given = {**arguments, last: changed(arguments[last])}
    return calling(name, given), f"another value of {last}"


def _in_reasoning(name: str, arguments: Json) -> Wrong:
    thought = f"I call {name} with {compact(arguments)}."
    message = {"content": "", "reasoning_content": thought, "finish_reason": "stop"}
    return message, "the call stays in the reasoning"


_CALLS: tuple[Callable[[str, Json], Wrong], ...] = (
    _typed_wrong,
    _as_text,
    _lost,
    _left_in_text,
    _last_changed,
    _encoded_twice,
    _prefixed,
    _cut,
    _in_reasoning,
)


def wrong_call(at: int, name: str, arguments: Json, *, other: str | None = None) -> Wrong:
    """Give the ``at``-th kind of wrong answer where a call with arguments is due.

    ``other`` is the name of another tool, for the kind that calls it.
    """
    kind = at % (len(_CALLS) + (other is not None))
    if kind == len(_CALLS) and other is not None:
        return calling(other, arguments), "another tool is called"
    return _CALLS[kind](name, arguments)


# ---------------------------------------------------------------- instead of a text


def _near_miss(_right: str, near: str) -> Wrong:
    return answer(near), "a near miss"


def _cut_text(right: str, _near: str) -> Wrong:
    return {"content": "", "finish_reason": "length"}, f"cut off before {right[:12]!r}"


def _thoughts_alone(right: str, _near: str) -> Wrong:
    message = {"content": "", "reasoning_content": f"It is {right}.", "finish_reason": "stop"}
    return message, "the answer stays in the reasoning"


def _unclosed(right: str, _near: str) -> Wrong:
    return answer(f"<think>\nThis should be {right}"), "the reasoning leaks and never ends"


_TEXTS: tuple[Callable[[str, str], Wrong], ...] = (
    _near_miss,
    _cut_text,
    _near_miss,
    _thoughts_alone,
    _near_miss,
    _unclosed,
)


def wrong_text(at: int, right: str, *, near: str) -> Wrong:
    """Give the ``at``-th kind of wrong answer where a text is due; ``near`` is a near miss."""
    return _TEXTS[at % len(_TEXTS)](right, near)


def wrong_copy(at: int, right: str, *, near: str) -> Wrong:
    """Give the ``at``-th kind of wrong answer where a text is due code point for code point."""
    kinds: tuple[Wrong, ...] = (
        (answer(near), "a near miss"),
        (answer(f"{right}<|im_end|>"), "a special token is left in the text"),
        (answer(f" {right}"), "a space ahead of the text"),
        (answer(mojibake(right)), "UTF-8 read as Latin-1"),
        (answer(f"```\n{right}\n```"), "a fence around the text"),
        (answer(f"<think>\nEasy.\n</think>\n{right}"), "the reasoning leaks into the content"),
    )
    message, kind = kinds[at % len(kinds)]
    return (message, kind) if message["content"] != right else kinds[0]


def mojibake(text: str) -> str:
    """Give a text whose UTF-8 was read as Latin-1; ASCII stays as it is."""
    return text.encode().decode("latin-1")
