"""The signed statement: an in-toto test result about the files of a public report, in DSSE.

in-toto Statement v1, predicate test-result v0.1; DSSE v1.0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import Error, VerificationError

from denv.errors import DenvError
from denv.publish.keys import CryptoSigner, SSlibKey
from denv.report.model import Document

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"

RESULTS = {"pass": "PASSED", "inconclusive": "WARNED", "fail": "FAILED", "error": "FAILED"}
"""What the predicate calls the verdicts; a run that said nothing is no passed test."""


class StatementError(DenvError):
    """An envelope is not signed by this key, or does not hold what it should."""

    exit_code = 1


def statement(
    head: Document, digests: Mapping[str, str], *, outcomes: Iterable[tuple[str, str]]
) -> dict[str, Any]:
    """Give the statement: the files' digests, the suite's digest, and the outcome of each case.

    Cases that were not counted stand under the warned tests.
    """
    tests: dict[str, list[str]] = {"passedTests": [], "warnedTests": [], "failedTests": []}
    places = {"pass": "passedTests", "fail": "failedTests"}
    for case, outcome in outcomes:
        tests[places.get(outcome, "warnedTests")].append(case)
    suite = head["suite"]
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": d}} for name, d in digests.items()],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": RESULTS[head["verdict"]],
            "configuration": [{"name": suite["name"], "digest": {"sha256": suite["sha256"]}}],
            **tests,
        },
    }


def sign(content: Mapping[str, Any], signer: CryptoSigner) -> str:
    """Give the envelope of a statement, as the text of its file."""
    payload = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    return json.dumps(envelope.to_dict(), indent=1) + "\n"


def opened(raw: bytes, key: SSlibKey) -> dict[str, Any]:
    """Check an envelope's signature, then give its statement.

    Raises
    ------
    StatementError
        Says what is wrong.
    """
    envelope = _envelope(raw)
    if not envelope.signatures:
        raise StatementError("the envelope bears no signature")
    if key.keyid not in envelope.signatures:
        signed_by = ", ".join(keyid[:16] for keyid in envelope.signatures)
        raise StatementError(
            f"it is not signed by this key ({key.keyid[:16]}…) but by another ({signed_by}…)"
        )
    try:
        envelope.verify([key], threshold=1)
    except VerificationError:
        raise StatementError(
            "the signature does not hold: the statement was changed after it was signed"
        ) from None
    if envelope.payload_type != PAYLOAD_TYPE:
        raise StatementError(f"what is signed is no in-toto statement: {envelope.payload_type!r}")
    return _statement(envelope.payload)


def _envelope(raw: bytes) -> Envelope:
    try:
        return Envelope.from_dict(json.loads(raw))
    except (Error, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StatementError("it is no DSSE envelope") from None


def _statement(payload: bytes) -> dict[str, Any]:
    try:
        found = json.loads(payload)
        kinds = (found["_type"], found["predicateType"])
        subjects = {one["name"]: one["digest"]["sha256"] for one in found["subject"]}
        suites = [one["digest"]["sha256"] for one in found["predicate"]["configuration"]]
        result = found["predicate"]["result"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StatementError("the signed statement is not of the form of a test result") from None
    if kinds != (STATEMENT_TYPE, PREDICATE_TYPE):
        raise StatementError(f"the signed statement is no test result but {kinds[1]!r}")
    return {"subjects": subjects, "suites": suites, "result": result}
