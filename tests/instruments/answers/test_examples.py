"""The examples in the docstrings of the banks and of what reads their answers."""

import doctest

import pytest

from denv.instruments import bank as prompt_bank
from denv.instruments.answers import bank, extract


@pytest.mark.parametrize("module", [bank, extract, prompt_bank])
def test_examples(module):
    """Each example runs and gives what it says."""
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
