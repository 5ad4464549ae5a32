"""The examples in the docstrings of the instrument."""

import doctest

from denv.instruments.tokens import runs


def test_examples():
    """Each example runs and gives what it says."""
    result = doctest.testmod(runs)
    assert result.attempted > 0
    assert result.failed == 0
