"""Families and authored cases → lines of a suite and of its answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count

from denv.errors import UsageError
from denv.recipes.making import (
    code,
    exact,
    forms,
    json_output,
    languages,
    logprobs,
    long_context,
    no_call,
    tools_nested,
    tools_single,
    tools_text,
    tools_turns,
)
from denv.recipes.making.authored import CASES, GOLDEN
from denv.recipes.making.drafts import Authored, Draft, Family, Made, line
from denv.recipes.making.drawing import source

PUBLIC_SEED = b"public-1"
"""The seed of the suite that is shipped; what it gives is known to everyone."""

PARTS = (
    "tools-single",
    "tools-multi",
    "no-call",
    "json",
    "languages",
    "code",
    "long-context",
    "exact",
    "logprobs",
)

_MODULES = (
    *(tools_single, tools_nested, tools_text, tools_turns, no_call, json_output, languages),
    *(code, exact, forms, long_context, logprobs),
)

_BY_RECIPE: Mapping[str, tuple[Family, ...]] = {
    "generic": tuple(family for module in _MODULES for family in module.FAMILIES),
}


def families(recipe: str = "generic") -> tuple[Family, ...]:
    """Give the families of a recipe's generated cases.

    Raises
    ------
    UsageError
        The recipe has none, so nothing of it can be varied.
    """
    if recipe not in _BY_RECIPE:
        known = ", ".join(sorted(_BY_RECIPE))
        raise UsageError(f"recipe {recipe!r} has no generated cases to vary; {known} has")
    return _BY_RECIPE[recipe]


def generate(seed: bytes, *, parts: Collection[str] = PARTS) -> Iterator[Made]:
    """Give all families' cases of some parts, with their answers; the same for the same seed."""
    for family in families():
        if family.part in parts:
            yield from _family(family, seed)


def private_part(recipe: str, seed: bytes) -> Iterator[Made]:
    """Give the same families under other numbers, names and words, for a seed that is secret.

    The cases are exchangeable with the public ones of the same families: one generator, another
    seed, and no case that is public. Ids start with ``private-`` and a tag says ``private``, so
    that both fit into one suite.

    Raises
    ------
    UsageError
        The recipe has no families, or the seed is the public one.
    """
    known = families(recipe)
    if seed == PUBLIC_SEED:
        raise UsageError("the public seed gives the public cases: take a secret one")
    for family in known:
        public = {_asked(draft) for draft in _drafts(family, PUBLIC_SEED)}
        for case, answers in _family(family, seed, taken=public):
            name = f"private-{case['id']}"
            yield {**case, "id": name, "tags": [*case["tags"], "private"]}, {**answers, "id": name}


def authored(parts: Collection[str] = PARTS) -> Iterator[Made]:
    """Give the cases of some parts that were written by hand."""
    yield from _written(one for one in CASES if one.part in parts)


def golden() -> Iterator[Made]:
    """Give the golden prompts: short, easy, and to be passed whole."""
    yield from _written(GOLDEN)


def files() -> dict[str, str]:
    """Give the recipe's suite, golden prompts and answers, as text by the file's name."""
    suite, prompts = [*authored(), *generate(PUBLIC_SEED)], list(golden())
    return {
        "suite.jsonl": "".join(line(case) for case, _ in suite),
        "golden.jsonl": "".join(line(case) for case, _ in prompts),
        "answers.jsonl": "".join(line(answers) for _, answers in (*suite, *prompts)),
    }


def _family(family: Family, seed: bytes, *, taken: Collection[str] = ()) -> Iterator[Made]:
    tags = [f"part:{family.part}", f"family:{family.name}", "generated"]
    for at, draft in enumerate(_drafts(family, seed, taken=taken)):
        yield _made(f"{family.name}-{at + 1:02d}", tags, draft)


def _drafts(family: Family, seed: bytes, *, taken: Collection[str] = ()) -> Iterator[Draft]:
    """Draw a family's cases; one that was drawn before, or is taken, is drawn anew."""
    seen = set(taken)
    for at in range(family.count):
        drawn = (family.make(source(seed, family.name, at, turn), at) for turn in count())
        draft = next(draft for draft in drawn if _asked(draft) not in seen)
        seen.add(_asked(draft))
        yield draft


def _asked(draft: Draft) -> str:
    return line(draft.request)


def _written(cases: Iterable[Authored]) -> Iterator[Made]:
    for one in cases:
        yield _made(one.name, [f"part:{one.part}"], one.draft)


def _made(name: str, tags: list[str], draft: Draft) -> Made:
    case = {"id": name, **draft.request, "tags": tags, "expect": draft.expect}
    answers = {"id": name, "right": draft.right, "wrong": draft.wrong, "why": draft.why}
    return case, answers
