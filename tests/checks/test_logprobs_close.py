"""Logprobs of two answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.checks import score
from denv.records import LogprobsClose, Observation, Score, TokenLogprob, TopLogprob
from tests.checks.answers import said, says, search, token, words, written

EIGHT = (-0.1, -0.2, -0.3, -0.4, -0.5, -0.6, -0.7, -0.8)


def close(stage: Observation, reference: Observation | None, tolerance: float = 0.15) -> Score:
    return score(LogprobsClose(tolerance), stage, reference=reference, search=search)


def moved(*by: float) -> tuple[TokenLogprob, ...]:
    """Give the eight tokens with some of their values moved."""
    shifts = by + (0.0,) * (len(EIGHT) - len(by))
    return words(*(value + shift for value, shift in zip(EIGHT, shifts, strict=True)))


REFERENCE = written(*words(*EIGHT))

# ---------------------------------------------------------------- values


def test_equal_values_pass_with_their_figures() -> None:
    """Every aligned token within tolerance passes; the figures are kept."""
    passed = close(written(*moved(0.1, -0.05)), REFERENCE)
    assert (passed.passed, passed.reason, passed.cause, passed.warnings) == (True, "", None, ())
    figures = dict(passed.detail)
    assert figures.pop("max") == pytest.approx(0.1)
    assert figures.pop("median") == pytest.approx(0.0)
    assert figures.pop("p99") == pytest.approx(0.1)
    worst = figures.pop("worst")
    assert worst == {"index": 0, "token": " w0", "stage": pytest.approx(0.0), "reference": -0.1}
    assert figures == {
        "aligned": 8,
        "aligned_by": "bytes",
        "whole": True,
        "skipped": 0,
        "without_value": 0,
        "set_aside": {"stage": 0, "reference": 0},
        "end_tokens": {"stage": 0, "reference": 0},
        "parted": None,
        "share_over": 0.0,
    }


def test_one_token_over_tolerance_fails() -> None:
    """A single token decides, and is named."""
    failed = close(written(*moved(0.0, -0.4, 0.2)), REFERENCE)
    assert says(failed) == (False, "unknown")
    assert failed.reason == (
        '2 of 8 tokens differ by more than 0.15 nats, at most by 0.4 at token 1 " w1"'
    )
    assert failed.detail["share_over"] == 0.25
    assert failed.detail["worst"]["index"] == 1
    assert failed.warnings == ()


@pytest.mark.parametrize(
    ("stage", "reference", "tolerance", "passes"),
    [
        (-0.31, -0.26, 0.05, True),
        (-0.26, -0.31, 0.05, True),
        (-0.3, -0.1, 0.2, True),
        (-0.2501, -0.2, 0.05, False),
        (-0.2, -0.2501, 0.05, False),
        (-0.2, -0.2, 0.0, True),
        (-0.2, -0.200001, 0.0, False),
    ],
)
def test_the_tolerance_is_inclusive(
    stage: float, reference: float, tolerance: float, passes: bool
) -> None:
    """A difference equal to the tolerance passes, rounding of floats forgiven."""
    assert close(written(token("x", stage)), written(token("x", reference)), tolerance).passed is (
        passes
    )


def test_a_few_jumps_among_close_tokens_are_said() -> None:
    """Jumps of nats among close tokens show in the reason, and the cause stays unknown."""
    failed = close(
        written(*words(-0.11, -6.3, -9.7, -8.1)), written(*words(-0.1, -0.2, -0.3, -0.4))
    )
    assert says(failed) == (False, "unknown")
    assert failed.reason == (
        '3 of 4 tokens differ by more than 0.15 nats, at most by 9.4 at token 2 " w2"'
        "; these jump while the others are close, as a fault of the engine shows"
    )
    assert failed.detail["median"] == pytest.approx(6.9)
    assert failed.detail["p99"] == pytest.approx(9.4)
    assert failed.detail["share_over"] == 0.75


@pytest.mark.parametrize("by", [(-0.2, -3.0), (-0.9,), (-2.0,) * 8])
def test_shifts_that_are_no_lone_jumps_are_not_called_such(by: tuple[float, ...]) -> None:
    """A shift in between, a small one, or one of all tokens is no local fault."""
    assert "jump" not in close(written(*moved(*by)), REFERENCE).reason


def test_a_jump_is_held_against_the_tolerance_too() -> None:
    """With a wide tolerance a jump is ten times that."""
    assert "jump" not in close(written(*moved(-2.0)), REFERENCE, 0.5).reason
    assert "jump" in close(written(*moved(-5.5)), REFERENCE, 0.5).reason
    assert "jump" in close(written(*moved(-1.5)), REFERENCE, 0.15).reason
    assert "jump" in close(written(*moved(-1.0)), REFERENCE, 0.1).reason


def test_rounding_is_no_lone_jump_and_hides_none() -> None:
    """A difference that is forgiven as rounding, or none at all, is close, at tolerance 0 too."""
    reference = written(*words(0.0, *EIGHT))
    stage = written(*words(-1e-9, *EIGHT[:-1], EIGHT[-1] - 2))
    assert close(stage, reference, 0.0).reason == (
        '1 of 9 tokens differ by more than 0 nats, at most by 2 at token 8 " w8"'
        "; these jump while the others are close, as a fault of the engine shows"
    )


def test_of_tokens_as_far_apart_the_first_is_named() -> None:
    """Between equals, order decides."""
    stage = written(*words(-1.0, -1.5, -1.0, -1.5))
    failed = close(stage, written(*words(-1.0, -1.0, -1.0, -1.0)))
    assert failed.reason.endswith('at most by 0.5 at token 1 " w1"')
    assert failed.detail["worst"]["token"] == " w1"


def test_the_99th_percentile_is_one_of_the_values() -> None:
    """Of 200 differences the 198th in order is the 99th percentile."""
    stage = written(*words(*(-1 - i / 1000 for i in range(200))))
    passed = close(stage, written(*words(*(-1.0,) * 200)), 1.0)
    assert passed.detail["p99"] == pytest.approx(0.197)
    assert passed.detail["max"] == pytest.approx(0.199)
    assert passed.detail["median"] == pytest.approx(0.0995)


# ---------------------------------------------------------------- what cannot be measured


def test_without_a_reference_nothing_is_measured() -> None:
    """The check needs a pair."""
    assert close(REFERENCE, None) == Score(None, "no answer of the reference to compare with")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (said("hi", logprobs_absent="logprobs is null"), "no logprobs: logprobs is null"),
        (said("hi"), "no logprobs: none came"),
        (said("hi", logprobs=()), "no logprobs: none came"),
        (said(None, logprobs=words(-1.0)), "no text"),
        (said("<think>", reasoning_open=True, logprobs=words(-1.0)), "no text"),
        (written(*words(None, None)), "logprobs not real: no value is a logprob"),
        (written(*words(0.0, None)), "logprobs not real: every value is 0"),
        (written(*words(0.0, -0.0, 0.0)), "logprobs not real: every value is 0"),
        (written(token("a", 0.0, {"a": 0.0, "b": None})), "logprobs not real: every value is 0"),
        (written(*words(5.0, 5.0)), "logprobs not real: 5 is above 0"),
        (written(*words(-1.0, 0.0011)), "logprobs not real: 0.0011 is above 0"),
        (written(token("a", -1.0, {"a": -1.0, "b": 0.5})), "logprobs not real: 0.5 is above 0"),
    ],
)
def test_absent_and_unreal_values_are_unmeasured(answer: Observation, reason: str) -> None:
    """Missing logprobs, sentinels, zeros all over and what is above 0 neither pass nor fail."""
    assert close(answer, REFERENCE) == Score(None, f"stage: {reason}")
    assert close(REFERENCE, answer) == Score(None, f"reference: {reason}")
    assert close(answer, answer).passed is None


def test_a_certain_answer_is_real_where_its_alternatives_are() -> None:
    """A token may have logprob 0: its alternatives then tell that values are real."""
    sure = written(token("a", 0.0, {"a": 0.0, "b": -17.5}))
    assert close(sure, sure).passed is True


def test_what_rounding_leaves_above_zero_is_real() -> None:
    """A probability of 1 may be reported a thousandth of a nat too high."""
    rounded = written(*words(*(-0.5,) * 9, 0.001))
    assert close(rounded, rounded).passed is True


def test_a_missing_value_is_skipped_and_never_zero() -> None:
    """Up to a tenth of the tokens may lack a value; a pass says how many did."""
    values = (None,) + (-0.5,) * 9
    passed = close(written(*words(*values)), written(*words(*(-0.5,) * 10)))
    assert passed.passed is True
    assert passed.warnings == ("1 tokens could not be compared",)
    assert passed.detail["without_value"] == 1
    assert passed.detail["whole"] is False
    more = (None, None) + (-0.5,) * 9
    for sides in ((more, (-0.5,) * 11), ((-0.5,) * 11, more)):
        stage, reference = (written(*words(*side)) for side in sides)
        unmeasured = close(stage, reference)
        assert unmeasured.passed is None
        assert unmeasured.reason == "only 9 of 11 aligned tokens have logprobs"


def test_a_missing_value_of_a_short_answer_leaves_it_unmeasured() -> None:
    """A short answer counts only as a whole."""
    unmeasured = close(written(*words(-0.1, None)), written(*words(-0.1, -0.2)))
    assert unmeasured.passed is None
    assert unmeasured.reason == "only 1 tokens aligned, not the whole answer"


@pytest.mark.parametrize(("count", "passed"), [(7, None), (8, True)])
def test_fewer_than_eight_aligned_tokens_tell_too_little(count: int, passed: bool | None) -> None:
    """Unless they are the whole answer, seven tokens neither pass nor fail."""
    same = words(*(-0.5,) * count)
    stage = written(*same, token("\n\n", -1.0))
    reference = written(*same, token("\n", -1.0), token("\n", -1.0))
    assert close(stage, reference).passed is passed
    off = words(*(-1.5,) * count)
    worse = written(*off, token("\n\n", -1.0))
    assert close(worse, reference).passed is (None if passed is None else False)


def test_answers_of_no_token_are_unmeasured() -> None:
    """Two empty texts show nothing."""
    empty = said("", logprobs=(token("", -0.1),))
    assert close(empty, empty).reason == "only 0 tokens aligned, not the whole answer"


# ---------------------------------------------------------------- where the text is


def test_reasoning_ahead_of_the_text_is_set_aside() -> None:
    """One side lists its thinking with the answer, the other the answer alone."""
    stage = written(
        token("<think>", -0.1), token("hm", -0.7), token("</think>", 0.0), token("no", -0.3),
        text="no", reasoning="hm",
    )  # fmt: skip
    reference = written(token("no", -0.31), reasoning="hm")
    passed = close(stage, reference)
    assert passed.passed is True
    assert passed.warnings == ()
    assert passed.detail["aligned"] == 1
    assert passed.detail["set_aside"] == {"stage": 3, "reference": 0}
    assert passed.detail["max"] == pytest.approx(0.01)
    apart = replace(reference, logprobs_reasoning=1)
    assert close(apart, stage).detail["set_aside"] == {"stage": 1, "reference": 3}


@pytest.mark.parametrize(
    ("ours", "theirs", "warned"),
    [("hm", "hm", False), ("hm\n", "hm", False), ("hm", "so", True), ("hm", None, False)],
)
def test_other_thoughts_are_warned_of(ours: str, theirs: str | None, warned: bool) -> None:
    """Answers after other thoughts are conditioned on them."""
    stage = written(token("no", -0.3), reasoning=ours)
    reference = written(token("no", -0.3), reasoning=theirs)
    warning = "the thoughts differ, so the answers' tokens follow different contexts"
    assert close(stage, reference).warnings == ((warning,) if warned else ())


def test_reasoning_left_in_the_content_is_set_aside_and_warned_of() -> None:
    """The text after the block is compared, as the other side gives it alone."""
    stage = written(
        token("<think>", -0.1), token("hm", -0.7), token("</think>", -0.2), token("\n\n", -0.1),
        token("no", -0.3), text_after_reasoning="no",
    )  # fmt: skip
    passed = close(stage, written(token("no", -0.3)))
    assert passed.passed is True
    assert passed.warnings == ("stage: reasoning left in content",)
    assert passed.detail["set_aside"] == {"stage": 4, "reference": 0}
    mirrored = close(written(token("no", -0.3)), stage)
    assert mirrored.warnings == ("reference: reasoning left in content",)
    lost = close(replace(stage, text_after_reasoning="and no"), stage)
    assert lost.reason == "stage: partial coverage: tokens for 2 of 6 bytes of the text"
    assert lost.warnings[0] == "stage: reasoning left in content"


def test_a_leading_null_token_is_dropped() -> None:
    """A token ahead of the text that has no value takes no part."""
    stage = written(token("<s>", None), token("2", -1.0), token("0", -0.5), text="20")
    passed = close(stage, written(token("2", -1.0), token("0", -0.5)))
    assert passed.passed is True
    assert passed.detail["aligned"] == 2
    assert passed.detail["set_aside"]["stage"] == 1
    nameless = [replace(entry, bytes=None) for entry in stage.logprobs or ()]
    assert close(replace(stage, logprobs=tuple(nameless)), stage).detail["aligned"] == 2


@pytest.mark.parametrize(
    "end", [token("", -0.01), token("<|im_end|>", -0.01), token("<eos>", -9.0, raw=b"")]
)
def test_an_end_token_is_set_aside(end: TokenLogprob) -> None:
    """A token behind the text takes no part, with bytes or without."""
    passed = close(written(*words(-0.1, -0.2), end, text=" w0 w1"), written(*words(-0.1, -0.2)))
    assert passed.passed is True
    assert passed.detail["aligned"] == 2
    assert passed.detail["end_tokens"] == {"stage": 1, "reference": 0}


def test_at_most_four_end_tokens_have_bytes() -> None:
    """Five tokens that are not the text's are no end tokens."""
    ends = [token(f"<{i}>", -0.1) for i in range(5)]
    reference = written(*words(-0.1))
    assert close(written(*words(-0.1), *ends[:4], text=" w0"), reference).passed is True
    assert close(written(*words(-0.1), *ends, text=" w0"), reference).passed is None
    blanks = [token("", -0.1)] * 9
    assert close(written(*words(-0.1), *blanks, text=" w0"), reference).passed is True


def test_blanks_cut_from_the_front_of_the_text_are_forgiven() -> None:
    """The first token may begin with blanks that the server stripped, and with nothing else."""
    tokens = token(" Hello", -0.1), token(" you", -0.2)
    stripped = written(*tokens, text="Hello you")
    assert close(stripped, stripped).passed is True
    assert close(written(token("Othello", -0.1), text="hello"), stripped).passed is None


@pytest.mark.parametrize(
    ("tokens", "covered", "text"),
    [
        ((token("pha", -0.2),), 3, "alpha"),
        ((token("al", -0.2),), 0, "alpha"),
        ((token("x", -0.2), token("pha", -0.2)), 3, "alpha"),
        ((token("pha", -0.2), token("<end>", -0.1)), 3, "alpha"),
    ],
)
def test_tokens_that_do_not_cover_the_text_are_unmeasured(
    tokens: tuple[TokenLogprob, ...], covered: int, text: str
) -> None:
    """Lost chunks are said, with how much of the text is covered."""
    lost = written(*tokens, text=text)
    whole = written(token("al", -0.4), token("pha", -0.2))
    reason = f"partial coverage: tokens for {covered} of 5 bytes of the text"
    assert close(lost, whole) == Score(None, f"stage: {reason}")
    assert close(whole, lost) == Score(None, f"reference: {reason}")


# ---------------------------------------------------------------- tokens of unknown bytes

OPENAI = (
    token("bytes:\\xf0\\x9f\\x98", -0.9, raw=b"\xf0\x9f\x98"),
    token("bytes:\\x8a", -0.01, raw=b"\x8a"),
)
OLLAMA = (token("\ufffd", -0.9, known=False), token("\ufffd", -0.01, known=False))
VLLM = (token("", -0.9), token("😊", -0.01))
FORMS = [OPENAI, OLLAMA, VLLM]


@pytest.mark.parametrize("ours", FORMS)
@pytest.mark.parametrize("theirs", FORMS)
@pytest.mark.parametrize(("head", "tail"), [("", ""), ("a", ""), ("", " b"), ("a", " b")])
def test_half_characters_are_paired_by_position_between_sure_borders(
    ours: tuple[TokenLogprob, ...], theirs: tuple[TokenLogprob, ...], head: str, tail: str
) -> None:
    """However a server writes half a character, as many tokens are the same tokens."""

    def around(*inner: TokenLogprob) -> Observation:
        before = (token(head, -0.3),) if head else ()
        after = (token(tail, -0.4),) if tail else ()
        return written(*before, *inner, *after, text=f"{head}😊{tail}")

    passed = close(around(*ours), around(*theirs))
    assert passed.passed is True
    assert passed.detail["aligned"] == 2 + bool(head) + bool(tail)
    assert passed.detail["whole"] is True
    shifted = (replace(ours[0], logprob=-2.0), ours[1])
    assert close(around(*shifted), around(*theirs)).passed is False


def test_a_gap_of_another_token_count_is_skipped() -> None:
    """What lies behind the gap is compared again."""
    whole = written(*words(*EIGHT), token("😊", -0.1), token("!", -0.2))
    parts = written(*words(*EIGHT), *OLLAMA, token("!", -0.2), text=whole.text)
    passed = close(parts, whole)
    assert passed.passed is True
    assert passed.detail["skipped"] == 2
    assert passed.detail["aligned"] == 9
    assert passed.warnings == ("2 tokens could not be compared",)
    assert close(whole, parts).detail["skipped"] == 2
    off = close(replace(parts, logprobs=(*(parts.logprobs or ())[:-1], token("!", -3.0))), whole)
    assert off.passed is False
    assert off.detail["worst"]["index"] == 10
    assert off.warnings == ()


def test_a_gap_too_long_to_trust_is_skipped() -> None:
    """Sixteen unknown tokens in a row are paired by position, seventeen are not."""
    for emoji, paired in ((8, 16), (9, 0)):
        text = "😊" * emoji
        stage = written(*words(*EIGHT), *OPENAI * emoji, text=" w0 w1 w2 w3 w4 w5 w6 w7" + text)
        reference = written(*words(*EIGHT), *OLLAMA * emoji, text=stage.text)
        assert close(stage, reference).detail["aligned"] == 8 + paired


def test_unknown_tokens_are_left_where_the_known_ones_fit() -> None:
    """Behind a gap the known tokens ahead of it are found again, reasoning set aside."""
    stage = written(
        token("<think>", -0.5), token("a", -0.1), *OLLAMA, token("b", -0.2), *OLLAMA,
        token("c", -0.3), text="a😊b😊c",
    )  # fmt: skip
    reference = written(
        token("a", -0.1), *OPENAI, token("b", -0.2), *OPENAI, token("c", -0.3), text="a😊b😊c"
    )
    passed = close(stage, reference)
    assert passed.passed is True
    assert passed.detail["aligned"] == 7
    assert passed.detail["set_aside"] == {"stage": 1, "reference": 0}
    assert close(reference, stage).detail["aligned"] == 7


def test_a_text_that_begins_with_unknown_tokens() -> None:
    """Known tokens ahead that are not the text's are set aside."""
    stage = written(token("<think>", -0.5), *OLLAMA, token("b", -0.2), text="😊b")
    passed = close(stage, written(*OPENAI, token("b", -0.2), text="😊b"))
    assert passed.passed is True
    assert passed.detail["aligned"] == 3
    assert passed.detail["set_aside"]["stage"] == 1


def test_a_token_of_no_bytes_ahead_of_an_ascii_text_is_not_the_texts() -> None:
    """Only a first character of several bytes can have begun in a token of none."""
    passed = close(written(token("", -0.9), token("ok", -0.1)), written(token("ok", -0.1)))
    assert passed.passed is True
    assert passed.detail["set_aside"]["stage"] == 1


def test_a_replacement_character_in_the_text_is_a_character() -> None:
    """U+FFFD that the model wrote is compared like any other."""
    answer = written(token("\ufffd", -0.4), token("!", -0.3))
    assert close(answer, answer).passed is True
    assert close(answer, answer).detail["aligned"] == 2


# ---------------------------------------------------------------- ids


def test_ids_align_where_both_sides_show_them() -> None:
    """An id stands for its token, though one side does not say the bytes."""
    stage = written(token("token_id:13347", -0.3, known=False, token_id=13347), text="Hi")
    reference = written(token("Hi", -0.31, token_id=13347))
    passed = close(stage, reference)
    assert passed.passed is True
    assert passed.detail["aligned_by"] == "id"
    assert passed.detail["aligned"] == 1
    assert close(reference, stage).passed is True
    assert close(replace(stage, logprobs=(replace(stage.logprobs[0], logprob=-1.0),)),  # type: ignore[index]  # set above
                 reference).passed is False  # fmt: skip


def test_ids_give_the_bytes_that_set_reasoning_aside() -> None:
    """Bytes that the other side says of an id find the text among tokens that say none."""
    known = (token("<think>", -0.1, token_id=1), token("Hi", -0.3, token_id=2))
    bare = tuple(replace(t, token=f"token_id:{t.id}", bytes=None) for t in known)
    nameless, named = written(*bare, text="Hi"), written(*known, text="Hi")
    for passed in (close(nameless, named), close(named, nameless)):
        assert passed.passed is True
        assert passed.detail["set_aside"] == {"stage": 1, "reference": 1}


def test_ids_of_answers_without_any_bytes_align() -> None:
    """Equal ids are equal tokens, on both sides of unknown bytes."""
    bare = tuple(token(f"token_id:{i}", -0.5 - i / 100, known=False, token_id=i) for i in range(9))
    answer = written(*bare, text="no bytes at all")
    assert close(answer, answer).detail["aligned"] == 9
    other = (*bare[:8], token("token_id:99", -0.5, known=False, token_id=99))
    unlike = close(written(*other, text="no bytes at all"), answer)
    assert unlike.passed is True
    assert unlike.warnings == ("tokenised differently from token 8 on: not compared",)
    parted = close(written(*other, text="no bytes at any"), answer)
    assert parted.passed is None
    assert parted.reason.startswith("the answers part at token 8: ")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        # one id, two tokens
        ((token("a", -0.1, token_id=1), token("b", -0.1, token_id=2)),
         (token("a", -0.1, token_id=2), token("b", -0.1, token_id=1))),
        # one token, two ids
        ((token("a", -0.1, token_id=1), token("b", -0.1, token_id=2)),
         (token("a", -0.1, token_id=7), token("b", -0.1, token_id=2))),
        # an id that one side itself gives twice
        ((token("a", -0.1, token_id=1), token("b", -0.1, token_id=1)),
         (token("a", -0.1, token_id=1), token("b", -0.1, token_id=2))),
        # ids on one side alone
        ((token("a", -0.1, token_id=1), token("b", -0.1)),
         (token("a", -0.1, token_id=1), token("b", -0.1, token_id=2))),
    ],
)  # fmt: skip
def test_ids_of_two_tokenizers_are_not_compared(
    ours: tuple[TokenLogprob, ...], theirs: tuple[TokenLogprob, ...]
) -> None:
    """Where ids and bytes contradict each other, bytes decide, and the same bytes pass."""
    for stage, reference in ((ours, theirs), (theirs, ours)):
        passed = close(written(*stage), written(*reference))
        assert passed.passed is True
        assert passed.detail["aligned_by"] == "bytes"
        assert passed.detail["aligned"] == 2


def test_alternatives_show_a_tokenizer_too() -> None:
    """An alternative's id that means another token elsewhere gives the tokenizers away."""
    stage = replace(token("a", -0.1, token_id=1), top=(TopLogprob("b", -3.0, b"b", 5),))
    reference = replace(token("a", -0.1, token_id=1), top=(TopLogprob("c", -3.0, b"c", 5),))
    assert close(written(stage), written(reference)).detail["aligned_by"] == "bytes"
    assert close(written(stage), written(stage)).detail["aligned_by"] == "id"


def test_one_token_may_have_two_ids_in_a_vocabulary() -> None:
    """A line feed and its byte token are the same bytes: equal ids still align."""
    tokens = (token("\n", -0.1, token_id=13), token("\n", -0.2, token_id=198))
    passed = close(written(*tokens), written(*tokens))
    assert passed.detail["aligned_by"] == "id"
    swapped = (replace(tokens[0], id=198), replace(tokens[1], id=13))
    assert close(written(*tokens), written(*swapped)).passed is None


# ---------------------------------------------------------------- other borders


def test_other_borders_end_the_comparison() -> None:
    """Only tokens over the same bytes after the same borders are compared."""
    stage = written(token("a", -0.1), token("\n\n", -0.7), token("b", -0.2))
    reference = written(token("a", -0.1), token("\n", -1.9), token("\n", -0.2), token("b", -0.9))
    unmeasured = close(stage, reference)
    assert unmeasured.passed is None
    assert unmeasured.reason == (
        "only 1 tokens aligned, not the whole answer: tokenised differently"
    )
    assert unmeasured.detail["aligned"] == 1


def test_a_pass_up_to_other_borders_says_so() -> None:
    """Eight tokens ahead of the first other border decide, what follows is not compared."""
    head = words(*EIGHT)
    stage = written(*head, token("\n\n", -0.7), token("b", -9.0))
    reference = written(*head, token("\n", -1.9), token("\n", -0.2), token("b", -0.9))
    passed = close(stage, reference)
    assert passed.passed is True
    assert passed.warnings == ("tokenised differently from token 8 on: not compared",)
    assert passed.detail["aligned"] == 8
    assert passed.detail["whole"] is False


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


# ---------------------------------------------------------------- scaled values


def spread(factor: float, noise: float = 0.0) -> tuple[TokenLogprob, ...]:
    """Eight tokens with two alternatives each, gaps times a factor and a little noise."""
    tops = ((-0.3, -1.4, -2.6), (-0.1, -2.7, -4.0), (-0.5, -1.3, -3.1), (-0.2, -1.9, -3.0))
    made = []
    for i, (own, first, second) in enumerate(tops * 2):
        shift = noise * (1 if i % 2 else -1)
        top = {
            f" w{i}": own * factor,
            "x": first * factor + shift,
            "y": second * factor - shift,
        }
        made.append(token(f" w{i}", own * factor, top))
    return tuple(made)


@pytest.mark.parametrize("factor", [2.0, 0.5, 1.43, 1.25, 1.12, 0.88])
def test_values_after_a_temperature_are_unmeasured(factor: float) -> None:
    """A common factor on the gaps of all positions shows other settings, not other weights."""
    unmeasured = close(written(*spread(factor)), written(*spread(1.0)))
    assert unmeasured.passed is None
    assert unmeasured.reason == (
        f"the stage's logprobs are scaled by about {factor:.3g}: other settings"
    )
    mirrored = close(written(*spread(1.0)), written(*spread(factor)))
    assert mirrored.reason == (
        f"the stage's logprobs are scaled by about {1 / factor:.3g}: other settings"
    )


def test_scaled_values_do_not_pass_within_tolerance_either() -> None:
    """A tolerance wide enough for them makes scaled values no pass."""
    assert close(written(*spread(2.0)), written(*spread(1.0)), 10.0).passed is None


def test_one_position_shows_a_temperature_of_one_half_alone() -> None:
    """Gaps of 2.0 and 1.0 are a temperature; of 1.7 and 1.0 they are a difference."""
    reference = written(token("x", -0.313, {"x": -0.313, "y": -1.313}))
    scaled = written(token("x", -0.127, {"x": -0.127, "y": -2.127}))
    assert close(scaled, reference).reason == (
        "the stage's logprobs are scaled by about 2: other settings"
    )
    assert close(reference, scaled).reason == (
        "the stage's logprobs are scaled by about 0.5: other settings"
    )
    for gap in (1.7, 1.98, 2.02, 4.0):
        other = written(token("x", -0.127, {"x": -0.127, "y": -0.127 - gap}))
        assert close(other, reference).passed is False
    mixed = written(
        token("x", -0.127, {"x": -0.127, "y": -2.127}), token("z", -0.313, {"w": -1.313})
    )
    against = written(
        token("x", -0.313, {"x": -0.313, "y": -1.313}), token("z", -0.127, {"w": -2.127})
    )
    assert close(mixed, against).passed is False


@pytest.mark.parametrize(
    "stage",
    [
        spread(1.0, 0.3),
        spread(1.08),
        spread(2.0, 0.4),
        tuple(replace(t, logprob=(t.logprob or 0) - 0.4) for t in spread(1.0)),
    ],
)
def test_noise_is_not_taken_for_a_temperature(stage: tuple[TokenLogprob, ...]) -> None:
    """Scattered gaps, a factor near one, or a shift are measured as they are."""
    assert close(written(*stage), written(*spread(1.0)), 0.01).passed in {True, False}


@pytest.mark.parametrize(("gaps", "scaled"), [(3, False), (4, True)])
def test_four_gaps_show_any_factor(gaps: int, scaled: bool) -> None:
    """Four gaps with one factor are a temperature, three are chance."""
    stage = written(*(token(f" w{i}", -0.2, {"x": -0.2 - 1.7 * (i + 1)}) for i in range(gaps)))
    reference = written(*(token(f" w{i}", -0.5, {"x": -0.5 - (i + 1)}) for i in range(gaps)))
    assert close(stage, reference).passed is (None if scaled else False)


def test_alternatives_are_matched_by_bytes_whatever_they_are_called() -> None:
    """Two servers may name the same bytes differently."""

    def entry(name: str, own: float, other: float) -> TokenLogprob:
        return replace(token("x", own), top=(TopLogprob(name, other, b"\xf0\x9f"),))

    stage, reference = (
        written(entry("\\xf0\\x9f", -0.127, -2.127)),
        written(entry("bytes:\\xf0\\x9f", -0.313, -1.313)),
    )
    assert "scaled by about 2" in close(stage, reference).reason


def test_alternatives_show_a_factor_by_id_where_ids_are_shared() -> None:
    """Two servers may name an id differently, and say bytes of it on one side alone."""
    ours = TopLogprob("token_id:7", -2.127, None, 7)
    theirs = TopLogprob("y", -1.313, b"y", 7)
    stage = written(replace(token("x", -0.127, token_id=1), top=(ours,)))
    reference = written(replace(token("x", -0.313, token_id=1), top=(theirs,)))
    assert "scaled by about 2" in close(stage, reference).reason


def test_where_nothing_is_aligned_there_are_no_figures() -> None:
    """No figure is made up where no token was compared."""
    detail = close(written(token("a", -0.5)), written(token("b", -0.5))).detail
    for figure in ("max", "median", "p99", "share_over", "worst"):
        assert detail[figure] is None
    assert detail["aligned"] == 0


def test_small_gaps_show_no_factor() -> None:
    """Gaps under half a nat are too near to rounding to tell a factor."""
    stage = written(*(token(f" w{i}", -0.9, {"x": -1.3}) for i in range(8)))
    reference = written(*(token(f" w{i}", -0.9, {"x": -1.1}) for i in range(8)))
    assert close(stage, reference).passed is True


def test_the_parting_position_shows_a_factor_too() -> None:
    """Where answers part at once, their alternatives may still show a temperature."""
    stage = written(token("a", -0.2, {"b": -2.2, "c": -4.2, "d": -6.2, "e": -8.2}))
    reference = written(token("b", -1.2, {"a": -0.2, "c": -2.2, "d": -3.2, "e": -4.2}))
    assert "scaled by about 2" in close(stage, reference).reason


# ---------------------------------------------------------------- laws

logprobs = st.floats(-12, 0, allow_nan=False)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4)
tokens_ = st.builds(
    token, names, st.none() | logprobs, st.dictionaries(names, logprobs, max_size=3)
)
answers = st.lists(tokens_, min_size=1, max_size=14).map(lambda listed: written(*listed))


@given(answers, st.floats(0, 1))
def test_identical_answers_never_fail(answer: Observation, tolerance: float) -> None:
    """An answer against itself passes, or is unmeasured."""
    assert close(answer, answer, tolerance).passed is not False


@given(answers, answers, st.floats(0, 2))
def test_swapping_the_sides_changes_no_decision(
    left: Observation, right: Observation, tolerance: float
) -> None:
    """What is compared, and how far it is apart, is the same from both sides."""
    one, other = close(left, right, tolerance), close(right, left, tolerance)
    assert one.passed == other.passed
    for figure in ("aligned", "max", "median", "p99", "share_over", "skipped"):
        assert one.detail.get(figure) == other.detail.get(figure)


@given(st.lists(logprobs.filter(bool), min_size=1, max_size=12), st.data())
def test_every_difference_is_measured(values: list[float], data: st.DataObject) -> None:
    """Over one text the largest difference is what it is by hand."""
    others = data.draw(st.lists(logprobs.filter(bool), min_size=len(values), max_size=len(values)))
    result = close(written(*words(*values)), written(*words(*others)), 1.0)
    by_hand = max(abs(a - b) for a, b in zip(values, others, strict=True))
    assert result.detail["max"] == by_hand
    assert result.passed is (by_hand <= 1.0 + 1e-9)


@given(answers, answers)
def test_details_are_strict_json(left: Observation, right: Observation) -> None:
    """A score can be written as it is."""
    json.dumps(close(left, right).detail, allow_nan=False)


@given(st.lists(tokens_, min_size=1, max_size=10), st.data())
def test_hidden_bytes_never_make_identical_answers_fail(
    listed: list[TokenLogprob], data: st.DataObject
) -> None:
    """However many tokens hide their bytes, equal answers do not fail."""
    hidden = [
        replace(t, bytes=None, token="\ufffd") if data.draw(st.booleans()) else t for t in listed
    ]
    text = "".join(t.token for t in listed)
    assert close(written(*hidden, text=text), written(*hidden, text=text)).passed is not False
