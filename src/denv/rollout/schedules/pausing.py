"""A schedule that goes on after a pause: the slots of the pause were not missed."""

from __future__ import annotations

from denv.rollout.schedules.book import alone, find
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.shots import FORM
from denv.store import Firing, SqlStore


async def go_on(store: SqlStore, schedule: str, *, now: float) -> None:
    """Take note that slots up to now need not be made up for, and end the pause.

    Raises
    ------
    UsageError
        There is no such schedule.
    """

    def write() -> bool:
        record = find(store, schedule)
        document = {"form": FORM, "note": record.paused or ""}
        firing = Firing(schedule, now, "skipped", now, document=document)
        learned = Learned.of(record).after(now)
        store.schedules.commit_firing(firing, detector=learned.to_json())
        return store.schedules.pause_schedule(schedule, note=None)

    await alone(store, schedule, write)
