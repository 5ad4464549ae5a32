"""What an action that could not be carried out is answered with: never a success."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from denv.records import Verdict
from denv.rollout import states


def failing_event(action: Any, why: str) -> states.Event:
    """Give the answer to an action whose work could not be done."""
    failing = _FAILING.get(type(action))
    if failing is None:
        raise TypeError(f"{type(action).__name__} is not awaited")
    return failing(action, why)


def unproven(
    number: int, why: str, *, run: str = "", proof: str = "", unanswered: int = 1
) -> states.ParityEnded:
    """Give the answer of a parity run that decided nothing."""
    return states.ParityEnded(
        answers=number,
        run=run,
        verdict=Verdict.ERROR,
        proof_digest=proof,
        tallies=(),
        unanswered=unanswered,
        missing=why,
    )


def one_line(error: Exception) -> str:
    """Give what an error says on one line, not too long for a log."""
    return "; ".join(str(error).split("\n"))[:500]


_FAILING: Mapping[type[Any], Callable[[Any, str], states.Event]] = {
    states.StartReplicas: lambda a, why: states.ReplicasFailed(answers=a.number, why=why),
    states.CheckHealth: lambda a, why: states.Unhealthy(answers=a.number, why=why),
    states.Watch: lambda a, why: states.Unhealthy(answers=a.number, why=why),
    states.RunGolden: lambda a, why: states.GoldenUnproven(answers=a.number, why=why),
    states.RunParity: lambda a, why: unproven(a.number, why, run=a.again or ""),
    states.Look: lambda a, why: states.LookEnded(answers=a.number, run="", missing=why),
    states.SetWeights: lambda a, why: states.WeightsNotSet(answers=a.number, why=why),
    states.RestoreWeights: lambda a, why: states.WeightsNotRestored(answers=a.number, why=why),
    states.ProveIncumbent: lambda a, why: states.IncumbentNotProven(answers=a.number, why=why),
    states.StopReplicas: lambda a, why: states.ReplicasStopped(answers=a.number, why=why),
}
