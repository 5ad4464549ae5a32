"""A data folder of the test's own, and no variable of the caller's in the way."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a data folder that is not there yet, and take all of denv's variables away."""
    for name in os.environ:
        if name.startswith("DENV_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    return tmp_path / "home"
