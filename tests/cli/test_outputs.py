"""Reports never stand in the place of what is read, nor of each other."""

from __future__ import annotations

import os

import pytest

from denv.cli.outputs import check_overwriting
from denv.errors import UsageError


def refused(inputs, **options):
    """Give the message of what is refused."""
    with pytest.raises(UsageError) as caught:
        check_overwriting(options, inputs)
    return str(caught.value)


def test_an_input_is_not_overwritten(tmp_path):
    """A report in the suite's place is refused, also through a link of either kind."""
    suite = tmp_path / "s.jsonl"
    suite.write_text("{}")
    (tmp_path / "soft").symlink_to(suite)
    os.link(suite, tmp_path / "hard")
    for name in ("s.jsonl", "soft", "hard", "../" + tmp_path.name + "/s.jsonl"):
        message = refused([("--suite", suite)], html_file=tmp_path / name)
        assert message.startswith("--html ")
        assert message.endswith("would overwrite the file of --suite")


def test_two_reports_need_two_files(tmp_path):
    """Two reports in one file are refused before either exists."""
    message = refused([], json_file=str(tmp_path / "r"), html_file=tmp_path / "x" / ".." / "r")
    assert "--json and --html are the same file" in message


def test_pipes_and_standard_output_are_allowed(tmp_path):
    """A pipe takes what is written to it, and so does standard output."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    options = {"json_file": "-", "html_file": pipe, "junit_file": pipe}
    check_overwriting(options, [("--suite", tmp_path / "s.jsonl")])
