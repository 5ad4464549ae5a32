"""States, events, actions and steps as JSON documents, strict and of a stated form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from denv.errors import HarnessError
from denv.records import Json
from denv.rollout.states.actions import Action
from denv.rollout.states.events import Event
from denv.rollout.states.state import State, Step

FORM = 1
"""Rises when a document written before would be read wrong."""

Value = TypeVar("Value")

_STATE: TypeAdapter[State] = TypeAdapter(State)
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
_ACTION: TypeAdapter[Action] = TypeAdapter(Action)
_STEP: TypeAdapter[Step] = TypeAdapter(Step)


def state_to_json(state: State) -> dict[str, Json]:
    """Give a state as a JSON object."""
    return _written(_STATE, state)


def state_from_json(document: Mapping[str, Json]) -> State:
    """Read a state; HarnessError for any other form or field."""
    return _read(_STATE, document, what="state")


def event_to_json(event: Event) -> dict[str, Json]:
    """Give an event as a JSON object."""
    return _written(_EVENT, event)


def event_from_json(document: Mapping[str, Json]) -> Event:
    """Read an event; HarnessError for any other form or field."""
    return _read(_EVENT, document, what="event")


def action_to_json(action: Action) -> dict[str, Json]:
    """Give an action as a JSON object."""
    return _written(_ACTION, action)


def action_from_json(document: Mapping[str, Json]) -> Action:
    """Read an action; HarnessError for any other form or field."""
    return _read(_ACTION, document, what="action")


def step_to_json(step: Step) -> dict[str, Json]:
    """Give a step as a JSON object."""
    return _written(_STEP, step)


def step_from_json(document: Mapping[str, Json]) -> Step:
    """Read a step; HarnessError for any other form or field."""
    return _read(_STEP, document, what="step")


def _written(adapter: TypeAdapter[Any], value: object) -> dict[str, Json]:
    return {"form": FORM, **adapter.dump_python(value, mode="json")}


def _read(adapter: TypeAdapter[Value], document: Mapping[str, Json], *, what: str) -> Value:
    fields = dict(document)
    form = fields.pop("form", None)
    if form != FORM:
        raise HarnessError(
            f"a rollout's {what} is of form {form!r}; this version reads form {FORM}"
        )
    try:
        return adapter.validate_json(json.dumps(fields, allow_nan=False))
    except (ValidationError, ValueError, TypeError) as error:
        raise HarnessError(f"a rollout's {what} cannot be read: {_first(error)}") from error


def _first(error: Exception) -> str:
    """Name the first field that does not fit, without its value."""
    if not isinstance(error, ValidationError):
        return "it is no JSON object"
    found = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, found['loc'])) or 'the whole'}: {found['msg']}"
