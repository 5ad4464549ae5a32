"""Delivery out of the store: at least once, fire before resolve, no sink waits for another."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from denv.alarms import Action, deliver_due, deliver_once, resend, wait_s
from denv.errors import DeliveryError
from denv.store import DeliveryState, Resolve, open_store
from tests.alarms.samples import IDENTITY, OPENED, raised

FIRE, RESOLVE = Action.FIRE, Action.RESOLVE


@dataclass
class Spy:
    """A sink in memory that refuses as often as it is told to."""

    key: str = "spy-1"
    shown: str = "spy"
    resend_s: float | None = None
    refusals: int = 0
    told: list = field(default_factory=list)
    hangs: asyncio.Event | None = None

    async def deliver(self, alarm, action):
        if self.hangs is not None:
            await self.hangs.wait()
        if self.refusals:
            self.refusals -= 1
            raise DeliveryError("no")
        self.told.append((action, alarm))

    @property
    def actions(self):
        return [action for action, _ in self.told]


@pytest.fixture
def store(tmp_path):
    opened = open_store(tmp_path)
    yield opened.alarms
    opened.close()


def clock():
    return OPENED + 5


def owing(*sinks, at=OPENED):
    return raised(at, sinks={sink.key: {} for sink in sinks})


async def test_delivered_once_and_marked(store):
    """What was delivered is marked, and is not delivered again."""
    spy = Spy()
    alarm = store.raise_alarm(owing(spy))
    await deliver_once(store, alarm, spy, clock=clock)
    await deliver_once(store, alarm, spy, clock=clock)
    assert spy.actions == [FIRE]
    (kept,) = store.deliveries(alarm.alarm)
    assert (kept.state, kept.delivered) == (DeliveryState.DELIVERED, OPENED + 5)


async def test_a_mark_that_was_lost_delivers_again(store):
    """A crash after the delivery and before its mark delivers once more: at least once."""

    class DiedError(BaseException):  # not the sink's fault, which would be one more failure
        """The process ended here."""

    class Dying(Spy):
        async def deliver(self, alarm, action):
            await super().deliver(alarm, action)
            if len(self.told) == 1:
                raise DiedError

    spy = Dying()
    alarm = store.raise_alarm(owing(spy))
    with pytest.raises(DiedError):
        await deliver_once(store, alarm, spy, clock=clock)
    await deliver_once(store, alarm, spy, clock=clock)
    assert spy.actions == [FIRE, FIRE]


async def test_a_fault_of_a_sink_is_a_failed_delivery(store):
    """A fault that nobody foresaw is marked as any other; its text, maybe a secret, is not told."""

    class Faulty(Spy):
        async def deliver(self, alarm, action):
            raise RuntimeError("s3cr3t")

    spy = Faulty()
    alarm = store.raise_alarm(owing(spy))
    with pytest.raises(DeliveryError, match=r"^internal error: RuntimeError$"):
        await deliver_once(store, alarm, spy, clock=clock)
    (owed,) = store.deliveries(alarm.alarm)
    assert (owed.attempts, owed.last_error) == (1, "internal error: RuntimeError")


async def test_fire_before_resolve_also_when_late(store):
    """An alarm that was resolved before it was delivered is fired, then resolved."""
    spy = Spy()
    store.raise_alarm(owing(spy))
    alarm = store.resolve_alarm(Resolve(IDENTITY, at=OPENED + 1))
    await deliver_once(store, alarm, spy, clock=clock)
    assert spy.actions == [FIRE, RESOLVE]


async def test_no_resolve_while_the_fire_is_not_taken(store):
    """Where the fire is refused the resolve waits; both come in their order later."""
    spy = Spy(refusals=1)
    store.raise_alarm(owing(spy))
    alarm = store.resolve_alarm(Resolve(IDENTITY, at=OPENED + 1))
    with pytest.raises(DeliveryError):
        await deliver_once(store, alarm, spy, clock=clock)
    assert spy.told == []
    fire, resolve = store.deliveries(alarm.alarm)
    assert (fire.attempts, fire.last_error, fire.next_at) == (1, "no", OPENED + 5 + wait_s(0))
    assert resolve.attempts == 0
    await deliver_once(store, alarm, spy, clock=clock)
    assert spy.actions == [FIRE, RESOLVE]


async def test_a_sink_that_hangs_or_is_down_delays_no_other(store):
    """While one sink hangs and another refuses, the third has been told."""
    release = asyncio.Event()
    spies = {
        "hangs": Spy("hangs", hangs=release),
        "down": Spy("down", refusals=9),
        "well": Spy("well"),
    }
    alarm = store.raise_alarm(raised(OPENED, sinks={key: {"which": key} for key in spies}))
    work = asyncio.ensure_future(
        deliver_due(store, clock=clock, make=lambda settings: spies[settings["which"]])
    )
    async with asyncio.timeout(10):
        while store.deliveries(alarm.alarm)[-1].state is not DeliveryState.DELIVERED:
            await asyncio.sleep(0.01)
    assert not work.done()
    assert spies["well"].actions == [FIRE]
    release.set()
    errors = {attempt.sink: attempt.error for attempt in await work}
    assert errors == {"hangs": None, "down": "no", "well": None}


async def test_only_what_is_due(store):
    """A sink that refused is left alone until its time has come."""
    spy = Spy(refusals=1)
    store.raise_alarm(owing(spy))
    now = OPENED

    async def due():
        found = await deliver_due(store, clock=lambda: now, make=lambda settings: spy)
        return [attempt.error for attempt in found]

    assert await due() == ["no"]
    assert await due() == []
    now = OPENED + wait_s(0)
    assert await due() == [None]
    assert spy.actions == [FIRE]


def test_waits_double_up_to_five_minutes():
    """5 s after the first failure, then 10, 20 … and never more than 300 s."""
    assert [wait_s(n) for n in (0, 1, 2, 5, 6, 7, 10_000)] == [5, 10, 20, 160, 300, 300, 300]


async def test_resent_while_open(store):
    """An open alarm is fired again, with its latest run; a resolved one is not."""
    spy = Spy()
    alarm = store.raise_alarm(owing(spy))
    store.raise_alarm(raised(OPENED + 9, run="run-2"))
    assert await resend(store, alarm.alarm, spy)
    assert [(action, told.run) for action, told in spy.told] == [(FIRE, "run-2")]
    store.resolve_alarm(Resolve(IDENTITY, at=OPENED + 10))
    assert not await resend(store, alarm.alarm, spy)
    assert spy.actions == [FIRE]


async def test_resolved_while_it_is_sent_again(store):
    """Where the resolve comes between look and send, the last word is the resolve."""

    class Slow(Spy):
        async def deliver(self, alarm, action):
            await super().deliver(alarm, action)
            store.resolve_alarm(Resolve(IDENTITY, at=OPENED + 10))

    spy = Slow()
    alarm = store.raise_alarm(owing(spy))
    assert not await resend(store, alarm.alarm, spy)
    assert spy.actions == [FIRE, RESOLVE]


async def test_a_reopened_alarm_is_told_from_its_first_beginning(store):
    """Raised again within ten minutes of its resolve, sinks are told of the one that began then."""
    spy = Spy()
    first = store.raise_alarm(owing(spy))
    store.resolve_alarm(Resolve(IDENTITY, at=OPENED + 60))
    second = store.raise_alarm(owing(spy, at=OPENED + 120))
    await deliver_once(store, second, spy, clock=clock)
    ((_, told),) = spy.told
    assert (told.opened, told.identity) == (OPENED, first.identity)
    assert replace(told, opened=second.opened) == second


async def test_it_says_whether_anything_was_owed(store):
    """Who sends again need not where something was told just now."""
    spy = Spy()
    alarm = store.raise_alarm(owing(spy))
    assert await deliver_once(store, alarm, spy, clock=clock)
    assert not await deliver_once(store, alarm, spy, clock=clock)


async def test_a_resolve_says_when_though_the_alarm_was_read_before_it(store):
    """Whoever read the alarm while it was open still tells when it was resolved."""
    spy = Spy()
    alarm = store.raise_alarm(owing(spy))
    store.resolve_alarm(Resolve(IDENTITY, at=OPENED + 10))
    assert await deliver_once(store, alarm, spy, clock=clock)
    assert spy.actions[-1] is RESOLVE
    assert spy.told[-1][1].resolved == OPENED + 10
