"""What other deployers ask over HTTP: start a gate, how did it end, does Flagger go on.

A sub-application: ``app.add_subapp("/gate", gate_app(…))``.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from denv.client import read_key_file
from denv.errors import UsageError
from denv.records import Secret
from denv.release import parse_duration
from denv.report.gate import RUNNING
from denv.runner.gates import GATE_ID, new_gate_id
from denv.serve.gateruns import COMMAND, GateRuns, RefusedError
from denv.serve.hosts import LOOPBACK, host_of, is_loopback

MOST_BYTES = 64 * 1024
ASK_AGAIN_S = 10
_RUNS = web.AppKey("gates", GateRuns)
_TOKEN = web.AppKey("token", Secret)
_HOSTS = web.AppKey("hosts", Collection)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def gate_app(
    *,
    releases: Path,
    data: Path,
    token: Secret | None,
    hosts: Collection[str] | None = None,
    command: Sequence[str] = COMMAND,
) -> web.Application:
    """Build the sub-application.

    ``releases`` is the folder that holds ``NAME.yaml`` for each name that callers may use,
    ``data`` the data folder of the runs. Without a token everyone who reaches it may ask: see
    :func:`token_for`. ``hosts`` are the names that they may call it by, any where it is empty;
    left out, those of loopback where there is no token: see :mod:`denv.serve.hosts`.
    """
    app = web.Application(middlewares=[_refusals, _guard], client_max_size=MOST_BYTES)
    app[_RUNS] = runs = GateRuns(releases, data, command)
    app[_HOSTS] = hosts if hosts is not None else (LOOPBACK if token is None else ())
    if token is not None:
        app[_TOKEN] = token
    app.router.add_post("/runs", _start)
    app.router.add_get("/runs/{gate}", _read)
    app.router.add_post("/flagger", _flagger)

    async def close(_: web.Application) -> None:
        await runs.close()

    app.on_cleanup.append(close)
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


@web.middleware
async def _refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except RefusedError as refused:
        return web.json_response({"reason": str(refused)}, status=refused.status)


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    hosts = request.config_dict[_HOSTS]
    called = request.headers.get("Host", "")
    if hosts and host_of(called) not in hosts:
        raise RefusedError(
            421, f"the host {called[:80]!r} is not served here; --allow-host NAME adds a name"
        )
    # A browser sends other types across sites unasked, but not this one.
    if request.method == "POST" and request.content_type != "application/json":
        raise RefusedError(415, "send Content-Type: application/json")
    token = request.config_dict.get(_TOKEN)
    if token is not None and not await _shows(request, token):
        raise RefusedError(401, "the token is missing or wrong")
    return await handler(request)


async def _shows(request: web.Request, token: Secret) -> bool:
    """Whether the caller has the token: as a header, or in the metadata that Flagger can send."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _same(given.strip(), token)
    if request.method != "POST" or not request.path.endswith("/flagger"):
        return False
    metadata = (await _body(request)).get("metadata")
    shown = metadata.get("token") if isinstance(metadata, dict) else None
    return isinstance(shown, str) and _same(shown, token)


def _same(given: str, token: Secret) -> bool:
    return hmac.compare_digest(given.encode(), token.reveal().encode())


# ---------------------------------------------------------------- runs


async def _start(request: web.Request) -> web.Response:
    body = await _body(request)
    if not set(body) <= {"release", "id"}:
        raise RefusedError(400, 'only "release" and "id" can be given')
    name, gate = _text(body, "release"), body.get("id")
    if gate is None:
        gate = new_gate_id()
    if not isinstance(gate, str) or not GATE_ID.fullmatch(gate):
        raise RefusedError(400, '"id" takes letters, digits, dots, dashes, underscores; 128')
    document = await request.config_dict[_RUNS].start(name, gate)
    status = 202 if document["state"] == RUNNING else 200
    return web.json_response(document, status=status)


async def _read(request: web.Request) -> web.Response:
    document = request.config_dict[_RUNS].get(request.match_info["gate"])
    if document is None:
        raise RefusedError(404, "there is no such gate")
    if document["state"] == RUNNING:
        # Not 200: Argo Rollouts measures every 200, and asks again after anything else.
        again = {"Retry-After": str(ASK_AGAIN_S)}
        return web.json_response(document, status=503, headers=again)
    return web.json_response(document)


# ---------------------------------------------------------------- Flagger


async def _flagger(request: web.Request) -> web.Response:
    """Answer 200 when the release's latest gate passed; any other status holds the canary.

    With ``when: fail`` it is 200 when that gate failed, which a rollback hook asks.
    """
    runs = request.config_dict[_RUNS]
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
    return web.json_response({"gate": document["gate"], "verdict": document["verdict"]})


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


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.text())
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise RefusedError(400, "the body is no JSON object")
    return body


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise RefusedError(400, f'"{name}" must be a text')
    return value
