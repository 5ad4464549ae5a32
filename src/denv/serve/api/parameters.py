"""What requests name: pages of lists, and the caller."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from denv.serve.context import ServeContext

MOST_LISTED = 200
_TIME_AND_NAME = r"^[0-9]{1,12}(\.[0-9]{1,12})?~[A-Za-z0-9._-]{1,64}$"
_INDEX = r"^[0-9]{1,9}$"
_SLOT = r"^[0-9]{1,12}(\.[0-9]{1,12})?~[0-9]{1,12}(\.[0-9]{1,12})?~[a-z-]{1,16}$"
_NEXT = "The `next` of the page before."

Name = Annotated[str, Path(description="Its id, or its name.")]


class Filters(BaseModel):
    """Parameters of a list; one that is not known is refused, lest it be taken for a filter."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=50, ge=1, le=MOST_LISTED, description="The length of a page.")


class ByTime(Filters):
    """Parameters of a list by time that comes in pages."""

    cursor: str | None = Field(default=None, pattern=_TIME_AND_NAME, description=_NEXT)

    @property
    def before(self) -> tuple[float, str] | None:
        """Where the page before ended."""
        if self.cursor is None:
            return None
        at, _, name = self.cursor.partition("~")
        return float(at), name


class ByIndex(Filters):
    """Parameters of a list of cases that comes in pages."""

    cursor: str | None = Field(default=None, pattern=_INDEX, description=_NEXT)

    @property
    def after(self) -> int:
        """Where the page before ended; -1 is before the first."""
        return -1 if self.cursor is None else int(self.cursor)


class BySlot(Filters):
    """Parameters of a list of firings that comes in pages."""

    cursor: str | None = Field(default=None, pattern=_SLOT, description=_NEXT)

    @property
    def before(self) -> tuple[float, float, str] | None:
        """Where the page before ended."""
        if self.cursor is None:
            return None
        slot, at, kind = self.cursor.split("~")
        return float(slot), float(at), kind


def after(at: float, name: str) -> str:
    """Write where a page of a list by time ended."""
    return f"{at!r}~{name}"


def refuse_repeats(request: Request) -> None:
    """Refuse a parameter that is given twice, of which only one would count."""
    names = [name for name, _ in request.query_params.multi_items()]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise HTTPException(422, f"query.{twice}: it is given more than once")


def _context(request: Request) -> ServeContext:
    found: ServeContext = request.app.state.context
    return found


def _caller(request: Request) -> str:
    """Name who asks, as the access rules have found out."""
    name: str = request.state.caller.name
    return name


Context = Annotated[ServeContext, Depends(_context)]
Caller = Annotated[str, Depends(_caller)]
