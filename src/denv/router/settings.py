"""The settings of a router, as ``router.yaml`` writes them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from denv.release import EnvironmentName, Line, Section, SomeTime
from denv.router.credentials import HostRule, parse_host

DROPPED = ("user", "safety_identifier", "prompt_cache_key", "metadata")
"""Fields of a body that name the caller to a provider, and so could tell one from another."""

MIB = 1024 * 1024

SLOWEST, FASTEST = 0.0001, 1_000_000
"""Requests a second: one in almost three hours is the least that a wait can be told for."""

_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):(?P<port>[0-9]{1,5})")
_ALL = frozenset({"0.0.0.0", "::"})  # noqa: S104 - nothing is bound here

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_TOKEN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?")


def split_address(value: str) -> tuple[str, int]:
    """Read ``HOST:PORT``, an IPv6 host in brackets; port 0 takes a free one."""
    found = _ADDRESS.fullmatch(value)
    if found is None or int(found["port"]) > 65535:
        raise ValueError("must be written HOST:PORT, such as 127.0.0.1:8080")
    return found["host"].strip("[]"), int(found["port"])


def check_apart(listen: str, admin: str) -> None:
    """Refuse two addresses of which one would take the other's callers."""
    (host, port), (other, other_port) = split_address(listen), split_address(admin)
    if port and port == other_port and (host == other or _ALL & {host, other}):
        raise ValueError(f"listen and admin are one address: {listen} and {admin}")


def _address(value: str) -> str:
    split_address(value)
    return value


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("must be 1 to 64 of A-Z, a-z, 0-9 and . _ - (a letter or digit at ends)")
    return value


def _agent(value: str) -> str:
    if not _TOKEN.fullmatch(value):
        raise ValueError("must be 1 to 128 printable ASCII characters")
    return value


def _path(value: str) -> str:
    if not re.fullmatch(r"/[!-~]*", value):
        raise ValueError("must begin with / and have no spaces, such as /health")
    return value


def _host(value: str) -> str:
    parse_host(value)
    return value


def _statuses(value: tuple[int, ...]) -> tuple[int, ...]:
    for status in value:
        if status not in {429, 500, 502, 503, 504}:
            raise ValueError("can name 429, 500, 502, 503 and 504")
    return value


Address = Annotated[str, AfterValidator(_address)]
Host = Annotated[str, AfterValidator(_host)]


class Key(Section):
    """A secret, by the name of the variable or of the file of mode 600 that holds it."""

    key_env: EnvironmentName | None = None
    key_file: Line | None = None

    @model_validator(mode="after")
    def _one_key(self) -> Key:
        if (self.key_env is None) == (self.key_file is None):
            raise ValueError("must name one of key-env and key-file")
        return self


class Limits(Section):
    """What one client may ask at once and in a second; None is without a limit."""

    concurrency: int | None = Field(default=None, ge=1)
    rate: Annotated[float, Field(ge=SLOWEST, le=FASTEST, strict=False)] | None = None
    burst: int | None = Field(default=None, ge=1, le=FASTEST)

    @model_validator(mode="after")
    def _burst_of_a_rate(self) -> Limits:
        if self.burst is not None and self.rate is None:
            raise ValueError("burst needs a rate")
        return self


class ClientEntry(Key, Limits):
    """A client: its name, for our own metrics alone, its key and its limits."""

    name: Annotated[str, AfterValidator(_name)]


class Credential(Key):
    """A key towards replicas, and the hosts that it may reach."""

    hosts: Annotated[tuple[Host, ...], Field(strict=False, min_length=1)]

    @property
    def rules(self) -> tuple[HostRule, ...]:
        """The hosts, read."""
        return tuple(parse_host(host) for host in self.hosts)


class Upstream(Section):
    """How replicas are asked; the first credential that names a replica's host is sent to it."""

    user_agent: Annotated[str, AfterValidator(_agent)] = "denv-router"
    credentials: Annotated[tuple[Credential, ...], Field(strict=False)] = ()
    ca_file: Line | None = None


class Bounds(Section):
    """What the router takes in at once."""

    body: int = Field(default=16 * MIB, ge=1024)
    in_flight: int = Field(default=256, ge=1)
    queue: int = Field(default=1024, ge=0)
    queue_timeout: SomeTime = 30.0
    connections: int = Field(default=4096, ge=1, le=1_000_000)


class Waits(Section):
    """How long is waited for each part of an exchange."""

    head: SomeTime = 10.0
    body: SomeTime = 60.0
    connect: SomeTime = 5.0
    first_byte: SomeTime = 600.0
    idle: SomeTime = 120.0
    total: SomeTime = 3600.0


class Retries(Section):
    """How often a request is sent in all, and after which statuses beside failed connections."""

    attempts: int = Field(default=2, ge=1, le=10)
    statuses: Annotated[tuple[int, ...], AfterValidator(_statuses), Field(strict=False)] = (503,)


class Checks(Section):
    """How replicas are checked; ``path`` stands behind the host, None asks for the models."""

    path: Annotated[str, AfterValidator(_path)] | None = None
    every: SomeTime = 5.0
    timeout: SomeTime = 5.0
    failures: int = Field(default=3, ge=1)
    passes: int = Field(default=2, ge=1)


class Tracing(Section):
    """Where traces go: an OTLP endpoint over HTTP, on our side of the router."""

    endpoint: Annotated[str, Field(pattern=r"^https?://")]
    share: Annotated[float, Field(ge=0, le=1, strict=False)] = 1.0


class RouterSettings(Section):
    """A router as it is written."""

    listen: Address = "127.0.0.1:8080"
    admin: Address = "127.0.0.1:8081"
    table: Line | None = None
    weights_secret: Key | None = None
    permit_secret: Key | None = None
    clients: Annotated[tuple[ClientEntry, ...], Field(strict=False)] = ()
    anonymous: Limits | None = None
    upstream: Upstream = Upstream()
    limits: Bounds = Bounds()
    timeouts: Waits = Waits()
    retries: Retries = Retries()
    health: Checks = Checks()
    drain: SomeTime = 30.0
    drop_fields: Annotated[tuple[Line, ...], Field(strict=False)] = DROPPED
    tracing: Tracing | None = None

    @model_validator(mode="after")
    def _someone_may_ask(self) -> RouterSettings:
        if not self.clients and self.anonymous is None:
            raise ValueError("nobody may ask: name clients, or anonymous: {}")
        names = [client.name for client in self.clients]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"clients are named twice: {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _two_addresses(self) -> RouterSettings:
        """Keep the admin listener off the address of clients, as it must never be theirs."""
        check_apart(self.listen, self.admin)
        return self
