"""Configurations of promptfoo: prompts × tests, each test with variables and assertions.

A case has one check, so the assertions of a test that can be carried over are joined into one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from denv.errors import UsageError
from denv.suite.imports.assertions import expect_of
from denv.suite.imports.bounded import working
from denv.suite.imports.gathering import Gathering, Imported, UncarriedError
from denv.suite.imports.prompts import Prompt, asked, prompts_of
from denv.suite.imports.templates import filled, render_value
from denv.suite.imports.yaml_values import Placed

ReadFile = Callable[[str], Any]
"""Gives what a ``file://`` path holds: a text, or the value of a JSON or YAML file."""

MAX_COMBINATIONS = 10_000
MAX_WORK = 2_000_000_000
"""For all templates of a configuration together: a hundred times what one may take."""

_READ = frozenset({"prompts", "tests", "defaultTest", "providers", "targets", "scenarios"})
_OF_A_RUN = frozenset(
    {
        *("$schema", "description", "tags", "outputPath", "evaluateOptions", "commandLineOptions"),
        *("env", "sharing", "metadata", "tracing", "extensions"),
    }
)
"""Keys that say how it runs there, not what is asked or expected."""

_PASSED_BY = frozenset({"description", "metadata", "provider", "providers", "vars", "assert"})
_OPTIONS_READ = frozenset({"prefix", "suffix", "disableDefaultAsserts", "runSerially", "provider"})
_LOSES_A_TEST: Mapping[str, str] = {
    "transform": "its output is transformed before it is compared",
    "postprocess": "its output is transformed before it is compared",
    "transformVars": "its variables are made by a script",
    "storeOutputAs": "its answer is used by a later test",
}


def read_promptfoo(config: Mapping[str, Any], *, source: str, read: ReadFile) -> Imported:
    """Turn each test with each prompt into a case."""
    gathering = Gathering(source)
    _note_unread(config, gathering)
    prompts = list(prompts_of(config.get("prompts"), gathering, read=read))
    default = _part(config.get("defaultTest"), f"{source}: defaultTest", gathering, read)
    with working(MAX_WORK):
        for where, test in _tests(config.get("tests"), gathering, read):
            try:
                _add_test(where, test, default, prompts=prompts, gathering=gathering, read=read)
            except UncarriedError as error:
                gathering.leave(where, str(error))
    return gathering.imported()


def _note_unread(config: Mapping[str, Any], gathering: Gathering) -> None:
    """Note what of a configuration is not read although it decides what is asked or expected."""
    for name in sorted(config.keys() - _READ - _OF_A_RUN, key=str):
        gathering.without(f"{gathering.source}: {name}", "not read")
    if "scenarios" in config:
        gathering.leave(f"{gathering.source}: scenarios", "not read; write them out as tests")
    providers = config.get("providers") or config.get("targets")
    for each in providers if isinstance(providers, list) else [providers]:
        settings = each.get("config") if isinstance(each, Mapping) else None
        for name in settings if isinstance(settings, Mapping) else ():
            gathering.count_field(f"providers.config.{name}", "a provider's own setting")


def _part(given: Any, where: str, gathering: Gathering, read: ReadFile) -> Mapping[str, Any]:
    try:
        value = read(given) if isinstance(given, str) else given
    except UncarriedError as error:
        raise UsageError(f"{where}: {error}") from None
    if value is None or isinstance(value, Mapping):
        return value or {}
    gathering.without(where, "is no mapping")
    return {}


def _tests(given: Any, gathering: Gathering, read: ReadFile) -> Iterator[tuple[str, Any]]:
    """Give each test with its place, those of other files among them."""
    number = 0
    for entry in given if isinstance(given, list) else [given]:
        if entry is None:
            continue
        name = entry if isinstance(entry, str) else ""
        try:
            loaded = read(entry) if name else [entry]
        except UncarriedError as error:
            gathering.leave(f"{gathering.source}: tests {name}", str(error))
            continue
        for test in loaded if isinstance(loaded, list) else [loaded]:
            number += 1
            yield _where(gathering.source, number, test), test


def _where(source: str, number: int, test: Any) -> str:
    named = test.get("description") if isinstance(test, Mapping) else None
    place = test.place if isinstance(test, Placed) else source
    return f"{place}: test {number}" + (f" ({named})" if isinstance(named, str) else "")


def _add_test(
    where: str,
    test: Any,
    default: Mapping[str, Any],
    *,
    prompts: list[Prompt],
    gathering: Gathering,
    read: ReadFile,
) -> None:
    if not isinstance(test, Mapping):
        raise UncarriedError("is no mapping")
    options = {**_mapping(default, "options"), **_mapping(test, "options")}
    _refuse(test, options)
    for name in sorted(options.keys() - _OPTIONS_READ, key=str):
        gathering.count_field(f"options.{name}", "not known here")
    for name in sorted(test.keys() - _PASSED_BY - {"options", "threshold"}, key=str):
        gathering.count_field(name, "not known here")
    if not prompts:
        raise UncarriedError("has no prompt that can be carried over")
    asserts = _asserts(test, default, options)
    for vars_ in _variables({**_mapping(default, "vars"), **_mapping(test, "vars")}, read):
        expect = expect_of(_rendered(asserts, vars_), where=where, gathering=gathering)
        if expect is None:
            raise UncarriedError("has no assertion that can be carried over")
        for prompt in prompts:
            messages = asked(prompt, vars_, options)
            gathering.add(_at(where, prompt, prompts), {"messages": messages}, expect=expect)


def _at(where: str, prompt: Prompt, prompts: list[Prompt]) -> str:
    return where if len(prompts) == 1 else f"{where}, {prompt.where}"


def _mapping(part: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = part.get(name) or {}
    if not isinstance(value, Mapping):
        raise UncarriedError(f"{name} is no mapping")
    return value


def _refuse(test: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    for name, why in _LOSES_A_TEST.items():
        if options.get(name):
            raise UncarriedError(f"{why} (options.{name})")
    if test.get("threshold") is not None:
        raise UncarriedError("passes on a score above a threshold, and a case passes or fails")


def _asserts(
    test: Mapping[str, Any], default: Mapping[str, Any], options: Mapping[str, Any]
) -> list[Any]:
    own, shared = test.get("assert") or [], default.get("assert") or []
    if options.get("disableDefaultAsserts"):
        shared = []
    if not isinstance(own, list) or not isinstance(shared, list):
        raise UncarriedError("assert is no list")
    return [*shared, *own]


def _rendered(asserts: list[Any], vars_: Mapping[str, Any]) -> list[Any]:
    return [
        {**each, "value": render_value(each["value"], vars_)}
        if isinstance(each, Mapping) and "value" in each
        else each
        for each in asserts
    ]


def _variables(given: Mapping[str, Any], read: ReadFile) -> Iterator[Mapping[str, Any]]:
    """Give each combination of the variables that are lists, with files read and templates filled.

    A list of mappings is one value, as a conversation is.
    """
    choices = []
    total = 1
    for name, value in given.items():
        loaded = read(value) if isinstance(value, str) and value.startswith("file://") else value
        several = isinstance(loaded, list) and not any(isinstance(x, dict | list) for x in loaded)
        choices.append([(name, each) for each in (loaded if several else [loaded])])
        total *= len(choices[-1])
    if total > MAX_COMBINATIONS:
        raise UncarriedError(f"its variables have {total} combinations")
    for combination in product(*choices):
        yield filled(dict(combination))
