"""What a schedule knows between its firings, as its row keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from denv.errors import StoreError
from denv.records import Json
from denv.rollout.schedules.detecting import Detectors
from denv.rollout.schedules.glance import Memory
from denv.store import ScheduleRecord

FORM = "denv.schedule.learned/1"


@dataclass(frozen=True, slots=True)
class Learned:
    """The detectors, the sentinel's memory, and how far slots are done.

    ``escalated`` says that a sentinel has asked for a full run since the last slot: it asks for
    one only. ``done_to`` is the last slot that is done, missed or passed in a pause.
    """

    detectors: Detectors | None = None
    sentinel: Mapping[str, Memory] = field(default_factory=dict)
    escalated: bool = False
    done_to: float | None = None

    def after(self, slot: float) -> Learned:
        """Give it with all slots done up to this one, and a sentinel's word free again."""
        return replace(self, done_to=max(slot, self.done_to or slot), escalated=False)

    def to_json(self) -> dict[str, Json]:
        """Write it as strict JSON."""
        return {
            "form": FORM,
            "detectors": None if self.detectors is None else self.detectors.to_json(),
            "sentinel": dict(self.sentinel),
            "escalated": self.escalated,
            "done_to": self.done_to,
        }

    @classmethod
    def of(cls, record: ScheduleRecord) -> Learned:
        """Read it from a schedule's row; slots before that was made are none of its own.

        Raises
        ------
        StoreError
            It is not of this form.
        """
        kept = record.detector
        if not kept:
            return cls(done_to=record.created)
        if kept.get("form") != FORM:
            raise StoreError(f"what schedule {record.name} has learned is not of the form {FORM}")
        detectors = kept["detectors"]
        return cls(
            detectors=None if detectors is None else Detectors.from_json(detectors),
            sentinel=kept["sentinel"],
            escalated=kept["escalated"],
            done_to=kept["done_to"],
        )
