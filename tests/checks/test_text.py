"""Equals and contains."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.checks import score
from denv.checks.numerals import parse_number, same_number
from denv.checks.text import describe_difference, readable_text
from denv.records import Call, Contains, Equals, Observation, Regex, Score
from tests.checks.answers import number, said, says, search

LEFT = "reasoning left in content"


def equals(expected: str, answer: Observation) -> Score:
    return score(Equals(expected), answer, search=search)


def contains(part: str, answer: Observation) -> Score:
    return score(Contains(part), answer, search=search)


@given(st.text())
def test_a_text_equals_itself(text: str) -> None:
    """The same code points pass, without a word."""
    assert equals(text, said(text)) == Score(True)


@given(st.text(), st.text())
def test_hints_never_decide(expected: str, got: str) -> None:
    """Two texts pass exactly where they are the same, whatever hints there are."""
    assert equals(expected, said(got)).passed is (expected == got)


@pytest.mark.parametrize(
    ("expected", "got", "reason"),
    [
        ("391", "392", ("first difference at index 2: U+0032 instead of U+0031, "
         "'392' instead of '391'")),
        ("", "a", "the answer goes on at index 0, after what is expected: 'a'"),
        ("ab", "a", "the answer ends at index 1, a prefix of what is expected: 'ab' is missing"),
        ("a", "ab", "the answer goes on at index 1, after what is expected: 'ab'"),
        ("é", "e\u0301", ("first difference at index 0: U+0065 instead of U+00E9, "
         "'e\u0301' instead of 'é'; the texts match after NFC")),
        ("a b", "a\u00a0b", ("first difference at index 1: U+00A0 instead of U+0020, "
         r"'a\xa0b' instead of 'a b'")),
        ("😀", "😁", ("first difference at index 0: U+1F601 instead of U+1F600, "
         "'😁' instead of '😀'")),
        ("42", "42\n", (r"the answer goes on at index 2, after what is expected: '42\n'"
         "; the texts match after trimming; numerically equal")),
        ("ok", " ok", ("first difference at index 0: U+0020 instead of U+006F, "
         "' ok' instead of 'ok'; the texts match after trimming")),
        ("6000", "6,000", ("first difference at index 1: U+002C instead of U+0030, "
         "'6,000' instead of '6000'; numerically equal")),
    ],
)  # fmt: skip
def test_a_failure_names_the_first_differing_code_point(
    expected: str, got: str, reason: str
) -> None:
    """A failure says where the texts part, with both code points, and what would match them."""
    failed = equals(expected, said(got))
    assert says(failed) == (False, "unknown")
    assert failed.reason == reason
    assert failed.warnings == ()


@pytest.mark.parametrize(
    ("got", "cause"),
    [
        ("391<|return|>", "parser"),
        ("391<|eot_id|>", "parser"),
        ("391</s>\n", "parser"),
        ("391<|im_end|><|endoftext|>", "parser"),
        ("<think>17*23</think>\n\n391<｜end▁of▁sentence｜>", "parser"),
        ("392<|return|>", "unknown"),
        ("391<|return|> is it", "unknown"),
        ("391.", "unknown"),
    ],
)
def test_an_end_token_at_the_end_is_the_parsers(got: str, cause: str) -> None:
    """A text that is right up to a token which no parser lets through was left by the parser."""
    after = got.partition("</think>")[2].lstrip() or None
    answer = said(got, text_after_reasoning=after)
    for failed in (equals("391", answer), score(Regex(r"\A391\Z"), answer, search=search)):
        assert says(failed) == (False, cause)
        assert ("the text before it would pass" in failed.reason) is (cause == "parser")
    assert contains("391", answer).passed is ("392" not in got)


@pytest.mark.parametrize("got", ["<|return|>", "391<|return|>"])
def test_an_expected_end_token_is_a_text(got: str) -> None:
    """A text passes that is what is expected, whatever it looks like."""
    assert equals(got, said(got)) == Score(True)


def test_excerpts_are_short_and_marked_where_cut() -> None:
    """Twelve code points on each side of the difference are shown."""
    expected = "0123456789abcdef" + "X" + "ghijklmnopqrstuv"
    got = expected.replace("X", "Y")
    assert describe_difference(expected, got) == (
        "first difference at index 16: U+0059 instead of U+0058,"
        " …'456789abcdefYghijklmnopq'… instead of …'456789abcdefXghijklmnopq'…"
    )
    assert "'0123456789abX'" in describe_difference("0123456789abX", "0123456789abY")
    assert "…'123456789abcY'" in describe_difference("0123456789abcX", "0123456789abcY")
    assert "'Y0123456789a'" in describe_difference("X0123456789a", "Y0123456789a")
    assert "'Y0123456789a' " in describe_difference("X0123456789", "Y0123456789a")
    assert describe_difference("X0123456789a", "Y01234567890").endswith("'X0123456789a'")
    assert describe_difference("X0123456789", "Y0123456789a").endswith("'X0123456789'")
    assert "'Y0123456789a'…" in describe_difference("X0123456789ab", "Y0123456789ab")


def test_control_characters_are_escaped() -> None:
    """No excerpt holds a character that a terminal would obey."""
    reason = equals("x", said("\x1b[2J<script>\u202e")).reason
    assert reason.isprintable()


@pytest.mark.parametrize("expected", ["", "a", "None"])
def test_an_answer_without_text_never_matches(expected: str) -> None:
    """No text is not the empty text, for any of the text checks."""
    for check in (Equals(expected), Contains(expected), Regex(expected)):
        assert says(score(check, said(None), search=search)) == (False, "unknown")


def test_the_empty_text_is_a_text() -> None:
    """An empty text equals and contains the empty text."""
    assert equals("", said("")).passed is True
    assert contains("", said("")).passed is True


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (said(None), "no text"),
        (said(None, reasoning="hm"), "no text: reasoning only"),
        (said(None, refusal="I cannot", reasoning="hm"), "no text: a refusal instead"),
        (said(None, calls=(Call("f", {}, "{}"),), reasoning="hm"), "no text: a tool call instead"),
        (said("<think>12", reasoning_open=True), f"{LEFT} never ends: no text after it"),
    ],
)
def test_what_stands_instead_of_text_is_named(answer: Observation, reason: str) -> None:
    """An answer without text says what it has instead."""
    assert contains("12", answer).reason == reason


@pytest.mark.parametrize(
    "answer",
    [
        said("red", reasoning="blue?"),
        said("<think>blue?</think>red", text_after_reasoning="red"),
        said("<think>blue?", reasoning_open=True),
        said(None, reasoning="blue"),
    ],
)
def test_reasoning_is_never_searched(answer: Observation) -> None:
    """What stands in reasoning alone, apart or in the content, is not in the answer."""
    assert contains("blue", answer).passed is False
    assert score(Regex("blue"), answer, search=search).passed is False
    assert equals("blue", answer).passed is False


def test_contains_passes_and_fails_by_the_text() -> None:
    """The part must stand in the text as it is."""
    assert contains("39", said("a 391")) == Score(True)
    assert contains("391 ", said("a 391")).reason == "not found: '391 '"
    assert says(contains("B", said("abc"))) == (False, "unknown")


def test_contains_reads_the_text_after_reasoning_left_in_content() -> None:
    """The text after the block decides, and the block is warned of."""
    answer = said("<think>6*7=42</think>\n\n43", text_after_reasoning="43")
    assert contains("43", answer) == Score(True, warnings=(LEFT,))
    failed = contains("42", answer)
    assert failed.passed is False
    assert failed.reason == "found only in the reasoning left in content: '42'"
    assert failed.warnings == (LEFT,)
    assert contains("44", answer).reason == "not found: '44'"
    assert contains("44", answer).warnings == (LEFT,)
    assert score(Regex("^43$"), answer, search=search) == Score(True, warnings=(LEFT,))


@pytest.mark.parametrize("after", ["42", "\n\n42"])
def test_equals_fails_by_the_parser_where_reasoning_is_left_in_content(after: str) -> None:
    """The content is another text; that the rest would pass is said, and never hidden."""
    failed = equals("42", said("<think>6*7=42</think>\n\n42", text_after_reasoning=after))
    assert says(failed) == (False, "parser")
    assert failed.reason == f"{LEFT}: the text after the block would pass"


def test_equals_fails_as_unknown_where_the_rest_is_wrong_too() -> None:
    """A wrong text behind the block is no fault of the parser alone."""
    failed = equals("42", said("<think>x</think>43", text_after_reasoning="43"))
    assert says(failed) == (False, "unknown")
    assert failed.reason.startswith(
        "in the text after the reasoning, first difference at index 1: U+0033 instead of U+0032"
    )
    assert failed.warnings == (LEFT,)
    blanks = equals("42", said("<think>x</think>42 ", text_after_reasoning="42 "))
    assert says(blanks) == (False, "unknown")


def test_equals_passes_where_the_thinking_itself_is_expected() -> None:
    """A suite may expect the block: the content is compared as it stands."""
    text = "<think>x</think>42"
    assert equals(text, said(text, text_after_reasoning="42")) == Score(True)


def test_readable_text() -> None:
    """What is searched is the content, without thinking."""
    assert readable_text(said("a")) == "a"
    assert readable_text(said(None)) is None
    assert readable_text(said("<think>x</think>", text_after_reasoning="")) == ""


@pytest.mark.parametrize(
    "text",
    [
        "6000", "6,000", "\\boxed{6,000}", "\\boxed{\\$6{,}000}", "6 000", "6\u00a0000",
        "6\u2009000", "6\u202f000", "6'000", "6’000", "6\\,000", "$6,000.00", "\\$6000", "$6000$",
        "$\\boxed{6000}$", " 6000\n", "+6000", "6e3", "6.0E+3", "60000e-1", "6000.", "$ 6000",
        "\\boxed{ 6000 }",
    ],
)  # fmt: skip
def test_spellings_of_one_number(text: str) -> None:
    """Separators in groups of three, currency, boxes and exponents do not change a number."""
    assert parse_number(text) == number("6000")
    assert same_number("6000", text)
    assert same_number(text, "6000")
    assert same_number("6", "$6$")


@pytest.mark.parametrize(
    "text",
    [
        "6,00", "60,00", "6,0000", "0,600", "6000,000", "6,000 000", "6,,000", ",600", "6,000,00",
        "", " ", ".", "-", "$", "$$", "e5", "NaN", "Infinity", "-inf", "6000 jars", "six", "1/2",
        "\\boxed{}", "\\boxed{6000", "6000}", "٦٠٠٠", "0x10", "1_000", "3**31**5", "6.000,00",
        "\\boxed{__import__('os').getpid()}", "\\boxed{\\frac{7^{(7^{7})}+1}{3}}", "1e", "--1",
        "1e1000000", "1e99999", "1e10001", "6" * 4001,
    ],
)  # fmt: skip
def test_what_is_no_number(text: str) -> None:
    """Ill-formed groups, non-finite values, other text and endless numbers are no numbers."""
    assert parse_number(text) is None
    assert not same_number(text, text)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("1.58e-30", "3.16e-30", False),
        ("6.02e23", "602000000000000000000000", True),
        ("-0.0", "0", True),
        ("NaN", "NaN", False),
        ("1e400", "Infinity", False),
        ("1e400", "1e400", True),
        ("000", "6000", False),
        ("-5", "\N{MINUS SIGN}5", True),
        ("-5", "5", False),
        ("-$5", "-5", True),
        (".5", "0.50", True),
        ("1,234,567.5", "1234567.5", True),
        ("1e10000", "1e10000", True),
        ("6" * 4000, "6" * 4000, True),
        ("6" * 4000, "6" * 3999 + "7", False),
        ("0.1", "0.1000000000000000055511151231257827", False),
    ],
)
def test_numbers_compare_exactly(left: str, right: str, same: bool) -> None:
    """Numbers are the same where their exact values are."""
    assert same_number(left, right) is same


def test_hints_take_bounded_time() -> None:
    """Digits, blanks and combining marks by the hundred thousand do not slow a failure down."""
    began = time.process_time()
    marks = "\u0316\u0301" * 100_000
    for text in ("9" * 300_000, " " * 300_000, "1,000" * 60_000, "a" + marks, "$" * 300_000):
        assert equals("a\u0301", said(text)).passed is False
    assert time.process_time() - began < 3.0


def test_runs_of_marks_that_no_language_has_are_not_normalised() -> None:
    """63 marks in a row are put in order, 64 are compared as they stand."""
    for count, hinted in ((63, True), (64, False)):
        tail = "\u0301" * (count - 1)
        reason = describe_difference(f"\u0316{tail}", f"{tail}\u0316")
        assert ("after NFC" in reason) is hinted
