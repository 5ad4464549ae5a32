"""What other deployers ask over HTTP: start a gate, how did it end, does Flagger go on.

A sub-application: ``Mount("/gate", gate_app(…))``; its lifespan ends the gates that run.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from denv.client import read_key_file
from denv.errors import UsageError
from denv.records import Secret
from denv.release import parse_duration
from denv.report.gate import RUNNING
from denv.runner.gates import GATE_ID, new_gate_id
from denv.serve.access.bodies import read_body, replay
from denv.serve.gateruns import COMMAND, GateRuns, RefusedError
from denv.serve.hosts import LOOPBACK, host_of, is_loopback

ASK_AGAIN_S = 10

Known = Callable[[str], Awaitable[bool]]
"""Tells whether a token that is shown lets its bearer start gates."""


def gate_app(
    *,
    releases: Path,
    data: Path,
    token: Secret | None,
    hosts: Collection[str] | None = None,
    known: Known | None = None,
    command: Sequence[str] = COMMAND,
) -> Starlette:
    """Build the sub-application.

    ``releases`` is the folder that holds ``NAME.yaml`` for each name that callers may use,
    ``data`` the data folder of the runs. Without a token everyone who reaches it may ask: see
    :func:`token_for`; with one, those may too who are ``known``. ``hosts`` are the names that they
    may call it by, any where it is empty; left out, those of loopback where there is no token: see
    :mod:`denv.serve.hosts`.
    """
    runs = GateRuns(releases, data, command)
    names = hosts if hosts is not None else (LOOPBACK if token is None else ())

    @asynccontextmanager
    async def closing(_: Starlette) -> AsyncIterator[None]:
        yield
        await runs.close()

    app = Starlette(
        routes=[
            Route("/runs", _start, methods=["POST"]),
            Route("/runs/{gate}", _read, methods=["GET"]),
            Route("/flagger", _flagger, methods=["POST"]),
        ],
        middleware=[Middleware(GateGuard, hosts=names, token=token, known=known)],
        exception_handlers={RefusedError: _refused, HTTPException: _refused},
        lifespan=closing,
    )
    app.router.redirect_slashes = False
    app.state.runs = runs
    return app


def token_for(host: str, token_file: Path | None) -> Secret | None:
    """Read the token that callers must show; only a loopback address does without one.

    Raises
    ------
    UsageError
        For an address that others reach without a token, and for a file that holds none.
    """
    if token_file is not None:
        return read_key_file(token_file)
    if not is_loopback(host):
        raise UsageError(f"{host} can be reached by others: give --token-file")
    return None


# ---------------------------------------------------------------- who may ask


async def _refused(_: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return JSONResponse({"reason": error.detail}, error.status_code, headers=error.headers)
    assert isinstance(error, RefusedError)  # noqa: S101 - it is called for these two
    return JSONResponse({"reason": str(error)}, status_code=error.status)


@dataclass(frozen=True)
class GateGuard:
    """Lets those pass who may ask for gates."""

    app: ASGIApp
    hosts: Collection[str]
    token: Secret | None
    known: Known | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        try:
            body = await self._admit(request, receive)
        except (RefusedError, HTTPException) as error:
            response = await _refused(request, error)
            await response(scope, receive, send)
            return
        await self.app(scope, replay(body, receive), send)

    async def _admit(self, request: Request, receive: Receive) -> bytes:
        """Give the body of a request that may be answered."""
        called = request.headers.get("Host", "")
        if self.hosts and host_of(called) not in self.hosts:
            raise RefusedError(
                421, f"the host {called[:80]!r} is not served here; --allow-host NAME adds a name"
            )
        # A browser sends other types across sites unasked, but not this one.
        if request.method == "POST" and _kind(request.headers) != "application/json":
            raise RefusedError(415, "send Content-Type: application/json")
        body = (
            b"" if request.method in {"GET", "HEAD"} else await read_body(request.headers, receive)
        )
        if self.token is not None and not await self._shows(request, body):
            raise RefusedError(401, "the token is missing or wrong")
        return body

    async def _shows(self, request: Request, body: bytes) -> bool:
        """Whether a token is shown: as a header, or in the metadata that Flagger can send."""
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return await self._lets_in(given.strip())
        if request.method != "POST" or not request.scope["path"].endswith("/flagger"):
            return False
        metadata = _object(body).get("metadata")
        shown = metadata.get("token") if isinstance(metadata, dict) else None
        return isinstance(shown, str) and await self._lets_in(shown)

    async def _lets_in(self, shown: str) -> bool:
        if self.token is not None and _same(shown, self.token):
            return True
        return self.known is not None and await self.known(shown)


def _kind(headers: Headers) -> str:
    return headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _same(given: str, token: Secret) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.reveal().encode())


# ---------------------------------------------------------------- runs


def _runs(request: Request) -> GateRuns:
    found: GateRuns = request.app.state.runs
    return found


async def _start(request: Request) -> Response:
    body = await _body(request)
    if not set(body) <= {"release", "id"}:
        raise RefusedError(400, 'only "release" and "id" can be given')
    name, gate = _text(body, "release"), body.get("id")
    if gate is None:
        gate = new_gate_id()
    if not isinstance(gate, str) or not GATE_ID.fullmatch(gate):
        raise RefusedError(400, '"id" takes letters, digits, dots, dashes, underscores; 128')
    document = await _runs(request).start(name, gate)
    status = 202 if document["state"] == RUNNING else 200
    return JSONResponse(document, status_code=status)


async def _read(request: Request) -> Response:
    document = _runs(request).get(request.path_params["gate"])
    if document is None:
        raise RefusedError(404, "there is no such gate")
    if document["state"] == RUNNING:
        # Not 200: Argo Rollouts measures every 200, and asks again after anything else.
        again = {"Retry-After": str(ASK_AGAIN_S)}
        return JSONResponse(document, status_code=503, headers=again)
    return JSONResponse(document)


# ---------------------------------------------------------------- Flagger


async def _flagger(request: Request) -> Response:
    """Answer 200 when the release's latest gate passed; any other status holds the canary.

    With ``when: fail`` it is 200 when that gate failed, which a rollback hook asks.
    """
    runs = _runs(request)
    body = await _body(request)
    metadata = _metadata(body)
    name = metadata.get("release") or _text(body, "name")
    release = runs.release(name)
    if metadata.get("start") == "true":
        gate = _gate_of(body, release.digest)
        document: Mapping[str, Any] | None = await runs.start(name, gate)
    else:
        document = runs.latest(release)
    if document is None:
        raise RefusedError(404, f"{name}: no gate has run for the release as it now is")
    _check_verdict(name, document, _wanted(metadata))
    if max_age := metadata.get("max-age"):
        _check_age(name, document, max_age)
    return JSONResponse({"gate": document["gate"], "verdict": document["verdict"]})


def _metadata(body: Mapping[str, Any]) -> dict[str, str]:
    metadata = body.get("metadata") or {}
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise RefusedError(400, '"metadata" must be a mapping of texts')
    return metadata


def _gate_of(body: Mapping[str, Any], digest: str) -> str:
    """Name one gate for each revision of a canary, so that each hook asks about the same one."""
    checksum = body.get("checksum")
    if not isinstance(checksum, str) or not checksum:
        raise RefusedError(400, 'start needs "checksum", which this version of Flagger lacks')
    revision = json.dumps([body.get("namespace"), body.get("name"), checksum, digest])
    return f"flagger-{hashlib.sha256(revision.encode()).hexdigest()[:24]}"


def _wanted(metadata: Mapping[str, str]) -> str:
    wanted = metadata.get("when", "pass")
    if wanted not in {"pass", "fail"}:
        raise RefusedError(400, '"when" must be pass or fail')
    return wanted


def _check_verdict(name: str, document: Mapping[str, Any], wanted: str) -> None:
    if document["state"] == RUNNING:
        raise RefusedError(425, f"{name}: the gate {document['gate']} is running")
    if document["verdict"] != wanted:
        reasons = "; ".join(document["reasons"][:3]) or "no reason is known"
        said = f"{name}: the gate {document['gate']} ended with {document['verdict']}: {reasons}"
        raise RefusedError(412, said)


def _check_age(name: str, document: Mapping[str, Any], max_age: str) -> None:
    try:
        most_s = parse_duration(max_age)
    except UsageError as error:
        raise RefusedError(400, f"max-age: {error}") from None
    age = datetime.now(UTC) - datetime.fromisoformat(document["finished"])
    if age.total_seconds() > most_s:
        raise RefusedError(
            412, f"{name}: the gate {document['gate']} ended more than {max_age} ago"
        )


# ---------------------------------------------------------------- bodies


async def _body(request: Request) -> dict[str, Any]:
    return _object(await request.body())


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RefusedError(400, "the body is no JSON object")
    return found


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise RefusedError(400, f'"{name}" must be a text')
    return value
