"""The examples in the docstrings of the statistics."""

import doctest

import pytest

from denv.stats import contingency, proportions, quantiles


@pytest.mark.parametrize("module", [contingency, proportions, quantiles])
def test_examples(module):
    """Each example runs and gives what it says."""
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
