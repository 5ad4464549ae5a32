"""A data folder with something on every page: written as the program writes it, asked of nobody."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from denv.instruments.admission import GATES_SCHEMA
from denv.publish.keys import load_signer, new_key
from denv.publish.serving import publish
from denv.rollout.schedules.detecting import Counted, Detectors
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.timing import Timing
from denv.store import (
    DeliveryAction,
    DeliveryState,
    Firing,
    MeasureRecord,
    Override,
    Raise,
    Resolve,
    RunRecord,
    ScheduleRecord,
)
from tests.instruments.speed.scripted import Machine
from tests.instruments.speed.test_report import document as speed_document
from tests.publish import samples as public
from tests.report import samples
from tests.report.pages import all_document, gates_document, tokens_document
from tests.report.test_paired import measured
from tests.rollout.test_plan import RELEASE
from tests.serve.pages.playing import BEGAN, Played

DAY = 86_400.0
NOW = datetime.fromtimestamp(BEGAN + 40 * 60, UTC)
OTHER = RELEASE.replace("release: chat-r8", "release: chat-r7").replace("8080", "8070")
FAILED = RELEASE.replace("release: chat-r8", "release: code-r3").replace("8080", "8060")


def furnish(store: Any, folder: Any) -> dict[str, str]:
    """Write some of everything; give the ids that pages are asked by."""
    ids = {"running": rollouts(store, folder)}
    for number, (name, document) in enumerate(DOCUMENTS.items()):
        ids[name] = measure(store, name, document(), started=BEGAN - 3600 * number)
    ids["speed"] = speed(store, speed_document(MACHINES), started=BEGAN - 3600 * len(DOCUMENTS))
    ids["stopped"] = "tokens-stopped"
    store.create_measure(
        MeasureRecord("tokens-stopped", "tokens", BEGAN - 9e4, "stopped", settings(), {})
    )
    ids["run"], ids["suite"] = runs(store)
    ids["publication"] = publication(store, folder)
    schedule(store, "nightly", days=30)
    schedule(store, "fresh", days=0)
    schedule(store, "resting", days=3, paused="the cluster moves house until Monday")
    alarms(store)
    ids["alarm"] = store.alarms.list_alarms(only_open=True)[0].alarm
    return ids


def settings() -> dict[str, Any]:
    """Give what a measurement was asked with."""
    return {
        "stage": {"url": "http://127.0.0.1:8080/v1", "model": "smollm2-135m-instruct"},
        "reference": {"url": "https://api.example.com/v1", "model": "smollm2"},
        "instrument": {},
    }


def measure(store: Any, name: str, document: Mapping[str, Any], *, started: float) -> str:
    """Keep a measurement that has ended."""
    measure = f"{name}-20261201-000000-{name[:3]}"
    store.create_measure(MeasureRecord(measure, name, started, "running", settings(), {}))
    whole = {**document, "measure": measure}
    store.update_measure(measure, state="finished", document=whole, finished=started + 95)
    return measure


def speed(store: Any, document: Mapping[str, Any], *, started: float) -> str:
    """Keep a speed run, which comes into the data once it has ended."""
    bench: str = document["bench"]
    asked = {"instrument": document["settings"], "stage": settings()["stage"]}
    store.create_measure(
        MeasureRecord(bench, "speed", started, "finished", asked, {}, document, started + 60)
    )
    return bench


def sentinel() -> dict[str, Any]:
    """Give a look that asks for a full run."""
    head = {k: tokens_document()[k] for k in ("denv", "stage", "reference", "started", "spent")}
    seen = {"asked": 3, "answered": 3, "passed": 2, "failed": ["number-7"], "forced_tokens": 48}
    return {
        **head,
        "schema": "denv.sentinel/1",
        "settings": {"cases": ["number-1", "number-3", "number-7"], "tokens": 2000},
        "why": ["the stage fails the golden prompt number-7, which it passed"],
        "memory": {},
        "seen": {"stage": seen, "reference": {**seen, "passed": 3, "failed": []}},
    }


DOCUMENTS: Mapping[str, Any] = {
    "gates": lambda: {"schema": GATES_SCHEMA, **gates_document()},
    "tokens": tokens_document,
    "answers": lambda: measured("answers"),
    "derivations": lambda: measured("derivations"),
    "all": all_document,
    "sentinel": sentinel,
}


MACHINES = {"stage": Machine(), "reference": Machine(evaluation_s=0.01)}


def rollouts(store: Any, folder: Any) -> str:
    """Play one that bakes its second batch, one that was promoted, and two that failed."""
    (folder / "r7").mkdir()
    Played(store, folder / "r7", rollout="chat-r7-20261130-0910", text=OTHER).promote()
    (folder / "r3").mkdir()
    failed = Played(store, folder / "r3", rollout="code-r3-20261129-1815", text=FAILED)
    failed.fail()
    store.rollouts.add_override(
        Override(failed.plan.proof_digest, "ann", "the driver was at fault, see 4711", failed.at)
    )
    (folder / "r8").mkdir()
    running = Played(store, folder / "r8", rollout="chat-r8-20261201-0000")
    running.bake()
    from denv.rollout import states  # noqa: PLC0415 - the order of what is played

    running.tell(states.Watched(answers=running.number, observed_s=60.0))
    running.tell(states.Promote(by="ann"))
    running.bake()
    running.tell(states.Watched(answers=running.number, observed_s=60.0))
    return running.rollout


def runs(store: Any) -> tuple[str, str]:
    """Keep runs of one suite: one that passed, one that failed for many causes, with private."""
    for number, report in enumerate((samples.passing(), public.with_private(samples.failing()))):
        run = f"2026113{number}-223811-ab12cd"
        suite = {**report.head["suite"], "cases": 120}
        head = {**report.head, "run": run, "suite": suite}
        started = BEGAN - DAY * (1 - number)
        identity = {"suite": suite, "stage": settings()["stage"], "release": "chat-r8"}
        kept = {"identity": identity | {"reference": settings()["reference"]}, "options": {}}
        store.create_run(RunRecord(run, started, "running", kept, {}))
        store.update_run(run, state="finished", head=head, finished=started + 219)
    return run, head["suite"]["sha256"]


def publication(store: Any, folder: Any) -> str:
    """Publish one report that is served and one that was taken back."""
    new_key(folder / "mine.key")
    found = []
    for indexed in (False, True):
        report = public.public(folder, samples.failing(), published=NOW, indexed=indexed)
        found.append(
            publish(
                report,
                store.publications,
                run="20261131-223811-ab12cd",
                place=public.PLACE,
                created=NOW.timestamp() - DAY * indexed,
                expires=None if indexed else NOW.timestamp() + 90 * DAY,
                signer=load_signer(folder / "mine.key"),
                suite=None,
            ).publication
        )
    store.publications.revoke(found[1], at=NOW.timestamp())
    return found[0]


def schedule(store: Any, name: str, *, days: int, paused: str | None = None) -> None:
    """Keep a schedule with a full run a day; in the last third the stage drifts."""
    plan = next(iter(store.rollouts.list_rollouts(active=True))).plan
    timing = Timing(
        cron="0 3 * * *", timezone="Europe/Berlin", sentinel_every_s=1800.0, cadence_s=DAY
    )
    store.schedules.add_schedule(
        ScheduleRecord(
            name, BEGAN - 31 * DAY, timing.to_json(), json.loads(json.dumps(plan)), paused
        )
    )
    detectors = Detectors.start({"threshold:exact": 0.05, "drift:stage": 0.02}, between=730.0)
    for day in range(days):
        late = day > 2 * days // 3 and days > 5
        failed = round(1.5 + math.sin(day)) + (5 if late else 0)
        detectors, _ = detectors.look({"threshold:exact": Counted(failed, 120)})
        document = _full(failed, drift=late, alarms=day == days - 1 and late)
        slot = BEGAN - DAY * (days - day)
        verdict = "fail" if failed > 6 else "pass"
        store.schedules.commit_firing(
            Firing(name, slot, "full", slot + 240, verdict, f"run-{name}-{day}", document),
            detector=Learned(detectors=detectors, done_to=slot).to_json(),
            baseline=f"run-{name}-{day}" if day == 0 else None,
        )
    if days > 5:
        _others(store, name)


def _full(failed: int, *, drift: bool, alarms: bool) -> dict[str, Any]:
    flips = {"flips": failed, "cases": 120}
    return {
        "kinds": {"exact": {"pass": 120 - failed, "fail": failed}},
        "drift": {
            "verdict": "stage" if drift else "none",
            "sentences": [
                "the stage passes 5 cases fewer than at the baseline, more than noise explains"
                if drift
                else "the stage is as it was at the baseline",
                "the reference is as it was at the baseline",
            ],
            "stage": flips,
            "reference": {"flips": 0, "cases": 120},
        },
        "floor": {"stage": {"upper": 0.02}, "reference": {"upper": 0.012}},
        "kl": 0.004 + failed / 1000,
        "alarms": {"parity-drift": "the stage has changed"} if alarms else {},
    }


def _others(store: Any, name: str) -> None:
    hour = 3600.0
    for at, kind, verdict, document in (
        (5 * hour, "sentinel", "escalate", {"why": ["the stage fails the golden prompt number-7"]}),
        (9 * hour, "missed", None, {"count": 3, "first": 1.0, "last": 2.0}),
        (11 * hour, "skipped", None, {"note": "moving house"}),
    ):
        slot = BEGAN - DAY + at
        run = f"sentinel-{name}" if kind == "sentinel" else None
        store.schedules.commit_firing(Firing(name, slot, kind, slot, verdict, run, document))


def alarms(store: Any) -> None:
    """Raise one more alarm that repeats, and one that is over; some sinks are told."""
    sinks: dict[str, dict[str, Any]] = {
        "alertmanager-3f2a9c01": {
            "alertmanager": {"url": "http://127.0.0.1:9093", "timeout": 10.0}
        },
        "pagerduty-77aa0102": {"pagerduty": {"routing-key-env": "PAGERDUTY_KEY"}},
    }
    for kind, over in (("parity-drift", False), ("parity-missed", True)):
        given = Raise(
            once=secrets.token_hex(4),
            identity=f"denv/{kind}/nightly",
            kind=kind,
            stage="http://127.0.0.1:8080/v1",
            release="chat-r8",
            summary="schedule nightly: the stage no longer answers as at the baseline",
            at=BEGAN - 600,
            details={"schedule": "nightly"},
            sinks=sinks,
        )
        alarm = store.alarms.raise_alarm(given)
        _tell(store, alarm.alarm)
        if over:
            store.alarms.resolve_alarm(Resolve(given.identity, BEGAN, by="ann: caught up"))


def _tell(store: Any, alarm: str) -> None:
    for each in store.alarms.deliveries(alarm):
        taken = each.sink.startswith("alertmanager")
        store.alarms.note_delivery(
            alarm,
            each.sink,
            action=DeliveryAction.FIRE,
            state=DeliveryState.DELIVERED if taken else DeliveryState.WAITING,
            at=BEGAN - 590,
            error=None if taken else "PAGERDUTY_KEY is not set",
            next_at=None if taken else BEGAN + 60,
        )
