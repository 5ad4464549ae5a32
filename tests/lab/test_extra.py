"""The extra's packages."""

import pytest

from denv.errors import UsageError
from denv.lab.extra import load_extra


def test_missing_package_says_how_to_get_it():
    """A package that is not installed is a usage error of one line with the pip command."""
    with pytest.raises(UsageError) as caught:
        load_extra("denv_lab_nowhere")
    assert str(caught.value).endswith("pip install 'denv-parity[lab]'")
    assert "\n" not in str(caught.value)


def test_present_package_is_given():
    """A package that is installed is imported."""
    assert load_extra("json").loads("1") == 1


def test_fault_inside_a_package_is_not_hidden(tmp_path, monkeypatch):
    """A package that itself misses another one raises what it raises."""
    (tmp_path / "denv_lab_broken.py").write_text("import denv_lab_absent\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="denv_lab_absent"):
        load_extra("denv_lab_broken")
