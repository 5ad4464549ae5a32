"""The options of one side, written once and given to both."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from denv import strictjson
from denv.errors import UsageError
from denv.records import Endpoint, Pacing, Price, Replica, Secret, Side, Timeouts

DEFAULT = Endpoint(url="")

MOST_PRICE = 1e12
"""Of a million tokens; sums of larger ones would be no numbers any more."""

REPLICA_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

SIDE_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("model", {"metavar": "M", "help": "Model name; left out: the only one that /models lists."}),
    ("key-env", {"metavar": "NAME", "help": "Environment variable that holds the key."}),
    (
        "key-file",
        {
            "metavar": "F",
            "type": click.Path(path_type=Path),
            "help": "File of mode 600 that holds the key.",
        },
    ),
    (
        "header",
        {
            "metavar": "'NAME: VALUE'",
            "multiple": True,
            "help": "Extra request header (repeatable).",
        },
    ),
    (
        "header-env",
        {
            "metavar": "NAME=VAR",
            "multiple": True,
            "help": "Extra header whose value an environment variable holds.",
        },
    ),
    (
        "extra",
        {"metavar": "JSON", "help": "Extra body fields as a JSON object, for this side alone."},
    ),
    ("name", {"metavar": "TEXT", "help": "What reports call this side."}),
    (
        "concurrency",
        {
            "metavar": "N",
            "type": click.IntRange(1),
            "help": "Requests at once (overrides --concurrency).",
        },
    ),
    ("rate", {"metavar": "N/s", "help": "Most requests a second (overrides --rate)."}),
    (
        "price",
        {
            "metavar": "IN/OUT",
            "help": "Price of a million prompt and completion tokens, as 0.14/0.28.",
        },
    ),
    (
        "replica-header",
        {"metavar": "NAME", "help": "Response header that names the replica that answered."},
    ),
    (
        "sampled",
        {
            "is_flag": True,
            "default": None,
            "help": "It samples although temperature 0 is sent (a thinking mode).",
        },
    ),
)


def side_options(side: Side) -> Callable[[F], F]:
    """Add ``--stage`` or ``--reference`` and everything that belongs to it."""

    def decorate(function: F) -> F:
        for name, settings in reversed(SIDE_OPTIONS):
            function = click.option(f"--{side}-{name}", **settings)(function)
        return click.option(
            f"--{side}", f"{side}_url", metavar="URL", help=f"Base URL of the {side}, ends in /v1."
        )(function)

    return decorate


def endpoint(side: Side, options: Mapping[str, Any]) -> Endpoint:
    """Build one side from the command line's options; keys are read here and nowhere else.

    Raises
    ------
    UsageError
        Names the option that is missing or wrong.
    """
    from denv.client.secrets import check_url
    from denv.release import parse_rate

    def of(name: str) -> Any:
        return options.get(f"{side}_{name}")

    if not of("url"):
        raise UsageError(f"--{side} URL is missing")
    rate = of("rate") or options.get("rate")
    key = _key(side, "key", env=of("key_env"), file=of("key_file"))
    permits = _key(side, "permit", env=of("permit_env"), file=of("permit_file"))
    headers = _headers(side, of("header") or (), of("header_env") or ())
    named = _names(of("header_env") or ())
    secrets = [Secret(headers[name]) for name in named] + [one for one in (key, permits) if one]
    url = read(f"--{side}", lambda url: check_url(url, secrets), of("url"))
    replicas = of("replica") or ()
    return Endpoint(
        url=url,
        model=of("model"),
        key=key,
        headers=headers,
        secret_headers=named,
        extra=_extra(side, of("extra")),
        concurrency=of("concurrency") or options.get("concurrency") or DEFAULT.concurrency,
        rate=read("--rate", parse_rate, rate) if rate else None,
        pacing=_pacing(options.get("pace"), rate),
        retries=_or(options.get("retries"), DEFAULT.retries),
        timeouts=_timeouts(options.get("timeout")),
        price=price_of_side(side, of("price")),
        replica_header=_replica_header(side, of("replica_header")),
        name=of("name"),
        sampled=bool(of("sampled")),
        replicas=_at_router(side, replicas, url)
        if permits
        else _replicas(side, replicas, key, secrets),
        permits=permits,
    )


def _pacing(given: str | None, rate: str | None) -> Pacing:
    pacing = Pacing(given or Pacing.EVEN)
    if pacing is Pacing.INTERLEAVED and not rate:
        raise UsageError("--pace interleaved needs --rate, which its gaps have on average")
    return pacing


def read(option: str, parse: Callable[[str], T], text: str) -> T:
    """Parse an option's text; the error names the option.

    Raises
    ------
    UsageError
        What the option takes.
    """
    try:
        return parse(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error}") from None


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _key(side: Side, what: str, *, env: str | None, file: Path | None) -> Secret | None:
    from denv.client.secrets import read_key_env, read_key_file

    option = f"--{side}-{what}"
    if env and file:
        raise UsageError(f"{option}-env and {option}-file exclude each other")
    if env:
        _check_variable(f"{option}-env", env)
        return read(f"{option}-env", read_key_env, env)
    return read(f"{option}-file", lambda f: read_key_file(Path(f)), str(file)) if file else None


def _check_variable(option: str, name: str) -> None:
    """Refuse a variable that is not set; a name that may be the secret itself is not shown."""
    if name in os.environ:
        return
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
        raise UsageError(f"{option}: the environment variable {name} is not set")
    raise UsageError(
        f"{option} takes the name of an environment variable, and there is none of this name"
    )


def _timeouts(total_s: float | None) -> Timeouts:
    if total_s is None:
        return Timeouts()
    if not 0 < total_s < float("inf"):
        raise UsageError(f"--timeout is {total_s:g}, it must be a number above 0")
    # An answer that is not streamed has its first byte when it is whole.
    return Timeouts(
        connect_s=min(Timeouts().connect_s, total_s), first_byte_s=total_s, total_s=total_s
    )


def _headers(side: Side, given: tuple[str, ...], from_env: tuple[str, ...]) -> dict[str, str]:
    from denv.release import carries_a_key

    headers: dict[str, str] = {}
    for text in given:
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            # What stands there may be a value, and so a secret: it is not shown.
            raise UsageError(f"--{side}-header: write it as 'NAME: VALUE'")
        if carries_a_key(name):
            raise UsageError(
                f"--{side}-header: {name.strip()} carries a key, which does not belong on the "
                f"command line: use --{side}-key-env, or --{side}-header-env {name.strip()}=VAR"
            )
        headers[name.strip()] = value.strip()
    for text in from_env:
        name, equals, variable = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--{side}-header-env: write it as NAME=VAR")
        _check_variable(f"--{side}-header-env", variable)
        headers[name.strip()] = os.environ[variable]
    return headers


def _names(from_env: tuple[str, ...]) -> frozenset[str]:
    """Give the headers whose values the environment holds: secrets, whatever they are called."""
    return frozenset(text.partition("=")[0].strip() for text in from_env)


def _replica_header(side: Side, name: str | None) -> str | None:
    from denv.release import HEADER_NAME

    if name is not None and not HEADER_NAME.fullmatch(name):
        raise UsageError(f"--{side}-replica-header: {name!r} is no name of a header")
    return name


def _replicas(
    side: Side, given: Sequence[str], key: Secret | None, secrets: Sequence[Secret]
) -> tuple[Replica, ...]:
    """Read replicas; who names them beside a key gives it for their hosts too."""
    from denv.client.secrets import check_url

    found: dict[str, Replica] = {}
    for text in given:
        name, equals, url = text.partition("=")
        option = f"--{side}-replica"
        if not equals or not REPLICA_NAME.fullmatch(name):
            raise UsageError(f"{option}: write it as NAME=URL, the name of A-Z, a-z, 0-9, . _ -")
        if name in found:
            raise UsageError(f"{option}: the name {name} stands for two replicas")
        base = read(f"{option} {name}", lambda text: check_url(text, secrets), url)
        found[name] = Replica(name, base, key)
    urls = [replica.url for replica in found.values()]
    if len(set(urls)) < len(urls):
        raise UsageError(f"--{side}-replica: two replicas have the same URL")
    return tuple(found.values())


def _at_router(side: Side, given: Sequence[str], url: str) -> tuple[Replica, ...]:
    """Read the names of replicas at a router, which alone knows where they are."""
    option = f"--{side}-replica"
    if not given:
        raise UsageError(
            f"--{side}-permit-file and --{side}-permit-env need {option} NAME: the replicas at the "
            "router that are to be asked"
        )
    for name in given:
        if not REPLICA_NAME.fullmatch(name):
            raise UsageError(
                f"{option}: with permits it is the name of a replica at the router alone, "
                "of A-Z, a-z, 0-9, . _ -"
            )
        if given.count(name) > 1:
            raise UsageError(f"{option}: the name {name} stands for two replicas")
    return tuple(Replica(name, url) for name in given)


def _extra(side: Side, text: str | None) -> Mapping[str, Any]:
    if not text:
        return {}
    try:
        extra = strictjson.loads(text)
    except strictjson.StrictJsonError as error:
        raise UsageError(f"--{side}-extra is not JSON: {error}") from None
    if not isinstance(extra, dict):
        raise UsageError(f"--{side}-extra must be a JSON object")
    return extra


def price_of_side(side: Side, text: str | None) -> Price | None:
    """Read the price of a side's tokens, written IN/OUT for a million of each.

    Raises
    ------
    UsageError
        For anything else.
    """
    if not text:
        return None
    try:
        prompt, completion = (float(part) for part in text.split("/"))
    except ValueError:
        raise UsageError(f"--{side}-price {text!r}: write it as IN/OUT, as in 0.14/0.28") from None
    if not (0 <= prompt <= MOST_PRICE and 0 <= completion <= MOST_PRICE):
        raise UsageError(f"--{side}-price {text!r}: prices are numbers from 0 to {MOST_PRICE:g}")
    return Price(prompt, completion)
