"""An action in two steps that need no script: a page that asks, and a form that does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from denv.serve.actions import ActionError
from denv.serve.pages.rendering import render


@dataclass(frozen=True, slots=True)
class Field:
    """What is to be filled in; ``kind`` is that of HTML: text, number or checkbox."""

    name: str
    label: str
    kind: str = "text"
    hint: str = ""
    value: str = ""
    required: bool = False
    most: int = 400


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked before something is done: ``back`` is where it leads, done or not."""

    title: str
    says: str
    button: str
    back: str
    about: Mapping[str, str]
    fields: tuple[Field, ...] = ()
    grave: bool = False
    entry: str = ""


Given = Mapping[str, str]
Ask = Callable[[Request], Awaitable[Question]]
Do = Callable[[Request, Given], Awaitable[str]]
"""Carries out what was asked for and gives where to go on; an ActionError says why not."""


def action(path: str, ask: Ask, do: Do) -> Route:
    """Give the route of an action; who may only read is told so, and changes nothing."""

    async def endpoint(request: Request) -> Response:
        try:
            question = await ask(request)
        except ActionError as error:
            return _refusal(request, error)
        if not may_act(request):
            words = "Your token may read. It takes one of the role run to do this."
            return render(request, "refused.html.j2", status=403, says=words, back=question.back)
        if request.method != "POST":
            return _asked(request, question, given={})
        given = {name: str(value) for name, value in (await request.form()).items()}
        try:
            onward = await do(request, given)
        except ActionError as error:
            return _asked(request, question, given=given, error=error)
        return RedirectResponse(onward, status_code=303)

    return Route(path, endpoint, methods=["GET", "POST"])


def may_act(request: Request) -> bool:
    """Tell whether the caller is of the role that may do more than read."""
    return bool(request.state.caller.role == "run")


def by(request: Request) -> str:
    """Name who does it, for the log."""
    return str(request.state.caller.name)


def _asked(
    request: Request, question: Question, *, given: Given, error: ActionError | None = None
) -> Response:
    return render(
        request,
        "confirm.html.j2",
        status=200 if error is None else error.status,
        question=question,
        given=given,
        error=None if error is None else str(error),
    )


def _refusal(request: Request, error: ActionError) -> Response:
    return render(request, "refused.html.j2", status=error.status, says=str(error), back=None)
