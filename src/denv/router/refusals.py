"""What the router itself says no to, in the form that the caller's library reads."""

from __future__ import annotations

import json
from enum import StrEnum

from denv.errors import DenvError


class Form(StrEnum):
    """Whose API a route is of."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class RefusedError(DenvError):
    """A request that is not passed on: a status, a code, and why in one sentence.

    Nothing of the request stands in the message.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        retry_after_s: float | None = None,
        allow: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s
        self.allow = allow


_TYPES = {
    Form.OPENAI: {
        401: "authentication_error",
        403: "permission_error",
        429: "rate_limit_error",
    },
    Form.ANTHROPIC: {
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        503: "overloaded_error",
        504: "timeout_error",
    },
}


def body_of(refused: RefusedError, form: Form) -> bytes:
    """Write an error as OpenAI's API or Anthropic's does."""
    usual = "invalid_request_error" if refused.status < 500 else "api_error"
    kind = _TYPES[form].get(refused.status, usual)
    if form is Form.ANTHROPIC:
        body: dict[str, object] = {
            "type": "error",
            "error": {"type": kind, "message": str(refused)},
        }
    else:
        error = {"message": str(refused), "type": kind, "param": None, "code": refused.code}
        body = {"error": error}
    return json.dumps(body).encode()
