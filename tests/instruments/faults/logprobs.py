"""Faults in how logprobs are read and compared."""

from __future__ import annotations

from denv.checks import (
    alignment,
    logprobs_close,
)
from denv.checks.spans import Located, Placed
from denv.observe.logprobs import _Reader
from denv.records import Score
from tests.instruments.faults.seams import ALL, OUT, setting


def zipped(stage, reference, *, by_ids):
    """Pair tokens by their index."""
    del by_ids
    both = list(zip(stage.tokens, reference.tokens, strict=False))
    pairs = tuple(alignment.Pair(i, a.token, b.token) for i, (a, b) in enumerate(both))
    return alignment.Alignment(pairs, 0, alignment.End.WHOLE, len(both), len(both))


def everything_listed(tokens, given, *, by_id=None):
    """Take every listed token for one of the text."""
    del by_id
    spots = tuple(Placed(token, token.bytes, None, None) for token in tokens)
    encoded = given.encode("utf-8", "surrogatepass")
    return Located(encoded, spots, 0, (), len(encoded))


def mean_over(self) -> int:
    """Hold the mean of the differences to the tolerance."""
    deltas = [delta for delta, _ in self.deltas]
    return int(sum(deltas) / len(deltas) > self.tolerance) if deltas else 0


def unreadable_but_zero(m):
    """Take zeros for values."""
    real = logprobs_close._unreadable

    def fault(seen):
        found = real(seen)
        return None if found and found.endswith("every value is 0") else found

    m.setattr(logprobs_close, "_unreadable", fault)


def null_as_zero(m):
    """Take null for 0."""
    real = _Reader._value
    m.setattr(_Reader, "_value", lambda self, v: 0.0 if v is None else real(self, v))


def absent_passes(m):
    """Pass what cannot be compared."""
    real = logprobs_close.score_logprobs

    def scored(check, answer, reference):
        found = real(check, answer, reference)
        return Score(True) if found.passed is None else found

    m.setattr("denv.checks.score_logprobs", scored)


FAULTS = {
    "logprobs are paired by index": (
        lambda m: (
            m.setattr(logprobs_close, "align", zipped),
            m.setattr(logprobs_close, "locate", everything_listed),
        ),
        OUT, "logprobs-leading-tokens logprobs-reasoning-listed logprobs-retokenised-start",
    ),
    "-9999 is a number": (
        lambda m: m.setattr("denv.observe.logprobs.SENTINEL", float("-inf")), ALL,
        "logprobs-sentinels logprobs-sentinel-one observe-logprobs-sentinel",
    ),
    "zeros are values": (
        unreadable_but_zero, OUT, "logprobs-zeros logprobs-zeros-both logprobs-zeros-integer",
    ),
    "null is 0": (null_as_zero, ALL, "observe-logprobs-null logprobs-null-certain"),
    "what cannot be compared passes": (
        absent_passes, OUT, "logprobs-absent-field logprobs-sentinels-both logprobs-too-few",
    ),
    "the mean is held to the tolerance": (
        setting(logprobs_close._Comparison, "over", property(mean_over)), OUT,
        "logprobs-beyond logprobs-repeated-words-differ",
    ),
    "less than the tolerance is asked": (
        setting(logprobs_close, "SLACK", -1e-6), OUT,
        "logprobs-at-tolerance logprobs-zero-tolerance",
    ),
    "scaled values are compared": (
        setting(logprobs_close, "common_factor", lambda *_a, **_k: None), OUT,
        "logprobs-scaled logprobs-scaled-reference",
    ),
    "where texts part nothing is compared": (
        setting(logprobs_close, "find_parting", lambda *_a, **_k: None), OUT,
        "logprobs-tie-flip logprobs-parting-unreported logprobs-ends-early",
    ),
    "few tokens are enough": (setting(logprobs_close, "MIN_ALIGNED", 1), OUT, "logprobs-too-few"),
    "few values are enough": (
        setting(logprobs_close, "MIN_MEASURED", 0.0), OUT, "logprobs-nan",
    ),
    "ids are not looked at": (
        setting(logprobs_close, "shared_ids", lambda *_a: None), OUT, "logprobs-token-id-text",
    ),
    "ids of any tokenizer are compared": (
        setting(logprobs_close, "shared_ids", lambda ours, _theirs: {} if ours else None), OUT,
        "logprobs-ids-of-two-tokenizers",
    ),
    "bytes of half characters are text": (
        lambda m: m.setattr("denv.observe.logprobs._bytes_of_text", str.encode), ALL,
        "logprobs-character-openai-no-bytes observe-logprobs-escapes",
    ),
}  # fmt: skip
