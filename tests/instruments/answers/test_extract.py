"""What a text answers, in the forms that models write it in."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denv.instruments.answers.extract import MAX_DIGITS, Absent, Given, Unsure, extract_answer


def value(text: str) -> int | str | None:
    """Give the integer, None for a number that is none, or the name of what else was found."""
    match extract_answer(text):
        case Given() as found:
            return found.value
        case Unsure():
            return "unsure"
        case Absent():
            return "absent"


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("ANSWER: 12", 12),
        ("ANSWER:12", 12),
        ("ANSWER : 12", 12),
        ("Answer: 12", 12),
        ("answer = 12", 12),
        ("ANSWER: -12", -12),
        ("ANSWER: +12", 12),
        ("ANSWER: 007", 7),
        ("ANSWER: -0", 0),
        ("ANSWER: 12.", 12),
        ("ANSWER: 12!", 12),
        ("ANSWER: 12 apples", 12),
        ("ANSWER: 12 km/h", 12),
        ("ANSWER: 5 m^2", 5),
        ("ANSWER: 12 %", 12),
        ("ANSWER: $12", 12),
        ("ANSWER: 12 (3 boxes of 4)", 12),
        ("ANSWER: 12, because 3 + 9 is that", 12),
        ("ANSWER: 12. I checked it 3 times.", 12),
        ("ANSWER: 12 - as I said", 12),
        ("ANSWER: x = 12", 12),
        ("ANSWER: 3 * 4 = 12", 12),
        ("ANSWER: The remainder is 12.", 12),
        ("Final answer: 12", 12),
        ("The answer is: 12", 12),
        ("3. ANSWER: 12", 12),
        ("ANSWER: 12<|im_end|>", 12),
    ],
)
def test_plain_forms(line, right):
    """An integer behind ANSWER: is read with its sign, whatever unit or remark follows it."""
    assert value(f"3 times 4 is 99 or so.\n{line}") == right


@pytest.mark.parametrize(
    "line",
    [
        "ANSWER: 1234567",
        "ANSWER: 1,234,567",
        "ANSWER: 1 234 567",
        "ANSWER: 1'234'567",
        "ANSWER: 1’234’567",
        "ANSWER: 1_234_567",
        "ANSWER: 1.234.567",
        "ANSWER: 12,34,567",
        "ANSWER: 1{,}234{,}567",
        "ANSWER: $1\\,234\\,567$",
        "ANSWER: 1\u202f234\u202f567",
        "ANSWER: 1\u00a0234\u00a0567",
        "ANSWER: 1,234,567.00",
        "ANSWER: 1234567.0",
        "ANSWER: 1.234567e6",
        "ANSWER: １２３４５６７",
        "ANSWER： １，２３４，５６７",
        "ＡＮＳＷＥＲ：１２３４５６７",
        "ANSWER: ١٢٣٤٥٦٧",
        "ANSWER: ١٬٢٣٤٬٥٦٧",
        "ANSWER: १२३४५६७",
        "ANSWER: \\boxed{1234567}",
        "ANSWER: \\(\\boxed{1{,}234{,}567}\\)",
        "\\[\\boxed{\\text{ANSWER: } 1234567}\\]",
        "ANSWER: \\textbf{1234567}",
        "ANSWER: $\\boxed{\\mathbf{1234567}}$",
        "**ANSWER:** 1234567",
        "**ANSWER: 1234567**",
        "ANSWER: **1234567**",
        "__ANSWER__: _1234567_",
        "`ANSWER: 1234567`",
        "### ANSWER: 1234567",
        "> ANSWER: 1234567",
        "- ANSWER: 1234567",
        "✅ ANSWER: 1234567",
        '"ANSWER: 1234567"',
        "ANSWER: <1234567>",
        "ANSWER: [1234567]",
        "ANSWER: “1234567”",
        "ANSWER:\n1234567",
        "**ANSWER:**\n\n\\[\n1234567\n\\]",
        "\ufeffANSWER:\u200b 1234567",
    ],
)
def test_written_in_other_ways(line):
    """Separators, markup and the digits of other scripts change nothing."""
    assert value(f"Let me see: 5 and 6.\n{line}") == 1_234_567


@pytest.mark.parametrize("minus", list("-−–‐‑﹣－"))
def test_minus_signs(minus):
    """Each character that is used for a minus is one, and the span begins there."""
    text = f"ANSWER: {minus}12"
    assert extract_answer(text) == Given(-12, 8, 11)


@pytest.mark.parametrize(
    "line",
    [
        "ANSWER: 12 or 13",
        "ANSWER: 12, or 13",
        "ANSWER: 12, 13",
        "ANSWER: 12/13",
        "ANSWER: 12 to 13",
        "ANSWER: 12-13",
        "ANSWER: 12 apples or 13",
        "ANSWER: 12 out of 20",
        "ANSWER: 12:30",
        "ANSWER: 12,5",
        "ANSWER: 1,2345",
        "ANSWER: 12 * 13",
        "ANSWER: 2^10",
        "ANSWER: 2**10",
        "ANSWER: 10⁶",
        "ANSWER: 12½",
        "ANSWER: \\frac{12}{13}",
        "ANSWER: \\sqrt{144}",
        "ANSWER: 12 \\times 13",
        "ANSWER: 0x1F",
        "ANSWER: twelve",
        "ANSWER: <integer>",
        "ANSWER:",
        "ANSWER: ---",
        "ANSWER: 12 or UNSURE",
    ],
)
def test_no_single_integer(line):
    """What may mean two numbers, must be worked out, or is none, is no answer."""
    assert value(line) == "absent"


@pytest.mark.parametrize("line", ["ANSWER: 1.5", "ANSWER: 12.01", "ANSWER: 1.5e0", "ANSWER: 1e-3"])
def test_number_that_is_no_integer(line):
    """A number that is not whole is an answer, without a value that could be right."""
    assert value(line) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "It is 12.",
        "12 apples",
        "so 3 + 9 = 12",
        "1\n2\n12",
        "I would say: 12",
        "\\boxed{7} it is",
    ],
)
def test_no_answer_line(text):
    """Without a line ANSWER: there is no answer: never the last number of a reasoning."""
    assert value(text) == "absent"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("12", 12),
        (" -12\n", -12),
        ("12.", 12),
        ("**1,234**", 1234),
        ("$\\boxed{12}$", 12),
        ("１２", 12),
    ],
)
def test_whole_text(text, right):
    """A text that is one integer and nothing else is an answer."""
    assert value(text) == right


@pytest.mark.parametrize(
    "text",
    ["UNSURE", "ANSWER: UNSURE", "**ANSWER: unsure**.", "ANSWER: \\text{UNSURE}",
     "ANSWER: I am unsure", "ANSWER: UNSURE (perhaps 12)", "ANSWER: 12\nANSWER: UNSURE"],
)  # fmt: skip
def test_unsure(text):
    """UNSURE as an answer is read in any case and markup."""
    assert value(text) == "unsure"


def test_last_answer_wins():
    """Of several answers the last counts, on lines of their own and on one line."""
    assert value("ANSWER: 1\nno, wait\nANSWER: 2\n\nI hope that helps with your 3 questions.") == 2
    assert value("ANSWER: 1 ANSWER: 2") == 2
    assert value("ANSWER: 1\nANSWER: <integer>") == "absent"


def test_answer_in_a_line():
    """Inside a line ANSWER: counts in capitals and at the end of the text alone."""
    assert value("Therefore, ANSWER: 12") == 12
    assert value("I must end with ANSWER: 12\nLet me think.") == "absent"
    assert value("Here is my answer: 12") == "absent"


def test_reasoning_that_was_left_in():
    """An answer that is thought of first does not stand against the one that is given."""
    assert value("<think>\nANSWER: 5? No.\n</think>\nANSWER: 7") == 7


@settings(deadline=None)
@given(
    st.integers(-(10**12), 10**12),
    st.sampled_from(["{}", "{:,}", "**{}**", "\\boxed{{{}}}", " {}.", "{} units"]),
    st.text(max_size=200),
)
def test_integers_survive(number, form, before):
    """Whatever stands on the lines above, the integer of the last line is read, where it stands."""
    text = f"{before}\nANSWER: {form.format(number)}"
    found = extract_answer(text)
    assert isinstance(found, Given)
    assert found.value == number
    assert text[found.start : found.end].replace(",", "") == str(number)


@settings(deadline=None)
@given(st.text())
def test_any_text(text):
    """Any text has an answer or none, and a given one stands inside the text."""
    found = extract_answer(text)
    if isinstance(found, Given):
        assert 0 <= found.start < found.end <= len(text)


def test_long_numbers_have_no_value():
    """A number beyond the limit is an answer that is never right."""
    assert value("ANSWER: " + "9" * MAX_DIGITS) == 10**MAX_DIGITS - 1
    assert value("ANSWER: 1" + "0" * MAX_DIGITS) is None
    assert value("ANSWER: 1e9999") is None
    assert value("ANSWER: 1e39") == 10**39


MILLION = 1_000_000


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("9" * MILLION, None),
        ("ANSWER: " + "9" * MILLION, None),
        ("ANSWER: 1" + ",234" * (MILLION // 4), "absent"),
        ("ANSWER: 1" + ",234" * (MILLION // 4) + "5", "absent"),
        (",123" * (MILLION // 4), "absent"),
        ("ANSWER: " + "1 " * (MILLION // 2), "absent"),
        ("ANSWER: " * (MILLION // 8), "absent"),
        ("ANSWER:\n" * (MILLION // 8), "absent"),
        ("ANSWER: " + "(" * MILLION, "absent"),
        ("\n" * MILLION, "absent"),
        (" " * MILLION + "x", "absent"),
        ("*" * MILLION, "absent"),
        ("answer " * (MILLION // 7), "absent"),
        ("answer" + " " * MILLION, "absent"),
        ("the final " * (MILLION // 10), "absent"),
        ("\\boxed{" * (MILLION // 7), "absent"),
        ("ANSWER: " + "9^" * (MILLION // 2), "absent"),
        ("ANSWER: 9" + "**9" * (MILLION // 3), "absent"),
        ("1.234" * (MILLION // 5), "absent"),
        ("\U0001d7d8" * MILLION, None),
    ],
)
def test_hostile_texts_cost_little(text, right):
    """A million characters of anything take seconds, where squared work would take hours."""
    before = time.perf_counter()
    assert value(text) == right
    assert time.perf_counter() - before < 5.0
