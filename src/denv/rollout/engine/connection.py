"""Reaching a Temporal server: address, namespace, TLS, API key."""

from __future__ import annotations

import atexit
import gc
import re
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from denv.errors import HarnessError, UsageError
from denv.records import Secret

__all__ = ["Client", "Connection", "TlsFiles", "answers", "check_address", "connect"]

DEFAULT_QUEUE = "denv"
CONNECT_TIMEOUT_S = 10.0
REST_S = 0.1

_ADDRESS = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Files of an encrypted connection: one's own certificate and key, and whom to trust."""

    certificate: Path | None = None
    key: Path | None = None
    authorities: Path | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a Temporal server is; ``tls`` None is a plain connection, and then without a key."""

    address: str
    namespace: str = "default"
    queue: str = DEFAULT_QUEUE
    tls: TlsFiles | None = None
    api_key: Secret | None = None


def check_address(address: str) -> str:
    """Check that an address is HOST:PORT.

    Raises
    ------
    UsageError
        It is not.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[1]) < 65536:
        raise UsageError(f"{address[:80]!r} is no HOST:PORT")
    return address


async def connect(connection: Connection, *, timeout_s: float = CONNECT_TIMEOUT_S) -> Client:
    """Connect, and make sure that the namespace is there.

    Raises
    ------
    UsageError
        The address or the TLS files cannot be used, the key is refused, there is no such namespace.
    HarnessError
        No Temporal server answers there.
    """
    tls = _tls(connection)
    try:
        client = await Client.connect(
            check_address(connection.address),
            namespace=connection.namespace,
            api_key=connection.api_key.reveal() if connection.api_key else None,
            tls=tls,
            runtime=_runtime(),
            connect_timeout=timedelta(seconds=timeout_s),
        )
    except RuntimeError as error:
        raise HarnessError(_unreachable(connection, error)) from None
    await _check_namespace(client, connection, timeout_s=timeout_s)
    return client


async def _check_namespace(client: Client, connection: Connection, *, timeout_s: float) -> None:
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=connection.namespace),
            timeout=timedelta(seconds=timeout_s),
        )
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise UsageError(
                f"the Temporal server {connection.address} has no namespace "
                f"{connection.namespace!r}"
            ) from None
        if error.status in {RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.PERMISSION_DENIED}:
            raise UsageError(
                f"the Temporal server {connection.address} refuses this key or certificate"
            ) from None
        raise HarnessError(_unreachable(connection, error)) from None


async def answers(client: Client, *, timeout_s: float = 2.0) -> bool:
    """Tell whether the server of a client answers now."""
    try:
        return await client.service_client.check_health(timeout=timedelta(seconds=timeout_s))
    except RPCError:
        return False


def _unreachable(connection: Connection, error: Exception) -> str:
    kind = "over TLS" if connection.tls is not None else "without TLS"
    return f"no Temporal server answers at {connection.address} {kind}{_why(connection, error)}"


def _why(connection: Connection, error: Exception) -> str:
    said = str(error).lower()
    if connection.tls is None:
        return ""
    if "after connection" in said:  # what a server does that refuses the client's certificate
        return ": it ends the connection, as one does that wants another --tls-cert"
    return ": its certificate is not trusted" if "certificate" in said else ""


def _tls(connection: Connection) -> TLSConfig | bool:
    files = connection.tls
    if files is None:
        if connection.api_key is not None:
            raise UsageError("an API key is sent over TLS alone: add --tls")
        return False
    if (files.certificate is None) != (files.key is None):
        raise UsageError("--tls-cert and --tls-key belong together")
    return TLSConfig(
        server_root_ca_cert=_file("--tls-ca", files.authorities),
        client_cert=_file("--tls-cert", files.certificate),
        client_private_key=_file("--tls-key", files.key),
    )


def _file(option: str, path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{option}: {path}: {error.strerror}") from None
    if b"-----BEGIN" not in content:
        raise UsageError(f"{option}: {path} is no PEM file")
    return content


_made: list[Runtime] = []


def _runtime() -> Runtime:
    """Give the one runtime of this process, which keeps a lost connection to itself.

    What it would print is said by whoever waits for the answer, in one line.
    """
    if not _made:
        quiet = LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
        _made.append(Runtime(telemetry=TelemetryConfig(logging=quiet)))
        atexit.register(_let_go)
    return _made[0]


def _let_go() -> None:
    """Let the runtime's threads come to rest before Python ends.

    Dropped, the runtime ends its threads but does not wait for them. One that still calls back
    into an interpreter that is being torn down ends the process by a signal, and so with a
    wrong exit code.
    """
    _made.clear()
    gc.collect()
    time.sleep(REST_S)
