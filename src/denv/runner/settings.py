"""What a run is asked to do, and which of it must stay the same when it is continued."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

from denv.encode import DEFAULT_MAX_TOKENS, check_extra, dump
from denv.errors import UsageError
from denv.records import Endpoint, Json, Side, Thresholds
from denv.runner.private import PrivatePart
from denv.suite import Suite

MAX_CONCURRENCY = 1000
MAX_RETRIES = 100
MAX_REPEATS = 1000
"""Beyond these a number is a slip of the keyboard, and would cost the machine's memory."""

ONLY_TAG = b"denv.only/1\0"
HEADER_TAG = b"denv.headers/1\0"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a parity run, apart from its suite and its two sides.

    Parameters
    ----------
    thresholds
        The rates that decide; see :class:`denv.records.Thresholds`.
    max_tokens
        Sent for cases that name none.
    repeats
        How often each side is asked each case; the first answer decides.
    stream
        ``no``, ``yes``, or ``both``: tool cases are asked both ways.
    fail_fast
        Stop as soon as no outcome of the remaining cases could make the run pass.
    max_age_s
        Answers of the reference up to this old are used again; None asks always.
    offline
        Send nothing: answers of both sides come from earlier runs.
    release, engine, recipe
        What the report says was measured; names only.
    only
        The cases to ask, by their index from 0; None asks all. The report says how many of how
        many, and a run of some is no proof of the whole suite.
    private
        Cases asked among the suite's own that show whether the stage knows those; the report
        counts them apart, and shows nothing of any of them.
    options
        Anything the caller needs to continue the run without being told again; no secrets.
    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    max_tokens: int = DEFAULT_MAX_TOKENS
    repeats: int = 1
    stream: Literal["no", "yes", "both"] = "no"
    fail_fast: bool = False
    max_age_s: float | None = None
    offline: bool = False
    release: str | None = None
    engine: Mapping[str, Json] | None = None
    recipe: str | None = None
    only: Sequence[int] | None = None
    private: PrivatePart | None = None
    options: Mapping[str, Json] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse settings that mean nothing.

        Raises
        ------
        UsageError
            Names the setting and what it takes.
        """
        if not 1 <= self.repeats <= MAX_REPEATS:
            raise UsageError(f"repeats is {self.repeats}, it must be 1 to {MAX_REPEATS}")
        if self.max_tokens < 1:
            raise UsageError(f"max-tokens is {self.max_tokens}, it must be at least 1")
        if self.stream not in {"no", "yes", "both"}:
            raise UsageError(f"stream is {self.stream!r}, it must be no, yes or both")
        if self.max_age_s is not None and not 0 <= self.max_age_s < inf:
            raise UsageError(f"max-age is {self.max_age_s:g} s, it must be a number from 0 on")


def check_spread(settings: Settings, *, suite: Suite, stage: Endpoint) -> None:
    """Refuse drawn cases that the suite has not, fewer cases than replicas, an odd private part.

    Raises
    ------
    UsageError
        Names what does not fit.
    """
    only = settings.only
    if settings.private is not None:
        settings.private.check(suite)
    if only is not None:
        if not only or len(set(only)) < len(only):
            raise UsageError("the cases to ask must be at least one, each named once")
        if not 0 <= min(only) <= max(only) < suite.cases:
            raise UsageError(f"cases to ask are named from 0 to {suite.cases - 1}")
    elif 0 < suite.cases < len(stage.replicas):
        raise UsageError(
            f"{suite.cases} cases cannot reach all {len(stage.replicas)} replicas of the stage"
        )


def check_endpoint(endpoint: Endpoint, side: Side) -> None:
    """Refuse an endpoint's numbers and extra fields that cannot be used.

    Raises
    ------
    UsageError
        Names the side and the setting.
    """
    check_extra(endpoint.extra, what=side.value)
    if not 1 <= endpoint.concurrency <= MAX_CONCURRENCY:
        raise UsageError(
            f"{side}: concurrency is {endpoint.concurrency}, it must be 1 to {MAX_CONCURRENCY}"
        )
    if endpoint.rate is not None and not 0 < endpoint.rate < inf:
        raise UsageError(f"{side}: rate is {endpoint.rate}, it must be a number above 0")
    limits = endpoint.timeouts
    if not all(0 < s < inf for s in (limits.connect_s, limits.first_byte_s, limits.total_s)):
        raise UsageError(f"{side}: each time-out must be a number of seconds above 0")
    price = endpoint.price
    if price is not None and not all(
        0 <= each < inf for each in (price.prompt_per_million, price.completion_per_million)
    ):
        raise UsageError(f"{side}: prices are numbers from 0 on")
    if not 0 <= endpoint.retries <= MAX_RETRIES:
        raise UsageError(f"{side}: retries is {endpoint.retries}, it must be 0 to {MAX_RETRIES}")


def identity(
    settings: Settings,
    *,
    suite: Suite,
    stage: Endpoint,
    reference: Endpoint,
) -> dict[str, Any]:
    """Give all that must be the same for a run to be continued, as strict JSON without secrets."""
    thresholds = settings.thresholds
    given = {
        "suite": {"name": suite.name, "sha256": suite.sha256, "cases": suite.cases},
        "stage": endpoint_identity(stage),
        "reference": endpoint_identity(reference),
        "pass": {kind.value: str(rate) for kind, rate in sorted(thresholds.rates.items())},
        "coverage": str(thresholds.coverage),
        "max_retried": str(thresholds.max_retried),
        "confidence": None if thresholds.confidence is None else str(thresholds.confidence),
        "max_tokens": settings.max_tokens,
        "repeats": settings.repeats,
        "stream": settings.stream,
        "release": settings.release,
        "recipe": settings.recipe,
    }
    if settings.only is not None:  # runs of before there were any have no such entry
        given["only"] = hashlib.sha256(ONLY_TAG + dump(sorted(settings.only))).hexdigest()
    if settings.private is not None:
        given["private"] = settings.private.identity
    return given


def endpoint_identity(endpoint: Endpoint) -> dict[str, Any]:
    """Give what must be the same of one side, as strict JSON without secrets."""
    given: dict[str, Any] = {
        "url": endpoint.url,
        "model": endpoint.model,
        "extra": dict(endpoint.extra),
        "headers": headers_digest(endpoint.headers),
        "sampled": endpoint.sampled,
    }
    if endpoint.replicas:  # runs of before there were any have no such entry
        given["replicas"] = [[replica.name, replica.url] for replica in endpoint.replicas]
    if endpoint.permits is not None:
        given["path"] = "router"
    return given


def headers_digest(headers: Mapping[str, str]) -> str | None:
    """Hash extra headers, whose values may be secrets, so that a change is seen."""
    if not headers:
        return None
    return hashlib.sha256(HEADER_TAG + dump(sorted(headers.items()))).hexdigest()


def differences(stored: Mapping[str, Json], given: Mapping[str, Json]) -> list[str]:
    """Name what differs between two identities, as dotted paths."""
    found = []
    for key in sorted(set(stored) | set(given)):
        ours, theirs = stored.get(key), given.get(key)
        if isinstance(ours, dict) and isinstance(theirs, dict) and key != "extra":
            found += [f"{key}.{inner}" for inner in differences(ours, theirs)]
        elif ours != theirs:
            found.append(key)
    return found
