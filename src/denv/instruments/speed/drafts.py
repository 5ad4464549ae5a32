"""Does a server draft as long as it is asked to? Many take the field and ignore it.

An evaluation drafts at most ``n`` tokens where ``n`` is the length asked for, so the counts that
the server tells prove a field that is ignored, whatever it answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from denv.instruments.speed.asking import DRAFT_FIELD
from denv.instruments.speed.sample import Sample

REFUSED = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Drafting:
    """What is known of a server's draft length: a word for it, and a sentence.

    The words: ``not-asked``, ``servers`` (each its own), ``settable``, ``ignored``, ``refused``,
    ``none`` (it drafts nothing), ``untold`` (it does not tell its drafts).
    """

    state: str
    says: str

    @property
    def settable(self) -> bool:
        """Whether a request may choose the length."""
        return self.state == "settable"


def drafting_of(longest: Sample, shortest: Sample, *, most: int, least: int) -> Drafting:
    """Judge two answers to one text, the first asked with ``most``, the second with ``least``."""
    for sample in (longest, shortest):
        if sample.problem is not None:
            word = "refused" if sample.status in REFUSED else "untold"
            return Drafting(word, f"{DRAFT_FIELD} was not taken: {sample.problem}")
    if longest.drafted is None or shortest.drafted is None:
        return Drafting("untold", "the server does not tell its drafts, so none can be compared")
    if not longest.drafted and not shortest.drafted:
        return Drafting("none", "the server drafted nothing")
    if exceeds(shortest, least):
        return Drafting(
            "ignored",
            f"the server ignores {DRAFT_FIELD}: asked for at most {least} a step, it drafted "
            f"{shortest.drafted} in {shortest.evaluations} steps",
        )
    if _counts(longest) == _counts(shortest):
        return Drafting(
            "ignored", f"{DRAFT_FIELD} {most} and {least} had the same drafts: nothing is set by it"
        )
    return Drafting("settable", f"{DRAFT_FIELD} sets the longest draft of a request")


def exceeds(sample: Sample, length: int) -> bool:
    """Tell that more was drafted than so long a draft in each evaluation allows.

    One evaluation is allowed for beyond those counted, as the last one may be cut short.
    """
    if sample.drafted is None or sample.evaluations is None:
        return False
    return sample.drafted > length * (sample.evaluations + 1)


def _counts(sample: Sample) -> tuple[int | None, int | None, int | None]:
    return sample.tokens, sample.drafted, sample.accepted
