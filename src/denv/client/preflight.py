"""One small request before a run: is this an API, does it take the key, which model is it.

What cannot become right by waiting is an EndpointError. A side that cannot be reached is a
value, because it means another verdict for the stage than for the reference.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from denv.client.endpoint import EndpointClient, is_html, listing_problem
from denv.encode import encode
from denv.errors import EndpointError
from denv.records import (
    Case,
    Cause,
    Contains,
    Dialect,
    Exchange,
    FaultKind,
    Json,
    Observation,
    Problem,
    ProblemKind,
    Request,
)
from denv.strictjson import StrictJsonError, loads

MAX_TOKENS = 16
QUOTED = 200
SAMPLED_HEADER = "denv-sampled"
"""Response header of a side that samples whatever was sent: the temperature that it does it at."""
MAX_NAMED = 10

_HELLO = Case(
    id="preflight",
    index=0,
    line=0,
    fields={"messages": [{"role": "user", "content": "Hello"}]},
    check=Contains(""),
)
_UNKNOWN_MODEL = re.compile(
    r"model[_ ]not[_ ](found|exist)|model\b.{0,120}?\b(not found|not exist|does not exist|unknown)",
    re.IGNORECASE | re.DOTALL,
)
_DOWN = frozenset({ProblemKind.TRANSPORT, ProblemKind.SERVER_ERROR, ProblemKind.INCOMPLETE})
_ENGINES = ("vllm", "sglang", "llama.cpp", "llamacpp", "tgi", "ollama", "tensorrt", "lmdeploy")


@dataclass(frozen=True, slots=True)
class Preflight:
    """A side that answers.

    ``served_models`` is what ``/models`` lists, empty where it was not asked. ``server`` is the
    ``Server`` header, ``engine`` a word for the engine where headers or bodies show it.
    ``warning`` says why the small request was refused where that need not hold for the cases.
    ``sampled_at`` is the temperature that it says it samples at, whatever was sent.
    """

    model: str
    served_models: tuple[str, ...] = ()
    server: str | None = None
    engine: str | None = None
    dialect: Dialect = field(default_factory=Dialect)
    warning: str | None = None
    sampled_at: float | None = None


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A side that gave no usable answer after all retries; ``reason`` is one line."""

    reason: str
    rate_limited: bool = False


async def preflight(client: EndpointClient) -> Preflight | Unreachable:
    """Ask one small question that must be answered; before it, the model where none is named.

    Each replica is asked; an endpoint of which one cannot be reached is not reached.

    Raises
    ------
    EndpointError
        For a wrong key, path, model or URL, for a web page in the API's place, and for replicas
        that serve different models.
    """
    name = client.endpoint.name or client.base
    found: dict[str, Preflight] = {}
    for index, route in enumerate(client.routes):
        told = name if route.replica is None else f"{name}, replica {route.replica}"
        outcome = await _preflight_one(client, told, index=index)
        if isinstance(outcome, Unreachable):
            return outcome if route.replica is None else _named(outcome, route.replica)
        found[route.replica or ""] = outcome
    return _together(found, name)


def _named(outcome: Unreachable, replica: str) -> Unreachable:
    return replace(outcome, reason=f"replica {replica}: {outcome.reason}")


def _together(found: Mapping[str, Preflight], name: str) -> Preflight:
    """Make one of what the replicas showed; the dialect is the endpoint's, so the last one's."""
    *_, last = found.values()
    models = {outcome.model for outcome in found.values()}
    if len(models) > 1:
        served = ", ".join(f"{replica} {found[replica].model[:80]!r}" for replica in found)
        raise EndpointError(f"{name}: its replicas serve different models, name one: {served}")
    each = found.values()
    return Preflight(
        model=last.model,
        served_models=tuple(dict.fromkeys(m for one in each for m in one.served_models)),
        server=_joined(one.server for one in each),
        engine=_joined(one.engine for one in each),
        dialect=last.dialect,
        warning=next((one.warning for one in each if one.warning), None),
        sampled_at=max((one.sampled_at for one in each if one.sampled_at), default=None),
    )


def _joined(words: Iterable[str | None]) -> str | None:
    return ", ".join(dict.fromkeys(word for word in words if word)) or None


async def _preflight_one(
    client: EndpointClient, name: str, *, index: int
) -> Preflight | Unreachable:
    model = client.endpoint.model
    keyed = "Authorization" in client.routes[index].headers
    served: tuple[str, ...] = ()
    owner = None
    if model is None:
        listed = await client.list_models(index)
        if (gone := _unreachable(listed, listing_problem(listed))) is not None:
            return gone
        _refuse(listed, name, client, keyed=keyed)
        served, owner = _listed(listed, name)
        model = _only(served, name)

    asked_model = model

    def build(dialect: Dialect) -> Request:
        return encode(
            _HELLO, client.endpoint, model=asked_model, max_tokens=MAX_TOKENS, dialect=dialect
        )

    exchange, observation, _ = await client.ask(build, follow=False, index=index)
    if (gone := _unreachable(exchange, observation.problem)) is not None:
        return gone
    _refuse(exchange, name, client, keyed=keyed)
    if observation.problem is not None and exchange.status == 200:
        _check_shape(exchange, name, client)
    headers = dict(exchange.headers)
    return Preflight(
        model=model,
        served_models=served,
        server=headers.get("server"),
        engine=_engine(headers, owner, observation.system_fingerprint),
        dialect=client.dialect,
        warning=_warning(observation),
        sampled_at=_sampled_at(headers.get(SAMPLED_HEADER)),
    )


def _sampled_at(shown: str | None) -> float | None:
    try:
        temperature = float(shown or "")
    except ValueError:
        return None
    return temperature if 0 < temperature < math.inf else None


def _unreachable(exchange: Exchange, problem: Problem | None) -> Unreachable | None:
    if problem is None or (exchange.fault and exchange.fault.kind is FaultKind.REDIRECT):
        return None
    if problem.kind is ProblemKind.RATE_LIMITED:
        return Unreachable(f"rate-limited to every try: {problem.message}", rate_limited=True)
    if problem.cause is Cause.TEMPLATE:
        # It answers, and refuses these messages; the cases will tell what it takes.
        return None
    return Unreachable(problem.message) if problem.kind in _DOWN else None


def _refuse(exchange: Exchange, name: str, client: EndpointClient, *, keyed: bool) -> None:
    """Raise for what says that the URL, the key or the model is wrong."""
    status = exchange.status or 0
    quoted = client.masker.text(_quote(exchange.body))
    if exchange.fault is not None:
        raise EndpointError(f"{name}: {exchange.fault.message}")
    if status == 401:
        given = "wrong key" if keyed else "a key is needed"
        raise EndpointError(f"{name}: {given} (401){quoted}")
    if status == 403:
        raise EndpointError(f"{name}: the key may not do this (403){quoted}")
    if status == 404 and not is_html(exchange):
        raise EndpointError(f"{name}: unknown model or wrong path (404){quoted}")
    if is_html(exchange) and status < 500:
        raise EndpointError(f"{name}: HTML instead of an API ({status}); check the URL{quoted}")
    if status in {400, 422} and _UNKNOWN_MODEL.search(quoted):
        raise EndpointError(f"{name}: unknown model ({status}){quoted}")
    if 400 <= status < 500 and status not in {400, 413, 422}:
        raise EndpointError(f"{name}: refused ({status}){quoted}")


def _check_shape(exchange: Exchange, name: str, client: EndpointClient) -> None:
    """Raise for an answer of some other server; JSON that is no completion is left to the cases."""
    if exchange.body.lstrip()[:1] != b"{":
        kind = dict(exchange.headers).get("content-type", "no type")[:60]
        quoted = client.masker.text(_quote(exchange.body))
        raise EndpointError(f"{name}: not an API, it answers {kind!r}{quoted}")


def _quote(body: bytes) -> str:
    text = body[: 4 * QUOTED].decode("utf-8", "replace")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f": {line[:QUOTED]}" if line else ""


def _listed(exchange: Exchange, name: str) -> tuple[tuple[str, ...], str | None]:
    try:
        document: Json = loads(exchange.body)
    except StrictJsonError as error:
        raise EndpointError(f"{name}: /models is not JSON ({error}); name the model") from None
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise EndpointError(f"{name}: /models lists nothing that can be read; name the model")
    found = [e for e in entries if isinstance(e, dict) and isinstance(e.get("id"), str)]
    for entry in found:
        if not _is_text(entry["id"]):
            raise EndpointError(f"{name}: /models lists a name that is no text; name the model")
    owner = found[0].get("owned_by") if found else None
    ids = tuple(dict.fromkeys(entry["id"] for entry in found))
    return ids, owner if isinstance(owner, str) else None


def _is_text(name: str) -> bool:
    """Whether a name can be written at all: lone surrogates have no encoding."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _only(served: tuple[str, ...], name: str) -> str:
    if len(served) == 1:
        return served[0]
    if not served:
        raise EndpointError(f"{name}: /models lists no model; name one")
    named = ", ".join(repr(model[:80]) for model in served[:MAX_NAMED])
    more = f" and {len(served) - MAX_NAMED} more" if len(served) > MAX_NAMED else ""
    raise EndpointError(f"{name}: {len(served)} models are served, name one: {named}{more}")


def _engine(headers: Mapping[str, str], owner: str | None, fingerprint: str | None) -> str | None:
    shown = " ".join((headers.get("server", ""), headers.get("x-powered-by", ""), owner or ""))
    for engine in _ENGINES:
        if engine in shown.lower():
            return "llama.cpp" if engine == "llamacpp" else engine
    if fingerprint and re.fullmatch(r"b\d{3,6}-[0-9a-f]{6,}", fingerprint):
        return "llama.cpp"
    return None


def _warning(observation: Observation) -> str | None:
    problem = observation.problem
    if problem is None:
        return None
    return f"the preflight request was not answered: {problem.message}"
