"""Where texts part, fit to be shown."""

import pytest

from denv.instruments.gates.parting import parting, shared, shown


def test_equal_texts_do_not_part():
    """There is nothing to name."""
    assert parting("same", "same") is None


def test_the_first_difference_is_named_with_what_stands_around():
    """The offset counts code points; both texts are shown from 32 before to 32 after."""
    found = parting("a" * 40 + "é<|im_end|>" + "b" * 40, "a" * 40 + "é</s>")
    assert found is not None
    assert found.offset == 42
    assert found.stage == "…" + "a" * 30 + "é<|im_end|>" + "b" * 23 + "…"
    assert found.reference == "…" + "a" * 30 + "é</s>"


@pytest.mark.parametrize(
    ("stage", "reference", "offset"), [("ab", "a", 1), ("", "x", 0), ("x", "y", 0)]
)
def test_ends_and_heads(stage, reference, offset):
    """A text that ends where the other goes on parts at its end."""
    found = parting(stage, reference)
    assert found is not None
    assert found.offset == offset


def test_nothing_that_a_terminal_obeys_is_shown():
    """Controls, changes of direction, invisible and lone characters are escapes."""
    text = "\x1b[31m\x00\r\n\t\u202e\u200b\ud800 é 漢 \\n"
    assert shown(text) == r"\x1b[31m\x00\r\n\t\u202e\u200b\ud800 é 漢 \\n"


def test_shared_counts_equal_items():
    """It works on texts, bytes and tuples."""
    assert (shared("abc", "abd"), shared(b"ab", b"ab"), shared((1, 2), (2,))) == (2, 2, 0)
