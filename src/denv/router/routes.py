"""Which calls of the API are passed on. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from denv.router.refusals import Form, RefusedError

_PREFIX = "/v1/"
_MOST_ID = 256


@dataclass(frozen=True, slots=True)
class Route:
    """One call: ``name`` is its path behind the base, ``method`` how it is asked."""

    name: str
    method: str
    form: Form = Form.OPENAI


CHAT = Route("chat/completions", "POST")
MODELS = Route("models", "GET")
MODEL = Route("models/{id}", "GET")
_ROUTES = {
    f"{_PREFIX}{route.name}": route
    for route in (
        CHAT,
        Route("completions", "POST"),
        Route("responses", "POST"),
        Route("messages", "POST", Form.ANTHROPIC),
        MODELS,
    )
}


def path_of(target: str) -> str:
    """Give the path of a request's target, without the query.

    A target may hold scheme and host too, as callers behind a proxy write it (RFC 9112, 3.2.2).
    """
    target = target.partition("?")[0]
    if target.startswith("/"):
        return target
    scheme, found, rest = target.partition("://")
    if not found or scheme.lower() not in {"http", "https"}:
        return target
    return f"/{rest.partition('/')[2]}"


def form_of(path: str) -> Form:
    """Tell in whose form the caller of a path reads errors."""
    route = _ROUTES.get(path)
    return Form.OPENAI if route is None else route.form


def find(method: str, path: str) -> tuple[Route, str]:
    """Give the route of a request, and its path behind the base in one form.

    Raises
    ------
    RefusedError
        404 for other paths, 405 for other methods.
    """
    route = _ROUTES.get(path)
    below = route.name if route is not None else ""
    if route is None and path.startswith(f"{_PREFIX}models/"):
        route, below = MODEL, f"models/{_model_id(path.removeprefix(f'{_PREFIX}models/'))}"
    if route is None:
        raise RefusedError(404, "unknown_url", "there is no such path here")
    if route.method != method:
        why = f"this path takes {route.method} alone"
        raise RefusedError(405, "method_not_allowed", why, allow=route.method)
    return route, below


def _model_id(written: str) -> str:
    """Write an id in one form, however the caller has escaped it."""
    try:
        name = unquote(written, errors="strict")
    except UnicodeDecodeError:
        name = ""
    parts = re.split(r"[/\\]", name)  # a replica may take either for a separator
    if not name.isprintable() or len(name) > _MOST_ID or not all(p.strip(".") for p in parts):
        raise RefusedError(404, "model_not_found", "that is no name of a model")
    return quote(name, safe="/")
