"""G6, logprobs: whether they are real, complete, and those of an unscaled distribution."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from denv.checks.scaling import common_factor
from denv.checks.spans import MAX_PARTS
from denv.instruments.gates.asking import TOP, Reply
from denv.instruments.gates.determinism import DRIFT_NATS
from denv.instruments.gates.model import Check, State
from denv.instruments.gates.positions import gaps, key_of, name_of, paired
from denv.instruments.gates.serving_path import LEGACY_TOP, Raw
from denv.records import Json, Side, TokenLogprob

MASS_TOLERANCE = 0.01
"""What rounding to two or three digits may add to a sum of probabilities."""

MOST_TOKENS = 300_000
"""No vocabulary is larger."""

SAME_NATS = 1e-3
_ZEROS = 0.95


def logprob_checks(
    side: Side, answers: Sequence[Reply], raw: Raw, *, drift_nats: float | None
) -> list[Check]:
    """Judge a side's logprobs by themselves, and against its raw completions.

    ``answers`` begin with those to which ``raw`` belongs. ``drift_nats`` is how far the side's
    logprobs move between equal requests.
    """
    entries = [entry for reply in answers for entry in reply.observation.logprobs or ()]
    if not entries:
        seen = next((reply for reply in answers if reply.trouble is None), None)
        why = "no answer" if seen is None else seen.observation.logprobs_absent or "no entries"
        said = f"the {side} gives no logprobs ({why})"
        names = ("logprobs-real", "logprobs-complete", "logprobs-unscaled")
        return [Check(name, State.UNKNOWN, said, side) for name in names]
    return [
        _real(side, entries),
        _complete(side, answers, entries),
        _unscaled(side, entries),
        *_against_raw(side, answers, raw, drift_nats=drift_nats),
    ]


def _real(side: Side, entries: Sequence[TokenLogprob]) -> Check:
    values = [entry.logprob for entry in entries]
    values += [top.logprob for entry in entries for top in entry.top]
    known = [value for value in values if value is not None]
    zeros = sum(entry.logprob == 0.0 for entry in entries)
    positive = sum(value > SAME_NATS for value in known)
    evidence: dict[str, Json] = {
        "values": len(values),
        "sentinels": len(values) - len(known),
        "positive": positive,
        "zero_of_chosen": zeros,
        "chosen": len(entries),
    }
    said = None
    if len(known) < len(values):
        said = (
            f"{len(values) - len(known)} of {len(values)} logprobs of the {side} are placeholders"
        )
    elif positive:
        said = f"{positive} of {len(values)} logprobs of the {side} are above 0"
    elif zeros >= _ZEROS * len(entries):
        said = f"{zeros} of {len(entries)} chosen tokens of the {side} have the logprob 0"
    state = State.PASS if said is None else State.FAIL
    said = said or f"{len(values)} logprobs of the {side} are finite and none is above 0"
    return Check("logprobs-real", state, said, side, evidence=evidence)


def _complete(side: Side, answers: Sequence[Reply], entries: Sequence[TokenLogprob]) -> Check:
    given = sorted({len(entry.top) for entry in entries})
    missing = sum(max(0, _missing(reply)) for reply in answers)
    evidence: dict[str, Json] = {"asked": TOP, "given": given, "tokens_without_entry": missing}
    said = None
    if missing:
        said = f"{missing} generated tokens of the {side} have no logprobs"
    elif len(given) > 1 or given[0] not in {TOP, LEGACY_TOP}:
        shown = ", ".join(map(str, given))
        said = f"the {side} gives {shown} alternatives where {TOP} are asked for"
    state = State.PASS if said is None else State.FAIL
    said = said or f"each token of the {side} has its {given[0]} alternatives"
    return Check("logprobs-complete", state, said, side, evidence=evidence)


def _missing(reply: Reply) -> int:
    """Count tokens without entry.

    The end token may be counted and not be listed, and llama.cpp lists the parts of a character
    as one entry, those of a character that was cut as none.
    """
    seen, counted = reply.observation, reply.completion_tokens
    if seen.problem is not None or counted is None:
        return 0
    entries = seen.logprobs or ()
    merged = sum(len(one.bytes) - 1 for one in entries if one.bytes and not one.bytes.isascii())
    cut = MAX_PARTS if seen.finish_reason == "length" else 1
    return counted - len(entries) - seen.logprobs_reasoning - merged - cut


# ---------------------------------------------------------------- scale


def mass(entry: TokenLogprob) -> float:
    """Add up the probabilities of a position's alternatives."""
    return sum(exp(min(top.logprob, 1.0)) for top in entry.top if top.logprob is not None)


def rest_missing(entry: TokenLogprob) -> float:
    """Give how much probability no token could hold.

    What the alternatives leave of 1 belongs to tokens that are not listed, none of which is
    more probable than the least of the listed.
    """
    values = [top.logprob for top in entry.top if top.logprob is not None]
    least = exp(min(*values, 1.0))
    return 1.0 - mass(entry) - least * (MOST_TOKENS - len(values))


def _unscaled(side: Side, entries: Sequence[TokenLogprob]) -> Check:
    listed = [one for one in entries if any(top.logprob is not None for top in one.top)]
    if not listed:
        said = f"the {side} gives no alternatives to add up"
        return Check("logprobs-unscaled", State.UNKNOWN, said, side)
    masses = [mass(entry) for entry in listed]
    over = [one for one in masses if one > 1 + MASS_TOLERANCE]
    under = [one for one in map(rest_missing, listed) if one > MASS_TOLERANCE]
    apart = [one for one in map(_own_gap, listed) if one > SAME_NATS]
    evidence: dict[str, Json] = {
        "positions": len(listed),
        "greatest_mass": max(masses),
        "least_mass": min(masses),
        "masses_over_1": len(over),
        "masses_too_small": len(under),
        "apart_from_own_entry": len(apart),
    }
    of = f"of {len(listed)} positions of the {side}"
    fault = None
    if over:
        fault = f"at {len(over)} {of} the probabilities sum to more than 1, up to {max(over):.3g}"
    elif under:
        fault = (
            f"at {len(under)} {of} up to {max(under):.2g} of the probability belongs to no token"
        )
    elif apart:
        fault = f"at {len(apart)} {of} the token's logprob is not that of its own entry"
    state = State.PASS if fault is None else State.FAIL
    said = fault or f"at {len(listed)} positions the {side}'s probabilities are a distribution's"
    return Check("logprobs-unscaled", state, said, side, evidence=evidence)


def _own_gap(entry: TokenLogprob) -> float:
    """Give how far a token's logprob is from its entry among the alternatives, 0 without one."""
    own = entry.logprob
    same = [top.logprob for top in entry.top if key_of(top) == key_of(entry)]
    return min((abs(own - one) for one in same if own is not None and one is not None), default=0.0)


def _against_raw(
    side: Side, answers: Sequence[Reply], raw: Raw, *, drift_nats: float | None
) -> list[Check]:
    """Compare with the values that raw completion gives at the same positions."""
    seen = [reply.observation for reply in answers]
    pairs = [
        pair
        for one, other in zip(seen, raw.answers, strict=False)
        for pair in paired(one, other, name_of)
    ]
    found = gaps(pairs, name_of)
    if not found:
        return []
    allowed, greatest = DRIFT_NATS + 2 * (drift_nats or 0.0), max(found)
    factor = common_factor(pairs, by_ids=False)
    evidence: dict[str, Json] = {
        "positions": len(pairs),
        "greatest_nats": greatest,
        "allowed_nats": allowed,
        "factor": factor,
    }
    where = f"the logprobs of the {side}'s chat"
    state = State.FAIL
    if factor is not None:
        said = f"{where} are {factor:.3g} times those of its raw completion"
    elif greatest > allowed:
        said = f"{where} are up to {greatest:.3g} nats off those of its raw completion"
    else:
        state, said = State.PASS, f"{where} are those of its raw completion"
        said += f", within {greatest:.2g} nats"
    return [Check("logprobs-raw", state, said, side, evidence=evidence)]


def factor_check(stage: Sequence[Reply], reference: Sequence[Reply]) -> Check:
    """Tell whether one side's logprobs are a fixed multiple of the other's."""
    pairs = [
        pair
        for one, other in zip(stage, reference, strict=False)
        for pair in paired(one.observation, other.observation, name_of)
        if pair[0].top and pair[1].top
    ]
    name = "logprobs-factor"
    if not pairs:
        said = "no position with logprobs of both sides can be compared"
        return Check(name, State.UNKNOWN, said, needed=False)
    factor = common_factor(pairs, by_ids=False)
    evidence: dict[str, Json] = {"positions": len(pairs), "factor": factor}
    if factor is not None:
        said = f"the stage's logprobs are {factor:.3g} times the reference's"
        return Check(name, State.FAIL, said, evidence=evidence)
    said = f"at {len(pairs)} positions neither side's logprobs are a multiple of the other's"
    return Check(name, State.PASS, said, evidence=evidence)
