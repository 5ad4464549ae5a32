"""A suite tried without any server, against the answers that lie beside it.

For each case one answer is known that must pass and one that must fail. Both go the way that real
answers go, as bytes through the normaliser and the rules of outcomes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from denv.checks import Search
from denv.encode import encode
from denv.observe import observe
from denv.outcome import Answer, decide
from denv.recipes import Answers, ScriptedMessage, completion
from denv.records import Case, CaseResult, Cause, Endpoint, Exchange, Outcome

MODEL = "rehearsal"

_NOWHERE = Endpoint(url="http://127.0.0.1/v1")


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What became of one case when it was answered rightly, and when it was answered wrongly."""

    id: str
    right: CaseResult
    wrong: CaseResult

    @property
    def problems(self) -> tuple[str, ...]:
        """Say what is not as it must be, in a sentence."""
        if self.right.outcome is not Outcome.PASS:
            return (f"the right answer does not pass: {_said(self.right)}",)
        if self.wrong.outcome is not Outcome.FAIL:
            return (f"the wrong answer does not fail: {_said(self.wrong)}",)
        return ()

    @property
    def failure(self) -> Cause | None:
        """The cause that the wrong answer's failure is put down to."""
        return self.wrong.cause


def rehearse(case: Case, answers: Answers, *, search: Search, max_tokens: int) -> Rehearsed:
    """Answer one case rightly and wrongly; the reference answers rightly both times.

    ``max_tokens`` is the limit of a case that names none.
    """
    right = _answer(case, answers.right, max_tokens=max_tokens)
    wrong = _answer(case, answers.wrong, max_tokens=max_tokens)

    def outcome(stage: Answer) -> CaseResult:
        return decide(case, stage=[stage], reference=[right], search=search)

    return Rehearsed(case.id, outcome(right), outcome(wrong))


def _answer(case: Case, message: ScriptedMessage, *, max_tokens: int) -> Answer:
    request = encode(case, _NOWHERE, model=MODEL, max_tokens=max_tokens)
    body = json.dumps(completion(message, json.loads(request.body))).encode()
    return Answer(observe(Exchange(status=200, body=body)), request.max_tokens)


def _said(result: CaseResult) -> str:
    cause = f", {result.cause}" if result.cause else ""
    reason = f": {result.reason}" if result.reason else ""
    return f"{result.outcome}{cause}{reason}"
