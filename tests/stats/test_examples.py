"""The examples in the docstrings of the statistics."""

import doctest
import importlib
import pkgutil

import pytest

import denv.stats

MODULES = [module.name for module in pkgutil.iter_modules(denv.stats.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    """Each example runs and gives what it says."""
    result = doctest.testmod(importlib.import_module(f"denv.stats.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
