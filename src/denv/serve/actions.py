"""What a caller of role ``run`` may have done, from a page or by the API.

The same is asked of the engine and of the data as by the commands. What cannot be done is an
:class:`ActionError` with a sentence for the caller and the status of HTTP that says as much.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, TypeVar

from denv.errors import AlteredError, DenvError, UsageError
from denv.report.text import line
from denv.runner.ledger import stored_report
from denv.serve.context import Engine, ServeContext
from denv.store import Override, Publication, RolloutRecord, RunRecord, can_be_kept

MOST_REASON = 400
ENGINE_WAIT_S = 15.0
"""Temporal's client tries again by itself; nobody waits longer for an answer than this."""

Word = Literal["promote", "rollback", "cancel"]
T = TypeVar("T")


class ActionError(Exception):
    """An action that is not carried out; ``status`` is what an HTTP answer says of it."""

    status = 400


class NotThereError(ActionError):
    """What it is about is not there."""

    status = 404


class NotNowError(ActionError):
    """The state of what it is about forbids it."""

    status = 409


class NoEngineError(ActionError):
    """It needs the engine, which is not there or does not answer."""

    status = 503


async def say_word(
    context: ServeContext, rollout: str, word: Word, *, by: str, reason: str = ""
) -> None:
    """Tell a rollout's workflow to promote, roll back or cancel it.

    Raises
    ------
    ActionError
        There is no such rollout, it has ended, a rollback has no reason, or nothing carries it out.
    """
    record = await _rollout(context, rollout)
    if word == "rollback" or reason:
        reason = check_reason(reason)
    if record.ended is not None:
        raise NotNowError(f"rollout {record.rollout} has ended ({record.phase})")
    engine = _engine(context)
    from denv.rollout.engine import messages, orders  # noqa: PLC0415 - it needs Temporal's client

    said = messages.Word(record.rollout, by=by, reason=reason)
    await _answered(orders.say(engine.client, record, word, said))


async def override(context: ServeContext, rollout: str, *, by: str, reason: str) -> None:
    """Let what failed in a rollout be tried once more by the next start of the same release.

    Raises
    ------
    ActionError
        There is no such rollout, nothing of it failed, or it may be tried once more already.
    """
    record = await _rollout(context, rollout)
    given = Override(record.proof, by, check_reason(reason), context.now().timestamp())
    with _refused():
        await asyncio.to_thread(context.store.rollouts.add_override, given)


async def pause_schedule(context: ServeContext, name: str, *, note: str) -> None:
    """Let a schedule rest; the note says why.

    Raises
    ------
    ActionError
        There is no such schedule, or no engine; or the note is none.
    """
    await _schedule(context, name)
    note = check_reason(note)
    engine = _engine(context)
    from denv.rollout.engine import schedule_orders  # noqa: PLC0415

    await _answered(schedule_orders.pause(engine.client, context.store, name, note=note))


async def resume_schedule(context: ServeContext, name: str) -> None:
    """Let a paused schedule go on with its next slot.

    Raises
    ------
    ActionError
        There is no such schedule, it is not paused, or no engine.
    """
    await _schedule(context, name)
    engine = _engine(context)
    from denv.rollout.engine import schedule_orders  # noqa: PLC0415

    now = context.now().timestamp()
    await _answered(schedule_orders.resume(engine.client, context.store, name, now=now))


async def trigger_schedule(context: ServeContext, name: str, *, new_baseline: bool = False) -> str:
    """Ask for a full run now; give its workflow's id.

    Raises
    ------
    ActionError
        There is no such schedule, one was asked for this very second, or no engine.
    """
    await _schedule(context, name)
    engine = _engine(context)
    from denv.rollout.engine import schedule_orders  # noqa: PLC0415

    return await _answered(
        schedule_orders.trigger(
            engine.client,
            context.store,
            name,
            queue=engine.queue,
            rebase=new_baseline,
            now=context.now(),
        )
    )


async def publish_run(
    context: ServeContext,
    run: str,
    *,
    stale_days: int = 30,
    expires_s: float | None = None,
    indexed: bool = False,
    with_suite: bool = False,
) -> Publication:
    """Make a run's public report, signed by the data folder's key where there is one.

    Raises
    ------
    ActionError
        There is no such run, it has not ended, its suite or the key cannot be used, or what is
        kept of it was changed.
    """
    record = await asyncio.to_thread(ended_run, context, run)
    from denv.publish.issuing import Wanted, issue_of  # noqa: PLC0415 - what signs is slow to load

    wanted = Wanted(stale_days=stale_days, indexed=indexed, with_suite=with_suite)

    def publish() -> Publication:
        report = stored_report(context.store, record.run, record.head or {})
        now = context.now().timestamp()
        issue = issue_of(
            report, record, wanted, store=context.store, folder=context.folder, now=now
        )
        return issue.keep(context.store, expires_s=expires_s)

    with _refused():
        return await context.large.make(publish)


async def revoke_publication(context: ServeContext, publication: str) -> Publication:
    """Take a published report back; give it as it now is.

    Raises
    ------
    ActionError
        There is none of this id, or it was taken back already.
    """
    store = context.store.publications
    found = await asyncio.to_thread(store.get, publication) if can_be_kept(publication) else None
    if found is None:
        raise NotThereError(f"there is no published report {publication!r}")
    now = context.now().timestamp()
    if not await asyncio.to_thread(lambda: store.revoke(publication, at=now)):
        raise NotNowError(f"the report {publication!r} was taken back already")
    return replace(found, revoked=now)


def ended_run(context: ServeContext, run: str) -> RunRecord:
    """Give a run that has come to an end.

    Raises
    ------
    ActionError
        There is no such run, or it has not ended.
    """
    record = context.store.get_run(run) if can_be_kept(run) else None
    if record is None:
        raise NotThereError(f"there is no run {run!r}")
    if record.head is None or record.state == "running":
        raise NotNowError(f"run {record.run} has not ended")
    return record


def check_reason(text: str) -> str:
    """Give the reason for something as one line, in which what cannot be seen stands as codes.

    Raises
    ------
    ActionError
        It is empty or too long.
    """
    reason = text.strip()
    if not reason or len(reason) > MOST_REASON:
        raise ActionError(f"a text of up to {MOST_REASON} characters must say why")
    return line(reason, MOST_REASON)


async def _rollout(context: ServeContext, rollout: str) -> RolloutRecord:
    found = context.store.rollouts.get_rollout
    record = await asyncio.to_thread(found, rollout) if can_be_kept(rollout) else None
    if record is None:
        raise NotThereError(f"there is no rollout {rollout!r}")
    return record


async def _schedule(context: ServeContext, name: str) -> None:
    found = context.store.schedules.get_schedule
    if not can_be_kept(name) or await asyncio.to_thread(found, name) is None:
        raise NotThereError(f"there is no schedule {name!r}")


def _engine(context: ServeContext) -> Engine:
    if context.engine is None:
        raise NoEngineError("pages are served without an engine here: nothing can be carried out")
    return context.engine


async def _answered(order: Awaitable[T]) -> T:
    """Wait for the engine, and tell what it refuses from an engine that does not answer."""
    try:
        with _refused():
            return await asyncio.wait_for(order, ENGINE_WAIT_S)
    except TimeoutError:
        raise NoEngineError("the Temporal server does not answer") from None


@contextmanager
def _refused() -> Iterator[None]:
    """Turn what the program refuses into what a caller is told."""
    try:
        yield
    except (UsageError, AlteredError) as error:
        raise NotNowError(str(error)) from error
    except DenvError as error:
        raise NoEngineError(str(error)) from error
