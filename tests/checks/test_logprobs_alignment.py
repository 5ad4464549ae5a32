"""Logprobs of two answers: which tokens are held against each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from denv.records import Observation, Score, TokenLogprob, TopLogprob
from tests.checks.answers import token, words, written
from tests.checks.closeness import EIGHT, close

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
