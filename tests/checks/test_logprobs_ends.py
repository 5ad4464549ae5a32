"""Logprobs of two answers: where they part, and where one of them ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from denv.records import Observation, Score, TokenLogprob, TopLogprob
from tests.checks.answers import says, token, words, written
from tests.checks.closeness import EIGHT, REFERENCE, close

# ---------------------------------------------------------------- where the answers part

IT_IS = (token("It", -0.1), token(" is", -0.2))
SIX = words(-0.1, -0.2, -0.3, -0.4, -0.5, -0.6)


def forks(
    ours: tuple[float, float | None],
    theirs: tuple[float | None, float],
    head: tuple[TokenLogprob, ...] = (*SIX, *IT_IS),
) -> Score:
    """Two answers that part with Yes and No, with each side's logprobs of both."""
    yes_top = {" Yes": ours[0]} | ({} if ours[1] is None else {" No": ours[1]})
    no_top = {" No": theirs[1]} | ({} if theirs[0] is None else {" Yes": theirs[0]})
    stage = written(*head, token(" Yes", ours[0], yes_top), token(" sir", -9.0))
    reference = written(*head, token(" No", theirs[1], no_top), token(" madam", -0.1))
    return close(stage, reference)


def test_a_tie_where_the_answers_part_passes() -> None:
    """Both tokens' values agree: the texts part by rounding, and nothing after counts."""
    passed = forks((-0.69, -0.7), (-0.71, -0.68))
    assert passed.passed is True
    assert passed.warnings == ("the answers part at token 8, a numeric tie",)
    parted = dict(passed.detail["parted"])
    assert parted.pop("max") == pytest.approx(0.02)
    assert parted == {"index": 8, "stage": " Yes", "reference": " No", "agree": True}
    assert passed.detail["aligned"] == 8


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [((-0.1, -3.0), (-3.0, -0.1)), ((-0.7, -0.7), (-0.7, -0.9)), ((-0.7, -0.7), (-0.9, -0.7))],
)
@pytest.mark.parametrize("head", [(*SIX, *IT_IS), IT_IS, ()])
def test_a_preference_that_flips_fails(
    ours: tuple[float, float], theirs: tuple[float, float], head: tuple[TokenLogprob, ...]
) -> None:
    """Where one token's value differs between the sides, the answers part for a reason."""
    failed = forks(ours, theirs, head)
    assert says(failed) == (False, "unknown")
    assert failed.reason.startswith(
        f'the answers part at token {len(head)}: " Yes" instead of " No", where they differ by '
    )
    assert failed.detail["parted"]["agree"] is False


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [((-0.69, None), (None, -0.68)), ((-0.69, -0.7), (None, -0.68)), ((-0.69, None), (-0.7, -0.7))],
)
def test_an_alternative_that_is_not_reported_leaves_it_unmeasured(
    ours: tuple[float, float | None], theirs: tuple[float | None, float]
) -> None:
    """Agreement of one token of two, or of none, is not enough."""
    unmeasured = forks(ours, theirs)
    assert unmeasured.passed is None
    assert unmeasured.reason == (
        'the answers part at token 8: " Yes" instead of " No",'
        " and not every alternative is reported there"
    )


def test_one_reported_alternative_that_disagrees_fails() -> None:
    """Both tokens must agree, so one that does not decides."""
    assert forks((-0.1, -3.0), (None, -0.1)).passed is False


def test_a_tie_after_few_tokens_is_unmeasured() -> None:
    """Two tokens and a tie are too little to pass."""
    unmeasured = forks((-0.69, -0.7), (-0.71, -0.68), IT_IS)
    assert unmeasured.passed is None
    assert unmeasured.reason == (
        "only 2 tokens aligned, not the whole answer:"
        ' the answers part at token 2: " Yes" instead of " No"'
    )


def test_rounding_is_forgiven_where_the_answers_part() -> None:
    """At tolerance 0 a billionth of a nat is a tie still."""
    yes = token(" Yes", -0.7, {" Yes": -0.7, " No": -1e-9})
    no = token(" No", 0.0, {" Yes": -0.7, " No": 0.0})
    passed = close(written(*SIX, *IT_IS, yes), written(*SIX, *IT_IS, no), 0.0)
    assert passed.passed is True
    assert passed.detail["parted"]["max"] == 1e-9


def test_a_token_over_tolerance_ahead_of_the_parting_fails() -> None:
    """The shared prefix is compared whatever follows."""
    off = (*words(-0.1, -0.2, -0.3, -0.4, -0.5, -2.6), *IT_IS)
    stage = written(*off, token(" Yes", -0.1))
    failed = close(stage, written(*SIX, *IT_IS, token(" No", -0.1)))
    assert failed.passed is False
    assert failed.reason.startswith("1 of 8 tokens differ")


def test_tokens_that_begin_alike_part_too() -> None:
    """The answers part at the token that differs, not at the byte."""
    stage = written(*SIX, *IT_IS, token(" Yes", -0.7, {" Yep": -0.7}))
    reference = written(*SIX, *IT_IS, token(" Yep", -0.7, {" Yes": -0.7}))
    assert close(stage, reference).detail["parted"]["index"] == 8
    assert close(stage, reference).passed is True


def test_an_alternative_without_bytes_is_known_by_its_name() -> None:
    """Where bytes are not said, tokens are the same that are called the same."""
    bare = (TopLogprob(" No", -0.7),)
    stage = written(*SIX, *IT_IS, replace(token(" Yes", -0.7), top=bare))
    reference = written(*SIX, *IT_IS, token(" No", -0.7, {" Yes": -0.7}))
    assert close(stage, reference).passed is True


def test_alternatives_are_looked_up_by_id_where_ids_are_shared() -> None:
    """The same name under another id is another token."""
    head = tuple(replace(t, id=i) for i, t in enumerate((*SIX, *IT_IS)))

    def fork(own: str, own_id: int, other: str, other_id: int) -> Observation:
        top = (TopLogprob(f"token_id:{other_id}", -0.7, None, other_id),)
        return written(*head, replace(token(own, -0.7, token_id=own_id), top=top))

    assert close(fork(" Yes", 50, "", 51), fork(" No", 51, "", 50)).passed is True
    assert close(fork(" Yes", 50, "", 51), fork(" No", 51, "", 52)).passed is None


def test_the_sampled_token_needs_no_entry_among_the_alternatives() -> None:
    """A token's own value is its own, whatever the alternatives say."""
    stage = written(token("q", -4.0, {"a": -0.1, "b": -3.0}))
    assert close(stage, stage).passed is True
    listed = written(token("q", -4.0, {"q": -1.0}))
    assert close(listed, stage).passed is True


# ---------------------------------------------------------------- where one answer ends

END = token("<|end|>", -0.5, {"<|end|>": -0.5, "!": -1.0}, raw=b"")
MARK = token("!", -1.0, {"!": -1.0})
MARK_OR_END = replace(MARK, top=(*MARK.top, TopLogprob("<|end|>", -0.5, b"")))


def ends(*after: TokenLogprob, mark: TokenLogprob = MARK_OR_END, **fields: Any) -> list[Score]:
    """Score an answer that ends where the other goes on, as stage and as reference."""
    ended = written(*words(*EIGHT), *after, text=REFERENCE.text, **fields)
    longer = written(*words(*EIGHT), mark)
    return [close(ended, longer), close(longer, ended)]


def test_an_end_is_a_parting_with_the_end_token() -> None:
    """Where one answer ends, its end token and the other's next token are compared."""
    for passed in ends(END):
        assert passed.passed is True
        assert passed.warnings == ("the answers part at token 8, a numeric tie",)
        assert {passed.detail["parted"]["stage"], passed.detail["parted"]["reference"]} == {
            "<|end|>",
            "!",
        }


def test_an_end_that_the_other_side_does_not_see_fails() -> None:
    """A stage that stops where the reference goes on with other values fails."""
    sure = replace(END, logprob=-0.01, top=(TopLogprob("!", -5.0, b"!"),))
    for failed in ends(sure):
        assert says(failed) == (False, "unknown")


@pytest.mark.parametrize(
    ("after", "mark", "end"),
    [((), MARK_OR_END, "the end"), ((END,), MARK, '"<|end|>"')],
)
def test_an_end_that_is_not_reported_leaves_it_unmeasured(
    after: tuple[TokenLogprob, ...], mark: TokenLogprob, end: str
) -> None:
    """Without the end token, or without its value on the other side, nothing tells."""
    parted = (f'{end} instead of "!"', f'"!" instead of {end}')
    for unmeasured, both in zip(ends(*after, mark=mark), parted, strict=True):
        assert unmeasured.passed is None
        assert unmeasured.reason == (
            f"the answers part at token 8: {both}, and not every alternative is reported there"
        )


def test_an_answer_that_was_cut_did_not_end() -> None:
    """A limit is no choice of another token: what is there is compared."""
    for passed in ends(finish_reason="length"):
        assert passed.passed is True
        assert passed.warnings == ("compared up to token 8, where one side was cut",)
        assert passed.detail["parted"] is None
        assert passed.detail["whole"] is False


def test_the_other_sides_cut_does_not_excuse_an_end() -> None:
    """The side that goes on may be cut later; the one that ended has ended."""
    stage = written(*words(*EIGHT), text=REFERENCE.text, finish_reason="stop")
    longer = written(*words(*EIGHT), MARK, finish_reason="length")
    assert close(stage, longer).passed is None
