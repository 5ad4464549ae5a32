"""Logs of Inspect: samples with what was asked, their targets, and the scorer that compared them.

What was asked is the conversation up to the first answer that the model gave, with the system
message and templates that the solvers put around a sample's input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from denv.suite.imports.gathering import Gathering, Imported, UncarriedError, plain_id
from denv.suite.imports.inspect_messages import asked_messages
from denv.suite.imports.patterns import any_of, begins, ends, literal, whole

Scorer = tuple[str, Mapping[str, Any]]
"""A scorer's name and its options."""

Expecting = Callable[[list[str]], dict[str, str]]
"""Gives what a case expects, from a sample's targets."""

_AROUND = r"""[\s!-/:-@\[-`{-~]*+"""
"""White space and ASCII punctuation, which ``match`` strips off both sides' ends."""

_PUNCTUATION = " \t\n\r\x0b\x0c!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def read_inspect(header: Mapping[str, Any], samples: Iterable[Any], *, source: str) -> Imported:
    """Turn the samples of a log into cases that its scorer's comparison decides."""
    gathering = Gathering(source)
    evaluation = _mapping(header.get("eval"))
    task = str(evaluation.get("task") or "task").rpartition("/")[2]
    expecting, others = _scorer_of(header)
    for name in others:
        gathering.count_field(f"scorer {name}", "no check compares as it does, or one is enough")
    request = _request_fields(header, gathering)
    epochs: dict[str, Any] = {}
    for number, sample in enumerate(samples, 1):
        if not isinstance(sample, Mapping):
            gathering.leave(f"{source}: the sample in place {number}", "is no object")
            continue
        where = f"{source}: sample {sample.get('id')}"
        epoch = sample.get("epoch", 1)
        # The first that comes is carried, whichever epoch that is.
        if epochs.setdefault(repr(sample.get("id")), epoch) != epoch:
            gathering.count_field("epoch", "an epoch asks the same again: use --repeats")
            continue
        try:
            fields, targets = _asked(sample, task), _targets(sample)
            expect = expecting(targets)
        except UncarriedError as error:
            gathering.leave(where, str(error))
        else:
            gathering.add(where, {**fields, **request}, expect=expect)
    return gathering.imported()


def _asked(sample: Mapping[str, Any], task: str) -> dict[str, Any]:
    return {"id": plain_id(task, sample.get("id")), "messages": asked_messages(sample)}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _targets(sample: Mapping[str, Any]) -> list[str]:
    target = sample.get("target")
    given = target if isinstance(target, list) else [target]
    texts = [each for each in given if isinstance(each, str) and each.strip()]
    if not texts or len(texts) < len(given):
        raise UncarriedError("has no target that is a text")
    return texts


def _request_fields(header: Mapping[str, Any], gathering: Gathering) -> dict[str, Any]:
    """Take the limit and the stops from the generation's settings; count the others."""
    plan = _mapping(_mapping(header.get("plan")).get("config"))
    given = {**_mapping(_mapping(header.get("eval")).get("model_generate_config")), **plan}
    names = {"max_tokens": "max_tokens", "stop_seqs": "stop"}
    for name, value in given.items():
        if name not in names and value is not None:
            gathering.count_field(name, "a setting of the generation, which a case cannot carry")
    return {new: given[name] for name, new in names.items() if given.get(name)}


# ---------------------------------------------------------------- scorers


def _scorer_of(header: Mapping[str, Any]) -> tuple[Expecting, list[str]]:
    """Give the comparison of the first scorer that can be carried over, and the others' names."""
    chosen: Expecting | None = None
    others: list[str] = []
    for name, options in _scorers(header):
        make = _COMPARISONS.get(name.rpartition("/")[2])
        found = make(options) if make and chosen is None else None
        if found is None:
            others.append(name)
        else:
            chosen = found
    if chosen is not None:
        return chosen, others

    def none(_: list[str]) -> dict[str, str]:
        raise UncarriedError(f"no scorer can be carried over: {', '.join(others) or 'none'}")

    return none, others


def _scorers(header: Mapping[str, Any]) -> list[Scorer]:
    """Give the log's scorers; old logs name them among their results alone."""
    listed = _mapping(header.get("eval")).get("scorers")
    if not listed:
        results = _mapping(header.get("results"))
        listed = results.get("scores") or [results.get("scorer")]
    return [
        (
            str(each.get("scorer") or each.get("name")),
            _mapping(each.get("options") or each.get("params")),
        )
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, Mapping)
    ]


def _includes(options: Mapping[str, Any]) -> Expecting:
    fold = options.get("ignore_case", True) is not False

    def expect(targets: list[str]) -> dict[str, str]:
        if not fold and len(targets) == 1:
            return {"contains": targets[0]}
        return {"regex": any_of(literal(each, ignore_case=fold) for each in targets)}

    return expect


def _match(options: Mapping[str, Any]) -> Expecting | None:
    location = options.get("location", "end")
    place = _PLACES.get(location) if isinstance(location, str) else None
    if options.get("numeric") or place is None:
        return None
    fold = options.get("ignore_case", True) is not False

    def expect(targets: list[str]) -> dict[str, str]:
        bare = [each.strip().strip(_PUNCTUATION) for each in targets]
        if not all(bare):
            raise UncarriedError("has a target of punctuation alone, which this scorer strips off")
        return {"regex": any_of(place(literal(each, ignore_case=fold)) for each in bare)}

    return expect


_PLACES: Mapping[str, Callable[[str], str]] = {
    "begin": lambda pattern: begins(f"{_AROUND}{pattern}"),
    "end": lambda pattern: ends(f"{pattern}{_AROUND}"),
    "exact": lambda pattern: whole(f"{_AROUND}{pattern}{_AROUND}"),
    "any": lambda pattern: pattern,
}

_COMPARISONS: Mapping[str, Callable[[Mapping[str, Any]], Expecting | None]] = {
    "includes": _includes,
    "match": _match,
}
