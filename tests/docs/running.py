"""Runs a page as its reader would: files are written, commands typed, and the output compared.

A fenced block whose info string has ``title="F"`` is the file F. A ``console`` block is a terminal:
lines that begin with ``$ `` are typed into one bash, which lasts for the page, and the lines below
each are what it prints. A command that shows nothing may print anything. In what is shown, ``…``
stands for any characters of a line, and alone for any lines. Each command must end with status 0,
unless the next one is ``echo $?``, which shows its status to the reader too.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from markdown_it import MarkdownIt

STATUS = "echo $?"
ENDING_S = 10
COMMAND_S = 500


@dataclass(frozen=True)
class File:
    """A file that the page tells its reader to write."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """What is typed, and the lines that are shown of what it prints."""

    line: int
    typed: str
    shown: tuple[str, ...]


def steps(text: str) -> list[File | Command]:
    """Give the files and commands of a page, in order."""
    found: list[File | Command] = []
    for token in MarkdownIt().parse(text):
        if token.type != "fence" or token.map is None:
            continue
        title = re.search(r'title="([^"]+)"', token.info)
        if title:
            found.append(File(title[1], token.content))
        elif token.info.split()[:1] == ["console"]:
            found += _typed(token.content, first=token.map[0] + 2)
    return found


def _typed(block: str, *, first: int) -> Iterator[Command]:
    typed: list[str] = []
    shown: list[str] = []
    begun = first
    for number, line in enumerate(block.splitlines(), first):
        if line.startswith("$ "):
            if typed:
                yield Command(begun, "\n".join(typed), tuple(shown))
            typed, shown, begun = [line[2:]], [], number
        elif line.startswith("> ") and not shown:
            typed.append(line[2:])
        else:
            shown.append(line)
    if typed:
        yield Command(begun, "\n".join(typed), tuple(shown))


def run_page(text: str, folder: Path) -> None:
    """Do what the page says in a fresh folder and home; an AssertionError names the line."""
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    with _bash(home, work) as bash:
        todo = steps(text)
        for step, after in zip(todo, [*todo[1:], None], strict=True):
            if isinstance(step, File):
                (work / step.name).parent.mkdir(parents=True, exist_ok=True)
                (work / step.name).write_text(step.text, "utf-8")
                continue
            status, printed = _type(bash, step.typed)
            said = f"line {step.line}: $ {step.typed}\nprinted, and ended with {status}:\n{printed}"
            assert status == 0 or (isinstance(after, Command) and after.typed == STATUS), said
            shown = bool(step.shown) or step.typed == STATUS
            assert not shown or matches(step.shown, printed), said


def matches(shown: tuple[str, ...], printed: str) -> bool:
    """Tell whether the lines that are shown are those that were printed."""
    pattern = ""
    for line in shown:
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            parts = (re.escape(part) for part in line.rstrip().split("…"))
            pattern += r"[^\n]*".join(parts) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed) is not None


def _type(bash: subprocess.Popen[str], typed: str) -> tuple[int, str]:
    """Type a command; give its status, which stays in ``$?``, and what was printed until then."""
    mark = f"end-{secrets.token_hex(8)}"
    assert bash.stdin is not None
    assert bash.stdout is not None
    bash.stdin.write(f'{{ {typed}\n}} </dev/null\n_s=$?; echo "{mark} $_s"; (exit $_s)\n')
    bash.stdin.flush()
    printed = ""
    late = threading.Timer(COMMAND_S, os.killpg, (bash.pid, signal.SIGTERM))
    late.start()
    try:
        for line in bash.stdout:
            before, found, status = line.partition(mark)
            printed += before if found else line
            if found:
                return int(status), printed
    finally:
        late.cancel()
    raise AssertionError(f"$ {typed}\nended the shell, or took over {COMMAND_S} s:\n{printed}")


@contextlib.contextmanager
def _bash(home: Path, work: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a shell in a session of its own; whatever the page leaves running ends with it."""
    bash = subprocess.Popen(
        ["bash", "--noprofile", "--norc"],
        cwd=work,
        env=_environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield bash
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(bash.pid, signal.SIGTERM)
        assert bash.stdin is not None
        assert bash.stdout is not None
        bash.stdin.close()
        try:
            bash.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            os.killpg(bash.pid, signal.SIGKILL)
            bash.wait()
        bash.stdout.close()


def _environment(home: Path) -> dict[str, str]:
    """Give a reader's environment on a fresh account; only the lab's cached model is shared."""
    cache = Path(platformdirs.user_cache_dir())
    return {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(cache),
        "LANG": "C.UTF-8",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "TMPDIR": str(home),
    }
