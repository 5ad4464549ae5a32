"""The examples of the page on releases are what it says they are."""

import re
from pathlib import Path

import pytest

from denv.errors import ReleaseError
from denv.release import load_release

PAGE = (Path(__file__).parents[2] / "docs" / "release.md").read_text("utf-8")
GOOD = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
BAD = re.findall(r"^```yaml-error\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_has_examples():
    """There are releases that load and releases that do not."""
    assert len(GOOD) >= 3
    assert len(BAD) >= 2


@pytest.mark.parametrize("example", GOOD)
def test_good_examples_load(tmp_path, example):
    """Every good example is a valid release."""
    (tmp_path / "release.yaml").write_text(example, "utf-8")
    assert load_release(tmp_path / "release.yaml").name


@pytest.mark.parametrize("example", BAD)
def test_bad_examples_are_refused(tmp_path, example):
    """Every bad example has exactly one thing wrong."""
    (tmp_path / "release.yaml").write_text(example, "utf-8")
    with pytest.raises(ReleaseError) as caught:
        load_release(tmp_path / "release.yaml")
    assert "\n" not in str(caught.value)


def test_the_shown_error_is_the_real_one(tmp_path, monkeypatch):
    """The error that the page shows is the one of the example above it."""
    monkeypatch.chdir(tmp_path)
    Path("release.yaml").write_text(BAD[0], "utf-8")
    with pytest.raises(ReleaseError) as caught:
        load_release("release.yaml")
    assert f"```text\n{caught.value}\n```" in PAGE
