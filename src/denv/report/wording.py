"""What verdicts, outcomes and causes mean, in plain words, for every form of the report."""

from __future__ import annotations

from dataclasses import dataclass

from denv.report.model import Document
from denv.report.text import threshold


@dataclass(frozen=True, slots=True)
class Meaning:
    """One sentence on what it is, and one on where to look."""

    says: str
    look: str


VERDICTS = {
    "pass": "The stage holds every threshold against this reference.",
    "fail": "The stage does not hold its thresholds.",
    "inconclusive": "Too little could be measured to say pass or fail.",
    "error": "The comparison could not be carried out; this says nothing about the stage.",
    "cancelled": "The run was interrupted. What follows is unfinished and proves nothing.",
}

OUTCOMES = {
    "pass": "passed",
    "fail": "failed",
    "reference-fail": "the reference itself does not pass the check",
    "unmeasured": "could not be measured",
    "reference-error": "the reference gave no usable answer",
}

CAUSES = {
    "template": Meaning(
        "The server makes another prompt of the messages, or refuses them.",
        "Compare the deployed chat template with the one that is published with the weights.",
    ),
    "parser": Meaning(
        "The server left a call or the reasoning standing as text, or gave it a wrong form.",
        "Check the server's tool-call and reasoning parser: which one is set, and its version.",
    ),
    "limit": Meaning(
        "The answer was cut off before it was complete.",
        "Look at context length and output limits of the server, and of proxies before it.",
    ),
    "sampling": Meaning(
        "Tokens are drawn with other settings than the request asks for.",
        "Look for a default temperature, top-p or penalty in the server's configuration.",
    ),
    "precision": Meaning(
        "The probabilities differ by more than rounding explains.",
        "Compare the quantisation of weights, activations and key-value cache.",
    ),
    "engine": Meaning(
        "The inference engine breaks down, for instance into endless repetition.",
        "Try another engine version; switch off speculation and caches one at a time.",
    ),
    "model": Meaning(
        "The answers come from other weights.",
        "Compare the checksums of the deployed files with the published ones.",
    ),
    "contract": Meaning(
        "The response is not of the form that the Chat Completions API prescribes.",
        "Look at the raw response, and at gateways that rewrite it.",
    ),
    "availability": Meaning(
        "No usable answer came: errors, time-outs or broken connections.",
        "Read the server's log for these times; look at load, memory and time-outs.",
    ),
    "unstable": Meaning(
        "The stage answers the same request differently from one time to the next.",
        "Look for replicas that differ, for batching effects and for sampling.",
    ),
    "unknown": Meaning(
        "The answer is wrong, and one exchange cannot say why.",
        "Read the differences of the cases; repeats show whether the answer is stable.",
    ),
}


KNOWN = (
    "Ask the stage once more with a private part of another seed: one that is served alike to all "
    "passes it as the public cases."
)
"""What to do where the stage seems to know the public cases."""


def next_steps(head: Document) -> list[str]:
    """Say what a reader can do now, first things first."""
    verdict, hints = head["verdict"], head["hints"]
    if verdict == "pass":
        told = [*hints, *_not_held(head)]
        nothing = "" if told else "Nothing has to be done. "
        return [*told, f"{nothing}See below what this run cannot say."]
    if verdict == "fail":
        return [*hints, *_after_failures(head)]
    steps = {
        "inconclusive": [_too_little(head)],
        "error": ["Check the reference: address, key, model and load."],
        "cancelled": [],
    }
    return [*hints, *steps[verdict], *_resume(head)]


def _resume(head: Document) -> list[str]:
    """Advise to resume only a run that would ask something then."""
    number = head["unanswered"]
    if not number:
        return []
    asks = "the 1 case that has" if number == 1 else f"the {number:,} cases that have"
    return [f"Continue this run with --resume {head['run']}: it asks only {asks} no answer."]


def _not_held(head: Document) -> list[str]:
    """Name failures that decide nothing, their kind having no threshold."""
    return [
        f"{kind['fail']:,} of {kind['pass'] + kind['fail']:,} {name} cases fail, and that decides "
        f"nothing, since {name} has no threshold: hold it too with --pass {_held_too(head, name)}."
        for name, kind in head["kinds"].items()
        if kind["threshold"] is None and kind["fail"]
    ]


def _held_too(head: Document, name: str) -> str:
    """Give the rates that a run was held to and one more, as one ``--pass`` replaces all."""
    held = {
        each: threshold(kind["threshold"]).replace(" ", "")
        for each, kind in head["kinds"].items()
        if kind["threshold"] is not None
    }
    return ",".join(f"{each}={rate}" for each, rate in {**held, name: "95%"}.items())


def _too_little(head: Document) -> str:
    kinds = head["kinds"]
    if kinds and all(kind["threshold"] is None for kind in kinds.values()):
        rates = ",".join(f"{name}=95%" for name in kinds)
        return f"No kind has a threshold: give --pass {rates}."
    if all(kind["planned"] == kind["pass"] + kind["fail"] for kind in kinds.values()):
        return "Every case was counted, and there are too few of them: add cases to the suite."
    return "See below which cases were not counted, and why."


def _after_failures(head: Document) -> list[str]:
    gaming = head.get("gaming")
    known = [KNOWN] if gaming is not None and gaming["verdict"] == "found" else []
    steps = [
        f"{cause} ({count} {'case' if count == 1 else 'cases'}): {CAUSES[cause].look}"
        for cause, count in ranked(head)[:3]
    ]
    return [*known, *steps] or ["Read the reasons above and the requests of the stage below."]


def ranked(head: Document) -> list[tuple[str, int]]:
    """Order the causes of failed cases, the most frequent first."""
    return sorted(head["causes"].items(), key=lambda item: (-item[1], item[0]))


def sides(head: Document) -> list[tuple[str, Document]]:
    """Give both endpoints with the name of their part."""
    return [("stage", head["stage"]), ("reference", head["reference"])]
