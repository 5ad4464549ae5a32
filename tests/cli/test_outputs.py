"""Reports never stand in the place of what is read, nor of each other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from denv.cli.outputs import check_outputs, check_overwriting
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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such devices")
@pytest.mark.parametrize("target", ["/dev/full", "/proc/version", "/proc/none", "/sys/none"])
def test_places_that_take_nothing_are_refused(target):
    """Devices and system folders that refuse every byte are refused at once, by their option."""
    with pytest.raises(UsageError, match=f"^--html {target}: "):
        check_outputs({"html_file": target})


def test_trying_a_place_leaves_it_as_it_was(tmp_path):
    """What exists keeps its content, what does not is not made; a link's target neither."""
    kept, link = tmp_path / "kept", tmp_path / "link"
    kept.write_text("before")
    link.symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name in ("kept", "link", "pipe", "fresh"):
        check_outputs({"html_file": tmp_path / name})
    assert kept.read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kept", "link", "pipe"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such devices")
@pytest.mark.parametrize(
    "words",
    [
        ("parity", "gates", "--json"),
        ("parity", "measure", "tokens", "--json"),
        ("parity", "measure", "answers", "--html"),
        ("parity", "measure", "derivations", "--html"),
        ("parity", "measure", "all", "--html"),
        ("bench", "speed", "--html"),
        ("parity", "run", "--suite", "none.jsonl", "--junit"),
    ],
)
async def test_every_command_tries_its_outputs_first(denv, serve, words):
    """Before anything is sent, a full device is an error of usage that names the option."""
    stub = await serve()
    sides = ["--stage", stub.url, "--reference", stub.url]
    ended = await denv(*words, "/dev/full", *sides)
    assert ended.code == 2
    assert ended.lines == [f"denv: {words[-1]} /dev/full: No space left on device"]
    assert stub.seen == []


async def test_a_demo_tries_its_folder_first(denv):
    """The demo's folder is tried before servers are started."""
    ended = await denv("parity", "demo", "--out", "/proc/none/x")
    assert ended.code == 2
    assert ended.err.startswith("denv: --out /proc/none/x: ")
