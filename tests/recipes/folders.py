"""Small recipes for tests, written to a folder."""

from __future__ import annotations

import json
from pathlib import Path

from denv.recipes import Recipe, load_folder
from tests.suites import line

YAML = """\
description: A small recipe
suite: suite.jsonl
golden: golden.jsonl
answers: answers.jsonl
pass: {exact: 90%}
"""


COLOURS = (
    *("red", "blue", "green", "pink", "black", "white", "brown", "grey"),
    *("gold", "teal", "mint", "plum", "rust", "sand", "jade"),
)


def colours(count: int = 12) -> list[dict]:
    """Give cases that differ in a word."""
    return [line(word, f"Say {word}.", {"equals": word}) for word in COLOURS[:count]]


def answers_of(cases: list[dict]) -> list[dict]:
    """Give a right and a wrong answer for each case that wants a text to be equal."""
    return [
        {
            "id": case["id"],
            "right": {"content": case["expect"]["equals"]},
            "wrong": {"content": case["expect"]["equals"] + "!"},
        }
        for case in cases
    ]


def write_recipe(
    folder: Path,
    *,
    cases: list[dict] | None = None,
    golden: list[dict] | None = None,
    answers: list[dict] | None = None,
    yaml: str = YAML,
) -> Path:
    """Write a complete recipe, or one with other parts."""
    cases = colours() if cases is None else cases
    parts = {
        "suite.jsonl": cases,
        "golden.jsonl": cases[:10] if golden is None else golden,
        "answers.jsonl": answers_of(cases) if answers is None else answers,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in parts.items():
        (folder / name).write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    (folder / "recipe.yaml").write_text(yaml, "utf-8")
    return folder


def make_recipe(folder: Path, **parts) -> Recipe:
    """Write and read a recipe."""
    return load_folder(write_recipe(folder, **parts))
