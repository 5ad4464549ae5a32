"""Templates with variables, as Nunjucks and Jinja share them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError

from denv.suite.imports.bounded import Bounded, charged, narrow, one_template, spend_on
from denv.suite.imports.gathering import UncarriedError

MAX_ROUNDS = 5
"""Variables may name others, which may name others."""


MAX_KEPT = 64
"""Compiled templates: a prompt is filled in once for each test."""


def _dump(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _written(value: Any) -> Any:
    """Write a value as JavaScript does."""
    spend_on(value)
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case list() | dict():
            raise TypeError("a structured value is written without the filter dump")
        case _:
            return value


_ENVIRONMENT = Bounded(
    undefined=StrictUndefined, finalize=_written, autoescape=False, keep_trailing_newline=True
)
_ENVIRONMENT.filters["dump"] = charged(narrow(_dump))

_REFUSED = (
    *(TemplateError, TypeError, ValueError, ArithmeticError, RecursionError),
    *(AttributeError, LookupError, SyntaxError, MemoryError),  # what nests too deep is no Python
)

_TOO_DEEP = (RecursionError, SyntaxError, MemoryError)


def render(template: str, vars_: Mapping[str, Any]) -> str:
    """Fill in a template.

    Raises
    ------
    UncarriedError
        It is no template, names a variable that is not there, or takes too much work.
    """
    if "{{" not in template and "{%" not in template and "{#" not in template:
        return template
    try:
        with one_template():
            return _compiled(template).render(vars_)
    except _REFUSED as error:
        why = "it is nested too deep" if isinstance(error, _TOO_DEEP) else str(error)[:200]
        at = f"line {error.lineno} of it: " if isinstance(error, TemplateSyntaxError) else ""
        raise UncarriedError(f"its template cannot be filled in: {at}{why}") from None


@lru_cache(MAX_KEPT)
def _compiled(template: str) -> Template:
    return _ENVIRONMENT.from_string(template)


def render_value(value: Any, vars_: Mapping[str, Any]) -> Any:
    """Fill in every text of a value."""
    match value:
        case str():
            return render(value, vars_)
        case list():
            return [render_value(each, vars_) for each in value]
        case dict():
            return {key: render_value(each, vars_) for key, each in value.items()}
        case _:
            return value


def filled(vars_: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fill in variables that name other variables."""
    known = dict(vars_)
    for _ in range(MAX_ROUNDS):
        again = {name: render_value(value, known) for name, value in known.items()}
        if again == known:
            break
        known = again
    return known
