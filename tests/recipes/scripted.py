"""A scripted stage: a server that knows a recipe's answers by heart, right or wrong by case.

    async with scripted_stage(recipe, wrong={"capital-of-spain"}) as stage:
        ...  # stage.url ends in /v1; stage.seen lists the requests

``run_scripted`` runs a whole suite against two of them and gives the report.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from denv.recipes import Recipe, completion, load_answers
from denv.records import Endpoint, Thresholds
from denv.report import Report
from denv.runner import Settings, run_parity
from denv.store import open_store
from denv.suite import load_suite
from tests.stubs import StubServer, answers

ASKED = ("messages", "tools", "tool_choice", "response_format", "stop")
"""The fields that tell which case a request is."""

MODEL = "scripted"


def scripted_handler(recipe: Recipe, *, wrong: Collection[str] = (), path: Path | None = None):
    """Give a stub's handler that answers each case of a recipe (or of the answers' file)."""
    file = path or recipe.answers
    assert file is not None, f"{recipe.name} has no answers.jsonl"
    known = load_answers(file)
    unknown = set(wrong) - set(known)
    assert not unknown, f"no answers for {sorted(unknown)}"
    ids = _ids(recipe)

    def handler(request: Any, n: int) -> Any:
        asked = _key(request)
        if asked not in ids:
            return answers.completion("Hello")  # the preflight
        line = known[ids[asked]]
        return completion(line.wrong if line.id in wrong else line.right, request)

    return handler


def scripted_stage(
    recipe: Recipe, *, wrong: Collection[str] = (), path: Path | None = None
) -> StubServer:
    """Give a server, to be entered, that answers ``wrong`` cases wrongly and all others rightly."""
    return StubServer(scripted_handler(recipe, wrong=wrong, path=path), models=[MODEL])


async def run_scripted(
    recipe: Recipe, folder: Path, *, wrong: Collection[str] = (), suite: Path | None = None
) -> dict[str, Any]:
    """Run a recipe's suite (or another file of its cases) and give the report as one mapping.

    The reference answers everything rightly. ``folder`` takes the store.
    """
    settings = Settings(
        thresholds=Thresholds(rates=recipe.thresholds, confidence=recipe.confidence),
        max_tokens=recipe.max_tokens or Settings().max_tokens,
        recipe=recipe.label,
    )
    store = open_store(folder)
    try:
        async with scripted_stage(recipe, wrong=wrong) as stage, scripted_stage(recipe) as trusted:
            report: Report = await run_parity(
                load_suite(suite or recipe.suite),
                stage=Endpoint(url=stage.url),
                reference=Endpoint(url=trusted.url),
                settings=settings,
                store=store,
            )
        return {**report.head, "cases": list(report.cases())}
    finally:
        store.close()


def _ids(recipe: Recipe) -> dict[str, str]:
    files = [recipe.suite, *([recipe.golden] if recipe.golden else [])]
    return {_key(case.fields): case.id for file in files for case in load_suite(file)}


def _key(fields: Mapping[str, Any]) -> str:
    return json.dumps([fields.get(name) or None for name in ASKED], sort_keys=True)
