"""How a release is rolled out: batches, replicas, health, bake, and what carries the weights."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from denv.release.commands import DeployCommand
from denv.release.fields import (
    Duration,
    EnvironmentName,
    HeadersFromEnvironment,
    Line,
    Section,
    Share,
    SomeTime,
    Url,
    WebUrl,
)

MAX_BATCHES = 100
MAX_REPLICAS = 1000
MAX_SHARDS = 1000
"""Beyond these a number is a slip of the keyboard."""

LOOKS_A_BAKE = 5
"""How many times parity is looked at in a bake whose ``parity-every`` is left out."""

_REPLICA_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")


def _rising(value: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    if not value or value[-1] != 1:
        raise ValueError("must end with 100%")
    if value[0] <= 0 or any(one >= next_ for one, next_ in pairwise(value)):
        raise ValueError("must rise from above 0% to 100%, each share above the one before")
    return value


def _replica_name(value: str) -> str:
    if not _REPLICA_NAME.fullmatch(value):
        raise ValueError("must be 1 to 64 of A-Z, a-z, 0-9 and . _ - (a letter or digit at ends)")
    return value


def _path(value: str) -> str:
    if not value.startswith("/") or "#" in value or not value.isascii() or " " in value:
        raise ValueError("must be a path from the host's root on, such as /health")
    if not value.isprintable():
        raise ValueError("must not hold a control character")
    return value


class RolloutReplica(Section):
    """One server of the release, and the batch (from 1) from which on it is there."""

    name: Annotated[str, AfterValidator(_replica_name)]
    url: Url
    batch: int = Field(default=1, ge=1, le=MAX_BATCHES)
    key_env: EnvironmentName | None = None
    key_file: Line | None = None

    @model_validator(mode="after")
    def _one_key(self) -> RolloutReplica:
        if self.key_env is not None and self.key_file is not None:
            raise ValueError("key-env and key-file exclude each other")
        return self


class Health(Section):
    """What a replica must answer, how often in a row, and within which time."""

    path: Annotated[str, AfterValidator(_path)] = "/health"
    status: int = Field(default=200, ge=100, le=599)
    passes: int = Field(default=3, ge=1, le=1000)
    every: SomeTime = 2.0
    timeout: SomeTime = 60.0

    @model_validator(mode="after")
    def _can_pass(self) -> Health:
        if (self.passes - 1) * self.every >= self.timeout:
            raise ValueError(
                f"{self.passes} passes, one every {self.every:g}s, do not fit into a timeout "
                f"of {self.timeout:g}s"
            )
        return self


class Backoff(Section):
    """The waits before what was not answered is asked again: doubled from first to most."""

    first: SomeTime = 10.0
    most: SomeTime = 300.0

    @model_validator(mode="after")
    def _in_order(self) -> Backoff:
        if self.first > self.most:
            raise ValueError("first must not be longer than most")
        return self


class Deploy(Section):
    """The commands that start a replica and that stop it again."""

    start: DeployCommand
    stop: DeployCommand


class Webhook(Section):
    """A receiver of the weights table; requests to it are signed with ``secret-env``'s value."""

    url: WebUrl
    secret_env: EnvironmentName
    headers_env: HeadersFromEnvironment = Field(default_factory=dict)
    timeout: SomeTime = 10.0


class Weights(Section):
    """What carries the weights to whatever routes traffic: a file, a webhook, or both."""

    file: Line | None = None
    webhook: Webhook | None = None

    @model_validator(mode="after")
    def _one_at_least(self) -> Weights:
        if self.file is None and self.webhook is None:
            raise ValueError("must name a file or a webhook")
        return self


class Rollout(Section):
    """How a release is rolled out; every key has a default."""

    batches: Annotated[
        tuple[Share, ...], Field(strict=False, max_length=MAX_BATCHES), AfterValidator(_rising)
    ] = (Fraction(1),)
    replicas: Annotated[
        tuple[RolloutReplica, ...], Field(strict=False, max_length=MAX_REPLICAS)
    ] = ()
    health: Health = Health()
    golden: Line | None = None
    bake: Duration = 600.0
    parity_every: SomeTime | None = None
    look_cases: int | None = Field(default=None, ge=1)
    deadline: SomeTime = 7200.0
    backoff: Backoff = Backoff()
    shards: int | None = Field(default=None, ge=1, le=MAX_SHARDS)
    deploy: Deploy | None = None
    weights: Weights | None = None

    @property
    def look_every_s(self) -> float | None:
        """The seconds between two parity looks of a bake; None where there are no looks."""
        if self.parity_every is not None:
            return self.parity_every
        return self.bake / LOOKS_A_BAKE if self.bake else None

    @model_validator(mode="after")
    def _looks_fit(self) -> Rollout:
        if self.parity_every is not None and self.parity_every > self.bake:
            raise ValueError(
                f"parity-every ({self.parity_every:g}s) is longer than bake ({self.bake:g}s), "
                "so parity would never be looked at"
            )
        return self

    @model_validator(mode="after")
    def _replicas_fit(self) -> Rollout:
        for what in ("name", "url"):
            counts = Counter(getattr(replica, what) for replica in self.replicas)
            twice = next((value for value, count in counts.items() if count > 1), None)
            if twice is not None:
                raise ValueError(f"replicas: the {what} {twice!r} stands twice")
        late = next((r for r in self.replicas if r.batch > len(self.batches)), None)
        if late is not None:
            raise ValueError(
                f"replicas: {late.name} comes with batch {late.batch}, "
                f"and the last one is {len(self.batches)}"
            )
        if self.replicas and all(replica.batch > 1 for replica in self.replicas):
            raise ValueError("replicas: none is there in batch 1, which would have no server")
        return self
