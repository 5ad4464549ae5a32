"""The rules by which a rollout is decided: a stable name for each, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Rule(StrEnum):
    """A rule's name, as the log of decisions shows it."""

    BEGIN = "begin"
    BEGIN_OVERRIDDEN = "begin-overridden"
    REFUSED_LATCHED = "refused-latched"
    CANCELLED_UNCHANGED = "cancelled-unchanged"
    REPLICAS_STARTED = "replicas-started"
    REPLICAS_FAILED = "replicas-failed"
    HEALTHY = "healthy"
    HEALTH_FAIL = "health-fail"
    GOLDEN_PASSED = "golden-passed"
    GOLDEN_FAIL = "golden-fail"
    GOLDEN_UNPROVEN = "golden-unproven"
    GOLDEN_AGAIN = "golden-again"
    PARITY_PASS = "parity-pass"
    PARITY_FAIL = "parity-fail"
    PARITY_RETRY = "parity-retry"
    PARITY_AGAIN = "parity-again"
    HELD_ATTEMPTS = "held-attempts"
    HELD_ANSWERED = "held-answered"
    OTHER_DIGEST = "other-digest"
    DEADLINE = "deadline"
    WEIGHTS_SET = "weights-set"
    WEIGHTS_NOT_SET = "weights-not-set"
    NO_BAKE = "no-bake"
    WATCHED = "watched"
    LOOK_DUE = "look-due"
    BAKE_WAITS = "bake-waits"
    BAKE_COMPLETE = "bake-complete"
    BAKE_UNHEALTHY = "bake-unhealthy"
    WEIGHTS_CHANGED = "weights-changed"
    WEIGHTS_SET_AGAIN = "weights-set-again"
    WEIGHTS_CHANGED_AGAIN = "weights-changed-again"
    LOOK_COUNTED = "look-counted"
    LOOK_MISSED = "look-missed"
    LOOKS_FAIL = "looks-fail"
    LOOK_DOWN = "look-down"
    PROMOTED_EARLY = "promoted-early"
    PROOF_LACKING = "proof-lacking"
    PROMOTED = "promoted"
    BY_HAND = "by-hand"
    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"
    WEIGHTS_RESTORED = "weights-restored"
    NO_INCUMBENT = "no-incumbent"
    WEIGHTS_NOT_RESTORED = "weights-not-restored"
    INCUMBENT_PROVEN = "incumbent-proven"
    INCUMBENT_NOT_PROVEN = "incumbent-not-proven"
    ROLLED_BACK = "rolled-back"
    ROLLBACK_AGAIN = "rollback-again"
    IGNORED_STALE = "ignored-stale"
    IGNORED_OTHER_ANSWER = "ignored-other-answer"
    IGNORED_BEGUN = "ignored-begun"
    IGNORED_OTHER_BATCH = "ignored-other-batch"
    IGNORED_PROVEN = "ignored-proven"
    IGNORED_ROLLING_BACK = "ignored-rolling-back"
    IGNORED_OVER = "ignored-over"
    PROMOTE_UNPROVEN = "promote-unproven"
    PROMOTE_NOT_BAKING = "promote-not-baking"


MEANINGS: Mapping[Rule, str] = {
    Rule.BEGIN: "The first batch begins.",
    Rule.BEGIN_OVERRIDDEN: "A failed proof is tried again because a person said so, once.",
    Rule.REFUSED_LATCHED: "This proof has failed before and nobody has overridden it.",
    Rule.CANCELLED_UNCHANGED: "Stopped before anything was changed.",
    Rule.REPLICAS_STARTED: "The new replicas run: their health is checked.",
    Rule.REPLICAS_FAILED: "A replica did not start: `health-fail`, roll back.",
    Rule.HEALTHY: "The new replicas are healthy: golden prompts.",
    Rule.HEALTH_FAIL: "A new replica is not healthy: `health-fail`, roll back.",
    Rule.GOLDEN_PASSED: "All golden prompts passed: parity run.",
    Rule.GOLDEN_FAIL: "Golden prompts failed: `golden-fail`, roll back.",
    Rule.GOLDEN_UNPROVEN: "Golden prompts could not be decided: wait, with a growing pause.",
    Rule.GOLDEN_AGAIN: "The pause is over: golden prompts again.",
    Rule.PARITY_PASS: "Parity passed for exactly this digest: shift the weights.",
    Rule.PARITY_FAIL: (
        "Parity failed: latch the digest, `parity-fail` or `parity-gaming`, roll back."
    ),
    Rule.PARITY_RETRY: "Parity is not decided: wait, then ask what was not answered.",
    Rule.PARITY_AGAIN: "The pause is over: ask what was not answered.",
    Rule.HELD_ATTEMPTS: "Asking again has not decided it: hold, and ask at the longest pause.",
    Rule.HELD_ANSWERED: "All was answered and it is not decided: hold until the deadline.",
    Rule.OTHER_DIGEST: "The run compared something else and counts for nothing: a new run.",
    Rule.DEADLINE: "The batch's time is over without a pass: `parity-unproven`, roll back.",
    Rule.WEIGHTS_SET: "The weights read back as asked: the bake begins.",
    Rule.WEIGHTS_NOT_SET: "The weights could not be set: `health-fail`, roll back.",
    Rule.NO_BAKE: "The weights read back as asked, and nothing is to bake.",
    Rule.WATCHED: "Healthy while watched: the observed time counts.",
    Rule.LOOK_DUE: "Healthy while watched, and parity is due to be looked at.",
    Rule.BAKE_WAITS: "The bake has had its time and waits for its last look.",
    Rule.BAKE_COMPLETE: "The bake is complete: the next batch, or promotion.",
    Rule.BAKE_UNHEALTHY: "A replica became unhealthy while baking: `health-fail`, roll back.",
    Rule.WEIGHTS_CHANGED: "Others' weights read back while baking: they are set again, once.",
    Rule.WEIGHTS_SET_AGAIN: "The weights read back as asked again: the bake goes on.",
    Rule.WEIGHTS_CHANGED_AGAIN: "Others' weights read back a second time: `health-fail`, "
    "roll back.",
    Rule.LOOK_COUNTED: "The look is pooled with those before it; they decide nothing yet.",
    Rule.LOOK_MISSED: "The look counted nothing and adds nothing.",
    Rule.LOOKS_FAIL: "The pooled looks fail: latch the digest, `parity-fail`, roll back.",
    Rule.LOOK_DOWN: "The stage could not be reached for a look: `health-fail`, roll back.",
    Rule.PROMOTED_EARLY: "A person ended the bake of a proven batch.",
    Rule.PROOF_LACKING: "A batch lacks its pass: `parity-unproven`, roll back.",
    Rule.PROMOTED: "All weights read back and each batch has its pass: promoted.",
    Rule.BY_HAND: "A person wanted the release off the stage: roll back.",
    Rule.SUPERSEDED: "A newer release wants the stage: roll back, no alarm.",
    Rule.CANCELLED: "The rollout was cancelled: roll back, no alarm.",
    Rule.WEIGHTS_RESTORED: "The incumbent's weights read back: its golden prompts.",
    Rule.NO_INCUMBENT: "No traffic reads back and there is no incumbent to prove.",
    Rule.WEIGHTS_NOT_RESTORED: "The weights do not read back: `rollback-incomplete`.",
    Rule.INCUMBENT_PROVEN: "The incumbent's golden prompts passed: stop the replicas.",
    Rule.INCUMBENT_NOT_PROVEN: "The incumbent's golden prompts did not pass: "
    "`rollback-incomplete`.",
    Rule.ROLLED_BACK: "The rollback is verified and over.",
    Rule.ROLLBACK_AGAIN: "An incomplete rollback is tried again, as was asked for.",
    Rule.IGNORED_STALE: "It answers nothing that is awaited: it came late or twice.",
    Rule.IGNORED_OTHER_ANSWER: "It is no answer to the action whose number it bears.",
    Rule.IGNORED_BEGUN: "The rollout has begun already.",
    Rule.IGNORED_OTHER_BATCH: "The deadline is another batch's.",
    Rule.IGNORED_PROVEN: "The batch is proven, and the deadline is for its proof.",
    Rule.IGNORED_ROLLING_BACK: "The release is being taken back already.",
    Rule.IGNORED_OVER: "The rollout is over.",
    Rule.PROMOTE_UNPROVEN: "Refused: the batch has no pass.",
    Rule.PROMOTE_NOT_BAKING: "Refused: no bake runs that could be ended.",
}
