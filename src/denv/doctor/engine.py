"""What carries out rollouts, schedules and alarms: a running ``denv serve``, and Temporal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denv.client import AiohttpTransport, HttpCall
from denv.doctor.finding import Finding, fault, note, ok, warning
from denv.errors import DenvError, StoreError, UsageError
from denv.records import Timeouts
from denv.report.text import line
from denv.rollout.engine.address import Serving, find_serving
from denv.rollout.engine.extra import HOW_TO_INSTALL
from denv.store.looking import store_as_it_is

if TYPE_CHECKING:  # Temporal's client is an extra
    from denv.rollout.engine.connection import Connection

CONNECT_S = 5.0
ANSWER_S = 10.0
MOST_BYTES = 64 * 1024


async def examine_engine(folder: Path, given: Connection | None) -> AsyncIterator[Finding]:
    """Look for who serves the folder, and for the Temporal server that is ``given`` or its own."""
    serving = find_serving(folder)
    if serving is None:
        yield _nobody(folder)
    else:
        yield await _serve(serving)
    if given is not None:
        yield await _temporal(given)
    elif serving is not None:
        if find_spec("temporalio") is None:
            yield warning("temporal", "its client is not installed here", HOW_TO_INSTALL)
            return
        from denv.rollout.engine.connection import Connection  # noqa: PLC0415 - an extra

        yield await _temporal(Connection(serving.temporal, serving.namespace))


def _nobody(folder: Path) -> Finding:
    text = "none works on this folder"
    waiting = _waiting(folder)
    if waiting:
        return warning("serve", f"{text}, and one is needed for {waiting}", "denv serve")
    return note("serve", text, "denv serve, where rollouts and schedules are wanted")


def _waiting(folder: Path) -> str:
    """Say what stands still without a server; nothing where the data cannot be read."""
    try:
        with store_as_it_is(folder) as store:
            if store is None:
                return ""
            rollouts = len(store.rollouts.list_rollouts(active=True))
            schedules = sum(each.paused is None for each in store.schedules.list_schedules())
    except (StoreError, UsageError):
        return ""  # told as the database's own fault
    counts = {"rollout": rollouts, "schedule": schedules}
    return " and ".join(
        f"{count} {what}{'s' if count > 1 else ''}" for what, count in counts.items() if count
    )


async def _serve(serving: Serving) -> Finding:
    where = f"{serving.pages} (process {serving.pid})"
    advice = "see its log; it may be started again at any time"
    try:
        transport = AiohttpTransport(serving.pages)
    except UsageError as error:
        return fault("serve", f"{where}: {error}", "correct the variable, or unset it")
    call = HttpCall(
        "GET",
        f"{serving.pages}/health",
        timeouts=Timeouts(CONNECT_S, ANSWER_S, ANSWER_S),
        max_bytes=MOST_BYTES,
    )
    try:
        answer = await transport.send(call)
    finally:
        await transport.close()
    if answer.fault is not None:
        return fault("serve", f"{where} does not answer: {line(answer.fault.message)}", advice)
    ill = _ill(answer.body)
    if answer.status == 200 and not ill:
        return ok("serve", f"{where} is well")
    told = f"ill: {', '.join(ill)}" if ill else f"/health is answered {answer.status}"
    return fault("serve", f"{where}: {told}", advice)


def _ill(body: bytes) -> list[str]:
    """Name the parts that are not well."""
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return []
    parts = document.get("parts") if isinstance(document, dict) else None
    if not isinstance(parts, Mapping):
        return []
    return [line(name, 40) for name, well in parts.items() if well is not True]


async def _temporal(connection: Connection) -> Finding:
    from denv.rollout.engine.connection import connect  # noqa: PLC0415 - an extra

    try:
        await connect(connection, timeout_s=CONNECT_S)
    except DenvError as error:
        advice = "see that it runs, and to address, namespace, certificates and key"
        return fault("temporal", str(error), advice)
    return ok("temporal", f"{connection.address} answers, namespace {connection.namespace!r}")
