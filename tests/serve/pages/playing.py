"""Rollouts for the pages: played on the real table, and written as the engine writes them."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from denv.alarms import sinks_of
from denv.records import Kind, Verdict
from denv.release import load_release
from denv.rollout import states
from denv.rollout.engine.admitting import terms_of
from denv.rollout.engine.commits import commit_of
from denv.rollout.plan import freeze, recipe_of
from denv.rollout.weights import table_of
from denv.store import RolloutRecord
from tests import suites
from tests.rollout.test_plan import RELEASE

BEGAN = 1_796_083_200.0  # 2026-12-01T00:00:00Z
PASSED = (states.Tally(kind=Kind.EXACT, passed=59, failed=0, uncounted=1),)
FAILED = (states.Tally(kind=Kind.EXACT, passed=50, failed=9, uncounted=1),)


class Played:
    """One rollout of three batches; each event comes a minute after the one before."""

    def __init__(self, store: Any, folder: Any, *, rollout: str = "chat-r8-1", text: str = RELEASE):
        suites.write(folder, suites.numbered(60))
        suites.write(folder, suites.numbered(2), "golden.jsonl")
        path = folder / f"{rollout}.yaml"
        path.write_text(text)
        release = load_release(path)
        self.store, self.rollout, self.at = store, rollout, BEGAN
        self.plan = freeze(release, recipe_of(release), data_folder=folder / "data")
        self.state = states.State(terms=terms_of(self.plan, has_incumbent=True))
        store.rollouts.create_rollout(
            RolloutRecord(
                rollout=rollout,
                stage=self.plan.stage.url,
                release=self.plan.release,
                proof=self.plan.proof_digest,
                started=BEGAN,
                plan=json.loads(self.plan.to_json()),
                state=states.state_to_json(self.state),
            )
        )

    @property
    def sinks(self):
        """The settings of the release's sinks."""
        return sinks_of(self.plan.sinks)

    @property
    def number(self) -> int:
        """The number of the action that is awaited."""
        return self.state.pending[0].number

    def tell(self, event: states.Event) -> None:
        """Let something happen, and write what is decided."""
        record = self.store.rollouts.get_rollout(self.rollout)
        step = states.next_state(self.state, event)
        self.at += 60.0
        commit = commit_of(
            record,
            self.plan,
            step=step,
            phase=self.state.phase.value,
            event=states.event_to_json(event),
            ended=step.state.ended,
            at=self.at,
        )
        assert self.store.rollouts.commit_step(self.rollout, commit)
        self.state = step.state

    def prove(self, *, tallies: Any = PASSED, verdict: Verdict = Verdict.PASS) -> None:
        """Bring a batch from its start to the end of its parity run."""
        if self.state.phase is states.Phase.PENDING:
            self.tell(states.Begin())
        batch = self.state.batch
        self.tell(states.ReplicasStarted(answers=self.number))
        self.tell(states.Healthy(answers=self.number))
        self.tell(states.GoldenPassed(answers=self.number, run=f"golden-{batch}"))
        self.tell(
            states.ParityEnded(
                answers=self.number,
                run=f"run-{batch}",
                verdict=verdict,
                proof_digest=self.plan.proof_digest,
                tallies=tallies,
                cases=() if verdict is Verdict.PASS else ("number-3", "number-7"),
            )
        )

    def bake(self) -> None:
        """Prove a batch and let it bake: its weights are set and read back."""
        self.prove()
        share = Fraction(self.state.terms.batches[self.state.batch - 1])
        table = table_of(
            self.plan.stage.url,
            share=share,
            newcomer=self.plan.party(self.state.batch),
            incumbent=None,
            version=self.state.batch,
        )
        key = f"{self.rollout}/{self.number}"
        noted = {**json.loads(table.to_json()), "set_by": key}
        self.store.rollouts.set_weights(self.plan.stage.url, noted, at=self.at)
        self.tell(states.WeightsSet(answers=self.number))

    def fail(self) -> None:
        """Prove a batch wrong, and take the release back to its verified end."""
        self.prove(tallies=FAILED, verdict=Verdict.FAIL)
        self.tell(states.WeightsRestored(answers=self.number))
        self.tell(states.IncumbentProven(answers=self.number))
        self.tell(states.ReplicasStopped(answers=self.number))

    def promote(self) -> None:
        """Let every batch bake to its end, and promote the release."""
        while self.state.phase is not states.Phase.PROMOTED:
            if self.state.phase is states.Phase.PROMOTING:
                self.tell(states.WeightsSet(answers=self.number))
                continue
            if self.state.phase is not states.Phase.BAKING:
                self.bake()
            self.tell(states.Promote(by="ann"))
