"""Report documents of files that others may have made: read, and checked before they are used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any, NoReturn

from jsonschema import Draft202012Validator

from denv.errors import UsageError
from denv.publish.document import SCHEMA
from denv.report.model import SCHEMA as RUN_SCHEMA
from denv.report.model import Document
from denv.schemas import schema

_NAMES = {SCHEMA: "public-1", RUN_SCHEMA: "report-1"}
_CASE = {"id": str, "check": str, "kind": str, "outcome": str, "reason": str}


def read_document(raw: bytes, *, name: str, only: str | None = None) -> Document:
    """Read a report; ``name`` is what errors call it, ``only`` the one schema that is taken.

    Each failing case follows its schema in full; of the others that holds for what is used.

    Raises
    ------
    UsageError
        Names the first place that is wrong.
    """
    try:
        document = json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: is not JSON: {error}") from None
    kind = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in ([only] if only else _NAMES):
        raise UsageError(f"{name}: is no report: its schema is {kind!r:.80}")
    fault = next(_faults(document, _NAMES[kind]), None)
    if fault is not None:
        raise UsageError(f"{name}: {fault}")
    return dict(document)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _faults(document: dict[str, Any], name: str) -> Iterator[str]:
    cases = document.get("cases")
    if not isinstance(cases, list):
        yield "$.cases: is no list"
        return
    # A suite may have a hundred thousand cases, and the schema takes its time for each.
    for error in islice(_validator(name).iter_errors({**document, "cases": []}), 1):
        yield f"{error.json_path}: {error.message[:300]}"
    for place, case in enumerate(cases):
        if not isinstance(case, dict):
            yield f"$.cases[{place}]: is no object"
            continue
        for key, form in _CASE.items():
            if not isinstance(case.get(key), form):
                yield f"$.cases[{place}].{key}: is no text"
        if case.get("outcome") == "fail":
            for error in islice(_case_validator(name).iter_errors(case), 1):
                yield f"$.cases[{place}]{error.json_path[1:]}: {error.message[:300]}"


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name))


@cache
def _case_validator(name: str) -> Draft202012Validator:
    whole = schema(name)
    return Draft202012Validator({"$ref": "#/$defs/case", "$defs": whole["$defs"]})
