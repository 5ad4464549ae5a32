"""The prompts of a promptfoo configuration, and the messages that they become."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from denv.suite.imports.gathering import Gathering, UncarriedError
from denv.suite.imports.templates import render, render_value

_FILE = "file://"
_BETWEEN = "\n---\n"
_ELSEWHERE = ("exec:", "langfuse://", "portkey://", "helicone://", "python:", "http://", "https://")
_FILE_ENDINGS = (".txt", ".md", ".j2", ".json", ".yaml", ".yml", ".csv", ".jsonl", ".js", ".py")
_PASS_THROUGH = "{{ prompt }}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's template: a text, or messages whose texts are templates."""

    where: str
    template: Any


def prompts_of(given: Any, gathering: Gathering, *, read: Callable[[str], Any]) -> Iterator[Prompt]:
    """Give the prompts; what is no text here, such as a script, is left behind."""
    listed = given if isinstance(given, list) else [_PASS_THROUGH if given is None else given]
    for number, entry in enumerate(listed, 1):
        where = f"prompt {number}"
        try:
            for template in _templates(entry, read):
                yield Prompt(where, template)
        except UncarriedError as error:
            gathering.without(f"{gathering.source}: {where}", str(error))


def _templates(entry: Any, read: Callable[[str], Any]) -> list[Any]:
    if isinstance(entry, Mapping):
        entry = entry.get("raw") or entry.get("id")
    if not isinstance(entry, str):
        raise UncarriedError("is no text")
    if entry.startswith(_ELSEWHERE):
        raise UncarriedError(f"is kept or made elsewhere: {entry[:60]}")
    named = entry.startswith(_FILE) or (entry.endswith(_FILE_ENDINGS) and "\n" not in entry)
    if not named:
        return [entry]
    loaded = read(entry)
    return loaded.split(_BETWEEN) if isinstance(loaded, str) else [loaded]


def asked(
    prompt: Prompt, vars_: Mapping[str, Any], options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Give the messages of a prompt with its variables filled in.

    A text that is a JSON list of messages is one, any other is what the user says.

    Raises
    ------
    UncarriedError
        A variable is missing, or the messages are no messages.
    """
    template = prompt.template
    if isinstance(template, str):
        written = _messages_in(template)
        template = template if written is None else written
    if not isinstance(template, str):
        return _checked(render_value(template, vars_))
    around = {"prefix": "", "suffix": "", **options}
    text = render(f"{around['prefix']}{template}{around['suffix']}", vars_)
    return _messages_in(text) or [{"role": "user", "content": text}]


def _messages_in(text: str) -> list[dict[str, Any]] | None:
    if not text.lstrip().startswith("["):
        return None
    try:
        return _checked(json.loads(text))
    except (ValueError, RecursionError, UncarriedError):
        return None


def _checked(value: Any) -> list[dict[str, Any]]:
    listed = value if isinstance(value, list) else []
    if not listed or not all(isinstance(each, dict) and "role" in each for each in listed):
        raise UncarriedError("its prompt is neither a text nor a list of messages")
    return listed
