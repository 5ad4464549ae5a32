"""Reports never stand in the place of what is read, nor of each other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from denv.cli.outputs import check_outputs, check_overwriting, write_text
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


# ---------------------------------------------------------------- open files, long names


def run_to_file(path, target, *, mode="w"):
    """Write a report, between two prints, in a process whose standard output is this file."""
    code = (
        "import sys\nfrom denv.report.output import opened\n"
        "print('first')\n"
        "with opened(sys.argv[1]) as stream: stream.write('second\\n')\n"
        "print('third')"
    )
    with path.open(mode) as stream:
        subprocess.run([sys.executable, "-c", code, str(target)], stdout=stream, check=True)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no such folder")
@pytest.mark.parametrize("target", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_an_open_file_is_written_through(tmp_path, target):
    """Standard output by any name goes where the caller sent it: behind what stands there."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    kept = tmp_path / "kept"
    kept.write_text("before\n")
    inode = kept.stat().st_ino
    run_to_file(kept, tmp_path / target, mode="a")
    assert kept.read_text() == "before\nfirst\nsecond\nthird\n"
    assert kept.stat().st_ino == inode


def test_standard_output_takes_one_report_by_any_name():
    """``-`` and ``/dev/stdout`` are the same place."""
    with pytest.raises(UsageError, match="standard output takes one report"):
        check_outputs({"json_file": "-", "html_file": "/dev/stdout"})


@pytest.mark.parametrize("target", ["x" * 300, "loop", "/dev/fd/987"])
def test_names_that_cannot_be_opened_are_refused(tmp_path, target):
    """A name that is too long, links in a ring, a closed file: one line, by the option."""
    (tmp_path / "loop").symlink_to(tmp_path / "pool")
    (tmp_path / "pool").symlink_to(tmp_path / "loop")
    with pytest.raises(UsageError, match=r"^--json ") as caught:
        check_outputs({"json_file": str(tmp_path / target)})
    assert "\n" not in str(caught.value)


def test_the_longest_name_that_can_be_opened_is_written(tmp_path):
    """255 bytes are allowed, whatever they spell: 127 letters of two bytes, and one more."""
    target = tmp_path / ("é" * 127 + "x")
    check_outputs({"json_file": target})
    write_text("--json", target, "{}\n")
    assert target.read_text("utf-8") == "{}\n"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_text_replaces_the_file_whole(tmp_path):
    """A reader that has the older file open goes on reading the older one."""
    target = tmp_path / "f"
    target.write_text("older")
    with target.open() as reader:
        write_text("--json", target, "newer")
        assert (reader.read(), target.read_text()) == ("older", "newer")
