"""The report document: what every writer is given, and its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from math import isfinite
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import extend

from denv.errors import HarnessError

SCHEMA = "denv.parity.report/1"

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """A run's document in two parts, so that a million cases need not be in memory.

    ``head`` is the document without ``cases``. Each call of ``cases`` walks over the documents
    of all cases anew, in the order of the suite.
    """

    head: Document
    cases: Callable[[], Iterator[Document]]

    @classmethod
    def of(cls, document: Document) -> Report:
        """Split a whole document, as read from its file."""
        head = {key: value for key, value in document.items() if key != "cases"}
        return cls(head, lambda: iter(document["cases"]))

    @property
    def failed(self) -> int:
        """The number of cases that failed, as its kinds count them."""
        return sum(kind["fail"] for kind in self.head["kinds"].values())

    def failing(self, limit: int) -> Iterator[Document]:
        """Give the first failing cases; reading ends where no more can come."""
        wanted = min(limit, self.failed)
        if wanted:
            yield from islice((c for c in self.cases() if c["outcome"] == "fail"), wanted)


class DocumentError(HarnessError):
    """A report document does not follow its schema; each line names a place and its fault."""


@cache
def schema() -> Mapping[str, Any]:
    """Give the JSON Schema (draft 2020-12) of the report document."""
    text = files("denv").joinpath("schemas", "report-1.json").read_text("utf-8")
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded


def _is_number(_checker: object, value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


@cache
def _validator() -> Draft202012Validator:
    # jsonschema takes NaN for a number, which strict JSON does not
    checker = Draft202012Validator.TYPE_CHECKER.redefine("number", _is_number)
    # the stubs give extend no types
    strict = extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call]
    found: Draft202012Validator = strict(schema())
    return found


def validate(document: Document) -> None:
    """Check a whole document against its schema.

    Raises
    ------
    DocumentError
        With up to ten places and what is wrong at each.
    """
    faults = [
        f"{error.json_path}: {error.message[:300]}"
        for error in islice(_validator().iter_errors(document), 10)
    ]
    if faults:
        raise DocumentError("\n".join(faults))
