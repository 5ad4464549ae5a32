"""Templates with variables, as Nunjucks and Jinja share them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from denv.suite.imports.gathering import UncarriedError

MAX_ROUNDS = 5
"""Variables may name others, which may name others."""


def _dump(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _written(value: Any) -> Any:
    """Write a value as JavaScript does."""
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


_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, finalize=_written, autoescape=False, keep_trailing_newline=True
)
_ENVIRONMENT.filters["dump"] = _dump


def render(template: str, vars_: Mapping[str, Any]) -> str:
    """Fill in a template.

    Raises
    ------
    UncarriedError
        It is no template, or names a variable that is not there.
    """
    if "{{" not in template and "{%" not in template and "{#" not in template:
        return template
    try:
        return _ENVIRONMENT.from_string(template).render(vars_)
    except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise UncarriedError(f"its template cannot be filled in: {error}") from None


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
