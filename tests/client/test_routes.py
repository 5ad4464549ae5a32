"""What no request may be given: headers of the run's own, and URLs that hold a key."""

from __future__ import annotations

import pytest

from denv.client.routes import own_route, routes_of
from denv.errors import EndpointError
from denv.records import Endpoint, Replica, Secret
from denv.release import carries_a_key

KEY = "sk-4f9a/81c2+d7"


@pytest.mark.parametrize(
    "name",
    ["Accept-Encoding", "connection", "Expect", "Content-Length", "TE", "Upgrade", "Host"],
)
def test_headers_of_the_run_itself(name):
    """What decides how an answer is transferred is the run's own to set."""
    with pytest.raises(EndpointError, match=f"^the header {name} is set by the run itself$"):
        own_route(Endpoint("http://h/v1", headers={name: "x"}))


@pytest.mark.parametrize("written", [KEY, KEY.replace("/", "%2F").replace("+", "%2B")])
def test_a_key_in_the_path(written):
    """URLs are shown and kept, so a key in one is refused, also escaped, and not shown."""
    with pytest.raises(EndpointError, match="path holds the key itself") as caught:
        own_route(Endpoint(f"http://h/{written}/v1", key=Secret(KEY)))
    assert written not in str(caught.value)
    headers = {"X-Team": KEY}
    named = Endpoint(f"http://h/{written}/v1", headers=headers, secret_headers=frozenset(headers))
    with pytest.raises(EndpointError, match="path holds the key itself"):
        own_route(named)


def test_a_key_in_a_replicas_path():
    """A replica's URL is shown too."""
    replica = Replica("a", f"http://h/{KEY}/v1", Secret(KEY))
    with pytest.raises(EndpointError, match="path holds the key itself"):
        routes_of(Endpoint("http://h/v1", replicas=(replica,)))


def test_a_host_may_be_called_as_a_key():
    """A placeholder is often the name of the engine, and so is its host."""
    endpoint = Endpoint("http://llama-server/v1", key=Secret("llama-server"))
    assert own_route(endpoint).base == "http://llama-server/v1"


@pytest.mark.parametrize(
    "name",
    [
        "Authorization", "X-Auth-Token", "api_key", "X-Api-Key", "apikey", "X-Goog-Api-Key",
        "Ocp-Apim-Subscription-Key", "X-Secret", "X-Password", "Cookie", "X-Access-Token", "token",
        "X-JWT", "Proxy-Authorization", "X-Authorisation", "X-Client-Credential", "key",
    ],
)  # fmt: skip
def test_names_that_carry_a_key(name):
    """Names say so in many ways, in letters of any size."""
    assert carries_a_key(name)
    assert carries_a_key(name.upper())


@pytest.mark.parametrize(
    "name",
    ["X-Team", "X-Author", "X-Authority", "X-Tokenizer", "X-Max-Tokens", "Idempotency-Key",
     "X-Keyboard", "X-Monkey", "X-Session-Id", "HTTP-Referer", "X-Title"],
)  # fmt: skip
def test_names_that_only_sound_alike(name):
    """What merely holds some of the letters is a header as any other."""
    assert not carries_a_key(name)
