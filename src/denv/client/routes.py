"""Where an endpoint's requests go: to its one base, or in turn to its replicas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from denv.client.secrets import check_url, origin
from denv.errors import EndpointError
from denv.permits import HEADER, check_name, check_secret
from denv.records import Endpoint, Secret

SECRET_WORDS = (
    "auth", "cookie", "credential", "jwt", "key", "pass", "secret", "session", "signature", "token",
)  # fmt: skip
_OWN_HEADERS = frozenset(
    (
        "accept-encoding", "connection", "content-encoding", "content-length", "content-type",
        "expect", "host", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade", HEADER,
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Route:
    """One base URL with the headers that go there, the key's among them; ``repr`` hides them.

    ``permits`` signs the permit that each request to ``replica`` carries, where a router is there.
    """

    base: str
    replica: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    permits: Secret | None = None


def own_route(endpoint: Endpoint) -> Route:
    """Give the way to the endpoint's own URL.

    Raises
    ------
    EndpointError
        For an URL or a header that cannot be used.
    """
    base = check_url(endpoint.url, secrets_of(endpoint))
    return Route(base, headers=_headers(endpoint, endpoint.key))


def routes_of(endpoint: Endpoint) -> tuple[Route, ...]:
    """Give the ways that an endpoint's requests take in turn: its replicas, else its own URL.

    Raises
    ------
    EndpointError
        For an URL or a header that cannot be used, and for replicas that cannot be told apart.
    """
    if endpoint.permits is not None:
        return _permitted_routes(endpoint, endpoint.permits)
    if not endpoint.replicas:
        return (own_route(endpoint),)
    own = origin(check_url(endpoint.url))
    routes = []
    for replica in endpoint.replicas:
        base = check_url(replica.url, secrets_of(endpoint))
        # A key reaches only the host it was given for: a replica elsewhere has its own.
        key = replica.key or (endpoint.key if origin(base) == own else None)
        routes.append(Route(base, replica.name, _headers(endpoint, key)))
    _check_apart("name", [replica.name for replica in endpoint.replicas])
    _check_apart("URL", [route.base for route in routes])
    return tuple(routes)


def _permitted_routes(endpoint: Endpoint, permits: Secret) -> tuple[Route, ...]:
    """Give the ways through a router: one URL and key, and a permit for each replica's name."""
    own = own_route(endpoint)
    names = [replica.name for replica in endpoint.replicas]
    if not names:
        raise EndpointError(f"{own.base}: permits name replicas at the router, and none is named")
    if endpoint.replica_header is not None:
        raise EndpointError(f"{own.base}: the router names the replica in a header of its own")
    _check_apart("name", names)
    check_secret(permits.reveal().encode())
    for name in names:
        check_name(name)
    return tuple(Route(own.base, name, own.headers, permits) for name in names)


def _check_apart(what: str, values: Sequence[str]) -> None:
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise EndpointError(f"the {what} {twice} stands for two replicas")


def secrets_of(endpoint: Endpoint) -> list[Secret]:
    """Give all that no error or document may show: keys, and the values of secret headers."""
    keys = (endpoint.key, endpoint.permits, *(replica.key for replica in endpoint.replicas))
    secrets = [key for key in keys if key is not None]
    for name, value in endpoint.headers.items():
        named = name in endpoint.secret_headers
        if named or any(word in name.lower() for word in SECRET_WORDS):
            secrets += [Secret(value), Secret(value.rpartition(" ")[2])]
        if "cookie" in name.lower():
            secrets += [Secret(pair.partition("=")[2].strip()) for pair in value.split(";")]
    return secrets


def _headers(endpoint: Endpoint, key: Secret | None) -> dict[str, str]:
    """Give the headers of each request of an endpoint, the key's among them."""
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    for name, value in endpoint.headers.items():
        if name.lower() in _OWN_HEADERS:
            raise EndpointError(f"the header {name} is set by the run itself")
        if not name.isascii() or not (name + value).isprintable() or set(name) & set(" :"):
            raise EndpointError(f"the header {name!r} cannot be sent: a character is not allowed")
        if key is not None and name.lower() == "authorization":
            raise EndpointError("both a key and an Authorization header are given")
        headers[name] = value
    if key is not None:
        headers["Authorization"] = f"Bearer {key.reveal()}"
    return headers
