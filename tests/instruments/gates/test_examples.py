"""The examples in the docstrings of the gates."""

import doctest

import pytest

from denv.instruments.gates import limits, nucleus, parting, sample_fit


@pytest.mark.parametrize("module", [limits, nucleus, parting, sample_fit])
def test_examples(module):
    """Each example runs and gives what it says."""
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
