"""Following a rollout: live on a terminal, a line for each decision elsewhere."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live

from denv.cli.rollview import view_of
from denv.rollout import states
from denv.rollout.documents import now_document
from denv.store import RolloutRecord, SqlStore

POLL_S = 0.5

EXIT_CODES = {
    states.Phase.PROMOTED: 0,
    states.Phase.ROLLED_BACK: 1,
    states.Phase.ROLLBACK_INCOMPLETE: 1,
    states.Phase.REFUSED: 1,
    states.Phase.CANCELLED: 130,
    states.Phase.HOLDING: 3,
}


def exit_code(store: SqlStore, record: RolloutRecord) -> int:
    """Give a command's exit code for where a rollout stands; 0 also while it is under way."""
    state = states.state_from_json(record.state)
    if state.phase is not states.Phase.ROLLED_BACK or state.cause is None:
        return EXIT_CODES.get(state.phase, 0)
    if state.cause.alarm is not None:
        return 3 if state.cause.alarm is states.AlarmKind.PARITY_UNPROVEN else 1
    # A person said that the release is no good, or it was only called off.
    events = {decision.event["type"] for decision in store.rollouts.decisions(record.rollout)}
    return 1 if "rollback" in events else 130


def show(store: SqlStore, rollout: str, *, console: Console) -> None:
    """Show a rollout once, with all its decisions."""
    console.print(view_of(now_document(store, rollout), most=10_000))


def follow(store: SqlStore, rollout: str, *, console: Console) -> int:
    """Show a rollout until it ends; give the exit code for its end."""
    if console.is_terminal:
        with Live(console=console, refresh_per_second=4) as live:
            while True:
                live.update(view_of(now_document(store, rollout)))
                if (record := _ended(store, rollout)) is not None:
                    return exit_code(store, record)
                time.sleep(POLL_S)
    shown = 0
    while True:
        record = _ended(store, rollout)
        for decision in store.rollouts.decisions(rollout, after=shown):
            shown = decision.seq
            where = f"{decision.phase} -> {decision.next_phase}"
            line = f"{decision.seq} {where} [{decision.rule}] {decision.text}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        if record is not None:
            return exit_code(store, record)
        time.sleep(POLL_S)


def _ended(store: SqlStore, rollout: str) -> RolloutRecord | None:
    """Give a rollout that goes no further by itself."""
    record = store.rollouts.get_rollout(rollout)
    if record is None:
        return None
    incomplete = record.phase == states.Phase.ROLLBACK_INCOMPLETE.value
    return record if record.ended is not None or incomplete else None
