"""Whether a server can be reached, step by step: name, port, certificate, key, model, clock."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from yarl import URL

from denv.client import AiohttpTransport, HttpCall, check_url, mask
from denv.client.http import proxy_for, trusted
from denv.doctor.finding import Finding, Level, fault, note, ok, warning
from denv.errors import UsageError
from denv.records import Exchange, Secret, Timeouts
from denv.report.text import line

CONNECT_S = 5.0
ANSWER_S = 20.0
MOST_BYTES = 2**20
SOON_DAYS = 14
FAR_OFF_S = 60.0
"""Permits and certificates are refused where clocks are some minutes apart."""


@dataclass(frozen=True, slots=True)
class Address:
    """One side or replica as it is to be asked."""

    name: str
    url: str
    key: Secret | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None


async def examine_address(address: Address) -> AsyncIterator[Finding]:
    """Ask for the list of models, and tell the first step that fails.

    The list costs nothing: no tokens are asked for.
    """
    try:
        base = check_url(address.url, [address.key] if address.key else [])
        proxy = proxy_for(URL(base))
    except UsageError as error:
        yield fault(address.name, str(error), "correct its url in the release")
        return
    if proxy is not None:
        yield note(
            address.name, f"is asked by the proxy {mask(str(proxy))}, as the environment says"
        )
    else:
        found = await _connected(address.name, base)
        yield found
        if found.level is Level.FAULT:
            return
    async for finding in _models(address, base):
        yield finding


# ---------------------------------------------------------------- name, port, certificate


async def _connected(name: str, base: str) -> Finding:
    parts = urlsplit(base)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        context = trusted() if parts.scheme == "https" else None
    except UsageError as error:
        return fault(name, str(error), "correct the variable, or unset it")
    try:
        async with asyncio.timeout(CONNECT_S):
            _, writer = await asyncio.open_connection(host, port, ssl=context)
    except OSError as error:  # time-outs and all of TLS among them
        return _refused(name, f"{host}:{port}", error)
    try:
        return _of_connection(name, f"{host}:{port}", writer)
    finally:
        writer.close()


def _refused(name: str, where: str, error: OSError) -> Finding:
    match error:
        case TimeoutError():
            text = f"{where} does not answer within {CONNECT_S:g} s"
            advice = "see to firewalls and routes on the way there"
        case socket.gaierror():
            text = f"{where}: the name cannot be resolved: {error.strerror}"
            advice = "see that it is written right, and to this machine's DNS"
        case ssl.SSLCertVerificationError():
            text = f"{where}: its certificate is refused: {line(error.verify_message)}"
            advice = "have it renewed, or name its authority by SSL_CERT_FILE"
        case ssl.SSLError():
            text = f"{where} does not speak TLS: {line(error.reason or error)}"
            advice = "is http:// meant?"
        case _:
            text = f"{where} refuses connections: {error.strerror or error}"
            advice = "see that the server runs there, and on this port"
    return fault(name, text, advice)


def _of_connection(name: str, where: str, writer: asyncio.StreamWriter) -> Finding:
    certificate = writer.get_extra_info("peercert")
    if not certificate:
        return ok(name, f"{where} takes connections, without TLS")
    left = (ssl.cert_time_to_seconds(certificate["notAfter"]) - time.time()) / 86_400
    text = f"{where} takes connections; its certificate ends in {left:,.0f} days"
    if left < SOON_DAYS:
        return warning(name, text, "have it renewed")
    return ok(name, text)


# ---------------------------------------------------------------- key, model, clock


async def _models(address: Address, base: str) -> AsyncIterator[Finding]:
    headers = dict(address.headers)
    if address.key is not None:
        headers["Authorization"] = f"Bearer {address.key.reveal()}"
    call = HttpCall(
        "GET",
        f"{base}/models",
        headers=headers,
        timeouts=Timeouts(CONNECT_S, ANSWER_S, ANSWER_S),
        max_bytes=MOST_BYTES,
    )
    try:
        transport = AiohttpTransport(base)
    except UsageError as error:
        yield fault(address.name, str(error), "correct the variable, or unset it")
        return
    try:
        answer = await transport.send(call)
    finally:
        await transport.close()
    yield _listed(address, answer)
    clock = _clock(address.name, answer)
    if clock is not None:
        yield clock


def _listed(address: Address, answer: Exchange) -> Finding:
    name, keyed = address.name, address.key is not None
    if answer.fault is not None:
        text = f"GET /models: {line(answer.fault.message)}"
        return fault(name, text, "see the server's log")
    if answer.status == 200:
        return _named(address, _names(answer.body))
    text = f"GET /models is answered {answer.status}"
    if answer.status in {401, 403}:
        advice = "give the right key" if keyed else "name its key by key-env or key-file"
        return fault(name, f"{text}: refused", advice)
    if answer.status in {404, 405} and address.model is not None:
        return note(name, f"{text}: it lists none, and its model is named")
    if answer.status in {404, 405}:
        return fault(name, f"{text}: it lists none", "name its model in the release")
    return fault(name, text, "see the server's log")


def _names(body: bytes) -> list[str] | None:
    try:
        return [str(each["id"]) for each in json.loads(body)["data"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _named(address: Address, models: list[str] | None) -> Finding:
    if models is None:
        text = "GET /models is answered by no list of models"
        return fault(address.name, text, "is the url that of an API?")
    shown = ", ".join(line(model, 80) for model in models[:5]) or "none"
    more = f" and {len(models) - 5} more" if len(models) > 5 else ""
    text = f"lists {shown}{more}"
    if address.model is None and len(models) != 1:
        return fault(address.name, text, "name one of them as its model")
    if address.model is not None and address.model not in models:
        advice = "some servers take more names than they list; else correct it"
        return warning(address.name, f"{text}, and not {address.model!r}", advice)
    return ok(address.name, text)


def _clock(name: str, answer: Exchange) -> Finding | None:
    """Compare this machine's clock with a server's, whose header tells whole seconds."""
    written = dict(answer.headers).get("date")
    if written is None:
        return None
    try:
        theirs = parsedate_to_datetime(written)
    except ValueError:
        return None  # no date that can be read says nothing of the clock
    if theirs.tzinfo is None:
        theirs = theirs.replace(tzinfo=UTC)
    apart = (datetime.now(UTC) - theirs).total_seconds()
    if abs(apart) <= FAR_OFF_S:
        return None
    way = "ahead of" if apart > 0 else "behind"
    text = f"this clock is {abs(apart):,.0f} s {way} the server's"
    return warning(name, text, "set both by NTP: permits and certificates go by the time")
