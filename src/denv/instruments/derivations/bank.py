"""The bank: items of every template, the same from one seed on every machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from denv.instruments.derivations.forms import HINTS, INSTRUCTION, Item, Problem

FIELDS = ("algebra", "calculus", "linear algebra", "number theory", "probability")

Template = Callable[[Random], Problem]

_DRAWS = 200


def templates() -> Mapping[str, tuple[Template, ...]]:
    """Give the templates of every field; a template's name is its function's."""
    # SymPy costs a second, which only those who make items should pay.
    from denv.instruments.derivations import (  # noqa: PLC0415
        algebra,
        calculus,
        matrices,
        numbers,
        probability,
    )

    modules = (algebra, calculus, matrices, numbers, probability)
    return {field: module.TEMPLATES for field, module in zip(FIELDS, modules, strict=True)}


def items(seed: int, per_template: int = 1, *, fields: Sequence[str] = FIELDS) -> tuple[Item, ...]:
    """Make ``per_template`` different items of every template.

    An item depends on the seed, its template and its number among the template's items alone:
    asking for more items, or for fewer fields, changes none of the others.

    Parameters
    ----------
    seed
        Any integer.
    per_template
        How many items of each template.
    fields
        Some of ``FIELDS``.

    Raises
    ------
    ValueError
        A field is unknown, ``per_template`` is below 1, or a template has not as many items.

    Examples
    --------
    >>> one = items(7, fields=["number theory"])[0]
    >>> one.id, one.prompt.splitlines()[-1]
    ('number-theory/chinese_remainder/0', 'FINAL: <expr>')
    """
    unknown = [field for field in fields if field not in FIELDS]
    if unknown:
        raise ValueError(f"fields: there is no {unknown[0]!r}, only {', '.join(FIELDS)}")
    if per_template < 1:
        raise ValueError(f"per_template: {per_template} is below 1")
    bank = templates()
    return tuple(
        item
        for field in FIELDS
        if field in fields
        for template in bank[field]
        for item in _items_of(template, field, seed=seed, count=per_template)
    )


def _items_of(template: Template, field: str, *, seed: int, count: int) -> list[Item]:
    name = template.__name__
    found: dict[str, Item] = {}
    for draw in range(count + _DRAWS):
        if len(found) == count:
            break
        # A text as seed is hashed with SHA-512, whatever PYTHONHASHSEED is.
        problem = template(Random(f"{seed}/{field}/{name}/{draw}"))  # noqa: S311 - no secret
        if problem.question not in found:
            item_id = f"{field.replace(' ', '-')}/{name}/{len(found)}"
            found[problem.question] = Item(
                item_id, field, name, _prompt(problem), problem.truth, problem.form
            )
    if len(found) < count:
        raise ValueError(f"per_template: {name} has only {len(found)} different items, not {count}")
    return list(found.values())


def _prompt(problem: Problem) -> str:
    return f"{problem.question}\n\n{HINTS[problem.form.kind]}\n{INSTRUCTION}"
