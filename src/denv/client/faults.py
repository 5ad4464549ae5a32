"""Exceptions of the HTTP library and the system → faults in words that hold no secret."""

from __future__ import annotations

import os
import socket
import ssl

import aiohttp
from aiohttp import http_exceptions
from yarl import URL

from denv.records import Fault, FaultKind, Timeouts


def timeout_fault(kind: FaultKind, limits: Timeouts) -> Fault:
    """Say which of the three time-outs ended a call."""
    if kind is FaultKind.TIMEOUT_CONNECT:
        return Fault(kind, f"no connection within {limits.connect_s:g} s")
    if kind is FaultKind.TIMEOUT_FIRST_BYTE:
        return Fault(kind, f"no first byte within {limits.first_byte_s:g} s")
    return Fault(kind, f"no whole answer within {limits.total_s:g} s")


def fault_of(error: BaseException, url: str) -> Fault:
    """Name the fault that an exception means; the line names host and port and nothing else.

    The exceptions' own texts are not used: they list addresses, and URLs with credentials.
    """
    if isinstance(error, aiohttp.ClientConnectorDNSError | socket.gaierror):
        return Fault(FaultKind.DNS, f"no address found for {URL(url).host}")
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return Fault(FaultKind.TLS, f"{_where(url)}: {_tls_reason(error)}")
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError):
        return Fault(FaultKind.CONNECT, _not_connected(error, _where(url)))
    if isinstance(error, aiohttp.ClientPayloadError):
        return _broken_body(error)
    return _broken_exchange(error)


def _not_connected(
    error: aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError, where: str
) -> str:
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy does not lead to {where} (status {error.status})"
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return f"cannot connect to the proxy for {where}: {_reason(error)}"
    return f"cannot connect to {where}: {_reason(error)}"


def _broken_exchange(error: BaseException) -> Fault:
    match error:
        case aiohttp.ServerDisconnectedError():
            return Fault(FaultKind.CUT, "the server closed the connection before it answered")
        case OSError():
            return Fault(FaultKind.CUT, f"the connection broke: {_reason(error)}")
        case aiohttp.ClientResponseError() | http_exceptions.HttpProcessingError():
            return Fault(FaultKind.PROTOCOL, "the answer is not valid HTTP")
        case ValueError():
            return Fault(FaultKind.PROTOCOL, "the request cannot be written as HTTP")
        case _:
            return Fault(FaultKind.CUT, f"the connection broke ({type(error).__name__})")


def _broken_body(error: aiohttp.ClientPayloadError) -> Fault:
    inner = error.__cause__
    if isinstance(inner, http_exceptions.ContentEncodingError) or "content-encoding" in str(error):
        return Fault(FaultKind.PROTOCOL, "the answer's compression cannot be read")
    return Fault(FaultKind.CUT, "the connection was closed in the middle of the answer")


def _where(url: str) -> str:
    parsed = URL(url)
    return f"{parsed.host}:{parsed.port}"


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else "it was refused or cut"


def _tls_reason(error: BaseException) -> str:
    inner = getattr(error, "os_error", error)
    if isinstance(inner, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted ({inner.verify_message})"
    reason = str(getattr(inner, "reason", None) or "cut").lower().replace("_", " ")
    hint = "; does it speak plain http?" if "wrong version" in reason else ""
    return f"the TLS handshake failed ({reason}{hint})"
