"""How much each side writes before it answers: the first thing to look at in a comparison.

A trace is all that stands ahead of the declared answer: the reasoning, in a field of its own or
inline, and the working in the text. A side that answers at once where the other one works is
another deployment, whatever its answers are; the figures say so before any rate of right
answers does. Answers that were cut off count with what they hold, so that lengths are not
compared where many were.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from denv.checks.text import readable_text
from denv.instruments.paired.pairing import Change, find_rise
from denv.instruments.paired.shares import Share, share
from denv.records import Json, Observation

SHORT = 10
"""Characters; under so many there is no working to speak of."""

_TAG = re.compile(r"</?[\w:|]{1,40}>|<\|?[\w:|]{1,40}\|?>|\[/?THINK\]|◁/?think▷", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Trace:
    """Characters of reasoning, of working in the text, and the server's count of all tokens."""

    reasoning: int
    working: int
    tokens: int | None = None

    @property
    def length(self) -> int:
        """All characters ahead of the answer."""
        return self.reasoning + self.working


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, quartiles and largest of some lengths; None where there is none."""

    answers: int
    median: float | None
    quartiles: tuple[float, float] | None
    longest: int | None

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON."""
        quartiles = None if self.quartiles is None else list(self.quartiles)
        return {
            "answers": self.answers,
            "median": self.median,
            "quartiles": quartiles,
            "longest": self.longest,
        }


@dataclass(frozen=True, slots=True)
class SideTraces:
    """One side's lengths, over its usable answers.

    ``short`` is the share of traces under 10 characters, ``without_reasoning`` that of
    reasonings alone.
    """

    trace: Spread
    reasoning: Spread
    tokens: Spread
    short: Share
    without_reasoning: Share

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON."""
        return {
            "characters": self.trace.document(),
            "short": self.short.document(),
            "reasoning_characters": self.reasoning.document(),
            "without_reasoning": self.without_reasoning.document(),
            "tokens": self.tokens.document(),
        }


@dataclass(frozen=True, slots=True)
class LengthChange:
    """The stage's length less the reference's on the same items: the median of it.

    The interval is that of the sign test, whose limits are differences that were seen; None
    where too few pairs allow none.
    """

    pairs: int
    median: float | None
    interval: tuple[float, float] | None

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON."""
        interval = None if self.interval is None else list(self.interval)
        return {"pairs": self.pairs, "median": self.median, "interval": interval}


@dataclass(frozen=True, slots=True)
class Traces:
    """Both sides' lengths and their difference."""

    reference: SideTraces
    stage: SideTraces
    characters: LengthChange
    tokens: LengthChange
    short_rise: Change

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON."""
        return {
            "reference": self.reference.document(),
            "stage": self.stage.document(),
            "difference": {
                "characters": self.characters.document(),
                "tokens": self.tokens.document(),
                "short_rise": self.short_rise.document(),
            },
        }

    def warnings(self) -> list[str]:
        """Say it where the stage surely answers at once more often than the reference."""
        rise = self.short_rise
        if rise.interval is None or rise.value is None or rise.interval[0] <= 0:
            return []
        said = (
            f"the stage answers without working (under {SHORT} characters of it) in "
            f"{100 * rise.value:.1f} points more of the items than the reference"
        )
        return [said]


def trace_of(answer: Observation, *, answer_at: int | None) -> Trace:
    """Measure one usable answer.

    ``answer_at`` is where in its readable text the declared answer begins, None where it
    declares none: then all of the text is working.
    """
    text = readable_text(answer) or ""
    reasoning = len((answer.reasoning or "").strip()) + _inline_length(answer, text)
    working = text if answer_at is None else text[: text.rfind("\n", 0, answer_at) + 1]
    used = None if answer.usage is None else answer.usage.completion_tokens
    return Trace(reasoning, len(working.strip()), used)


def _inline_length(answer: Observation, readable: str) -> int:
    """Count the reasoning that was left in the content, its tags apart."""
    if answer.text is None or (answer.text_after_reasoning is None and not answer.reasoning_open):
        return 0
    inline = answer.text[: len(answer.text) - len(readable)]
    return len(_TAG.sub("", inline).strip())


def compare_traces(
    pairs: Sequence[tuple[Trace | None, Trace | None]], *, confidence: float = 0.95
) -> Traces:
    """Compare the traces of both sides, the reference's first; None where there is no answer.

    Examples
    --------
    >>> pairs = [(Trace(0, 200), Trace(0, 4)), (Trace(300, 50), Trace(300, 40))]
    >>> found = compare_traces(pairs)
    >>> found.characters.median, found.reference.trace.median, found.stage.short.count
    (-103.0, 275.0, 1)
    """
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    counted = [
        (one.tokens, other.tokens)
        for one, other in both
        if one.tokens is not None and other.tokens is not None
    ]
    return Traces(
        reference=_side((one for one, _ in pairs), confidence=confidence),
        stage=_side((other for _, other in pairs), confidence=confidence),
        characters=_change([other.length - one.length for one, other in both], confidence),
        tokens=_change([other - one for one, other in counted], confidence),
        short_rise=find_rise(
            both, lambda one: one.length < SHORT, counted=lambda one: True, confidence=confidence
        ),
    )


def _side(traces: Iterable[Trace | None], *, confidence: float) -> SideTraces:
    known = [one for one in traces if one is not None]
    short = sum(one.length < SHORT for one in known)
    unreasoned = sum(one.reasoning < SHORT for one in known)
    return SideTraces(
        trace=_spread([one.length for one in known]),
        reasoning=_spread([one.reasoning for one in known]),
        tokens=_spread([one.tokens for one in known if one.tokens is not None]),
        short=share(short, len(known), confidence=confidence),
        without_reasoning=share(unreasoned, len(known), confidence=confidence),
    )


def _spread(lengths: Sequence[int]) -> Spread:
    if not lengths:
        return Spread(0, None, None, None)
    # numpy's default rule: linear between the order statistics
    import numpy as np  # noqa: PLC0415 - it costs a tenth of a second

    low, middle, high = (float(one) for one in np.quantile(lengths, (0.25, 0.5, 0.75)))
    return Spread(len(lengths), middle, (low, high), max(lengths))


def _change(differences: Sequence[int], confidence: float) -> LengthChange:
    if not differences:
        return LengthChange(0, None, None)
    from scipy.stats import quantile_test  # noqa: PLC0415 - scipy costs a second

    middle = _spread(differences).median
    found = quantile_test(differences, p=0.5).confidence_interval(confidence)
    limits = (float(found.low), float(found.high))
    return LengthChange(len(differences), middle, limits if all(map(isfinite, limits)) else None)


def trace_document(trace: Trace | None) -> Mapping[str, Json]:
    """Give an item's own lengths as strict JSON, null where there is no answer."""
    if trace is None:
        return {"reasoning_characters": None, "working_characters": None, "tokens": None}
    return {
        "reasoning_characters": trace.reasoning,
        "working_characters": trace.working,
        "tokens": trace.tokens,
    }
