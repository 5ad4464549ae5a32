"""The declared answer: cut out of a text, never guessed."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.instruments.derivations import extract_final


@pytest.mark.parametrize(
    ("text", "final"),
    [
        ("FINAL: 3", "3"),
        ("FINAL: x = 3;", "x = 3"),
        ("FINAL : 3", "3"),
        ("FINAL\uff1a3", "3"),
        ("FINAL ANSWER: 3", "3"),
        ("## Final answer: 3", "3"),
        ("> FINAL: 3", "3"),
        ("- **FINAL:** **3**", "3"),
        ("***FINAL: 3***", "3"),
        ("$$\\boxed{\\text{FINAL: } \\frac{1}{2}}$$", "\\frac{1}{2}}$$"),
        ("FINAL: (1, 2]", "(1, 2]"),
        ("(FINAL: 3)", "3"),
        ("FINAL: [2, 3)", "[2, 3)"),
        ("FINAL: 0.333...", "0.333..."),
        ("FINAL: 5!", "5!"),
        ("FINAL: \\[\n3\n\\]\nThat is all.", "\\[\n3\n\\]"),
        ("FINAL: $$ 3 $$ and more", "$$ 3 $$ and more"),
        ("FINAL: 3\n\nI hope this helps with 4.", "3"),
        ("FINAL: 3 FINAL: 4", "4"),
        (
            "FINAL: \\begin{pmatrix}1\\\\\n2\\end{pmatrix}.",
            "\\begin{pmatrix}1\\\\\n2\\end{pmatrix}",
        ),
    ],
)
def test_declared(text, final):
    """Decoration goes, what was opened is taken whole, the last declaration wins."""
    assert extract_final(text) == final


@pytest.mark.parametrize(
    "text",
    [
        None, "", "3", "The answer is 3.", "\\boxed{3}", "FINALLY: 3", "SEMIFINAL: 3", "FINAL 3",
        "FINAL: <expr>", "FINAL:", "FINAL:\n\n  \n", "**FINAL:** ", "the final: 3", "FINAL: .",
    ],
)  # fmt: skip
def test_absent(text):
    """Where nothing is declared, no number of the text is taken for the answer."""
    assert extract_final(text) is None


def test_an_empty_last_line_hides_the_earlier_ones():
    """Whoever declares anew, and is cut off, has not declared the earlier answer."""
    assert extract_final("FINAL: 3\nI was wrong.\nFINAL:") is None


@given(st.text(alphabet="FINAL:inal 3\n*$\\{}()[]<expr>_`-#", max_size=80))
def test_any_text_is_cut(text):
    """No text raises, and what comes out is one that was there."""
    found = extract_final(text)
    assert found is None or (found and found in text)


@pytest.mark.parametrize(
    "text",
    [
        "FINAL: " + "9" * 10**6,
        "\n" * 10**6,
        " " * 10**6 + "FINAL",
        "FINAL: <expr>\n" * 50_000,
        "*" * 10**6,
        "FINAL:" + "}" * 10**5,
        "FINAL:" + ")" * 10**5 + "." * 10**5,
        "FINAL: $$" * 10**5,
    ],
    ids=["digits", "lines", "spaces", "echoes", "stars", "braces", "stops", "displays"],
)
def test_long_texts_take_linear_time(text):
    """A text of a megabyte costs a moment of processor time, whatever it holds."""
    started = time.process_time()
    extract_final(text)
    assert time.process_time() - started < 5
