"""What a request is refused with: status and body in the official form."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http import HTTPStatus

from denv.adapter.engines.protocol import EngineFault
from denv.errors import DenvError

INVALID = "invalid_request_error"
AUTHENTICATION = "authentication_error"
RATE_LIMIT = "rate_limit_error"
INTERNAL = "internal_error"
UNAVAILABLE = "service_unavailable_error"
TIMEOUT = "timeout_error"

_OPERATORS = frozenset((401, 403, 404, 405))
_THE_CALLERS = frozenset((400, 413, 422))
_BUSY = frozenset((429, 503))


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is an error; ``body`` is JSON text."""

    status: int
    body: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The word for the error that the body holds."""
        return str(json.loads(self.body)["error"]["type"])

    @property
    def message(self) -> str:
        """The sentence that the body holds."""
        return str(json.loads(self.body)["error"]["message"])


class RefusedError(DenvError):
    """A request that is not answered with a completion."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"refused with {refusal.status}")
        self.refusal = refusal


def refusal(
    status: int, message: str, *, kind: str = INVALID, retry_after_s: int | None = None
) -> Refusal:
    """Write an error as the official API does."""
    error = {"message": message, "type": kind, "param": None, "code": kind}
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    body = json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":"))
    return Refusal(status, body, headers)


def of_fault(fault: EngineFault) -> Refusal:
    """Tell what an engine's fault means for whoever asked.

    An engine that refuses a prompt refuses the request. One that is busy, away or slow is 503; one
    that does not take the adapter's own key or path, and one that breaks, is the server's 500.
    """
    if fault.status in _THE_CALLERS:
        return refusal(400, f"the engine refuses this request: {fault.message}")
    if fault.status in _OPERATORS:
        return refusal(500, "the engine refuses the adapter", kind=INTERNAL)
    if fault.status in _BUSY or fault.retry:
        return refusal(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"the engine cannot answer now: {fault.message}",
            kind=UNAVAILABLE,
            retry_after_s=1,
        )
    return refusal(500, f"the engine failed: {fault.message}", kind=INTERNAL)
