"""The pages, and what is cut out of them: blocks, tables, options, links."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest
import yaml

from denv.cli import denv

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md")))

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def chromium() -> str:
    """Give the browser's path; the test is skipped where there is none, unless all must run."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    if os.environ.get("DENV_ALL_TESTS"):
        pytest.fail("no Chromium on PATH")
    return pytest.skip("no Chromium on PATH")


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def blocks(text: str, info: str) -> list[str]:
    """Give the fenced blocks with this info string."""
    return [body for found, body in _BLOCK.findall(text) if found == info]


def answered(text: str, info: str) -> list[tuple[str, str]]:
    """Give the blocks with this info string, each with the text block that follows it."""
    found = _BLOCK.findall(text)
    return [
        (body, after)
        for (name, body), (kind, after) in pairwise(found)
        if (name, kind) == (info, "text")
    ]


def commands(text: str) -> Iterator[list[str]]:
    """Give the words of each command in shell blocks and in a workflow's steps."""
    scripts = blocks(text, "sh")
    for block in blocks(text, "yaml"):
        document = yaml.safe_load(block)
        scripts += [step["run"] for step in document.get("steps", ()) if "run" in step]
    for script in scripts:
        for line in script.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words:
                yield words


def options_in(text: str) -> set[str]:
    return set(_OPTION.findall(text))


def links(text: str) -> list[str]:
    return _LINK.findall(_BLOCK.sub("", text))


def anchors(text: str) -> set[str]:
    """Give the anchors that a host makes of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", _BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def rows(text: str, heading: str) -> list[list[str]]:
    """Give the cells of the first table below the first row that starts with ``heading``."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(f"| {heading} |"):
            break
    next(lines)
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def names(text: str) -> list[str]:
    """Give what stands as code in a cell or a text, apart from its blocks."""
    return re.findall(r"`([^`\n]+)`", _BLOCK.sub("", text))


def all_commands(
    command: click.Command = denv, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Give every command that is no group, by its words."""
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from all_commands(inner, (*path, name))


def options_of(command: click.Command) -> set[str]:
    """Give the long names of a command's own options."""
    return {
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    }
