"""What nobody may be shown: every secret that stands in a plan or a release."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from denv.errors import StoreError, UsageError
from denv.records import Json, Secret
from denv.release import Release
from denv.rollout.plan import Plan
from denv.rollout.sides import KeyName, replicas_of, side_of
from denv.store import AlarmRecord, SqlStore


def secrets_of(plan: Plan) -> tuple[Secret, ...]:
    """Give every secret of a plan that can be read now, for masking what commands print."""
    keys = [*plan.stage.keys, plan.reference.key, *(replica.key for replica in plan.replicas)]
    return tuple(_readable([*keys, *(KeyName(env=env) for env in _named_by(plan))]))


def secrets_of_release(release: Release) -> tuple[Secret, ...]:
    """Give the keys that a release names for its sides and replicas, as far as they can be read."""
    stage = side_of(release, release.stage)
    keys = [*stage.keys, *(replica.key for replica in replicas_of(release, stage))]
    if release.parity.reference is not None:
        keys.append(side_of(release, release.parity.reference).key)
    return tuple(_readable(keys))


def secrets_about(store: SqlStore, alarm: AlarmRecord) -> tuple[Secret, ...]:
    """Give the secrets of the rollout or schedule that raised an alarm, as far as they can be read.

    Raises
    ------
    StoreError
        The data cannot be read.
    """
    return tuple(secret for plan in _plans(store, alarm) for secret in secrets_of(plan))


def _plans(store: SqlStore, alarm: AlarmRecord) -> Iterator[Plan]:
    kept: list[Json] = []
    if alarm.rollout is not None and (rollout := store.rollouts.get_rollout(alarm.rollout)):
        kept.append(rollout.plan)
    name = alarm.details.get("schedule")
    if isinstance(name, str) and (schedule := store.schedules.get_schedule(name)):
        kept.append(schedule.plan)
    for plan in kept:
        try:
            yield Plan.from_json(json.dumps(plan))
        except StoreError:
            continue  # of another version of the program: its alarm is told all the same


def _readable(keys: Iterable[KeyName]) -> Iterator[Secret]:
    for key in keys:
        try:
            secret = key.read()
        except UsageError:
            continue  # whoever needs it says that it is missing
        if secret is not None:
            yield secret


def _named_by(plan: Plan) -> Iterable[str]:
    """Give the environment variables that weights and alarms take their secrets from."""
    hook = plan.rollout.weights.webhook if plan.rollout.weights else None
    for section in (*plan.sinks, hook):
        for name in ("secret_env", "routing_key_env", "url_env"):
            if (env := getattr(section, name, None)) is not None:
                yield env
        yield from getattr(section, "headers_env", {}).values()
