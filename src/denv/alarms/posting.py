"""One POST to a sink: taken, or a reason why not that holds no secret."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from denv.client import AiohttpTransport, HttpCall, mask, read_key_env
from denv.errors import DeliveryError, UsageError
from denv.records import Secret, Timeouts

CONNECT_S = 5.0
MOST_BYTES = 64 * 1024
SHOWN = 200


async def post(
    url: str,
    body: bytes,
    *,
    timeout_s: float,
    headers: Mapping[str, str],
    secrets: Sequence[Secret] = (),
) -> None:
    """Send one call; any answer of 200 to 299 means that it was taken.

    Raises
    ------
    DeliveryError
        With the fault or the status and the beginning of the answer, secrets cut out.
    """
    try:
        transport = AiohttpTransport(url)
    except UsageError as error:
        raise DeliveryError(mask(str(error), secrets)) from None
    call = HttpCall(
        "POST",
        url,
        headers=headers,
        body=body,
        timeouts=Timeouts(min(CONNECT_S, timeout_s), timeout_s, timeout_s),
        max_bytes=MOST_BYTES,
    )
    try:
        answer = await transport.send(call)
    finally:
        await transport.close()
    if answer.status is not None and 200 <= answer.status < 300:
        return
    if answer.status is None:
        raise DeliveryError(mask(answer.fault.message if answer.fault else "no answer", secrets))
    raise DeliveryError(_refusal(answer.status, answer.body, secrets))


def _refusal(status: int, body: bytes, secrets: Sequence[Secret]) -> str:
    # Masked as a whole, then cut: half a secret is one too.
    words = " ".join(mask(body.decode("utf-8", "replace"), secrets).split())
    shown = "".join(each for each in words if each.isprintable())[:SHOWN]
    return f"answered {status}: {shown}" if shown else f"answered {status}"


def secret_of(name: str) -> Secret:
    """Read a secret from the environment when it is needed: it may have been set meanwhile.

    Raises
    ------
    DeliveryError
        Names the variable that is not set or holds no key.
    """
    try:
        return read_key_env(name)
    except UsageError as error:
        raise DeliveryError(str(error)) from None


def secret_headers(names: Mapping[str, str]) -> dict[str, Secret]:
    """Give headers, each with the value of its environment variable.

    Raises
    ------
    DeliveryError
        As :func:`secret_of`, but a value may hold spaces, as ``Bearer …`` does.
    """
    found = {}
    for header, name in names.items():
        value = os.environ.get(name, "").strip()
        if not value:
            raise DeliveryError(f"the environment variable {name} is not set")
        if not all(32 <= ord(character) <= 126 for character in value):
            raise DeliveryError(f"the environment variable {name} cannot be sent as a header")
        found[header] = Secret(value)
    return found
