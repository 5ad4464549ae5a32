"""The Python examples run as they stand, against stub servers."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import pytest

from tests.docs.pages import DOCS, ROOT, blocks, text_of
from tests.stubs import StubServer, answers

EXAMPLES = [
    (page.name, example)
    for page in (ROOT / "README.md", DOCS / "python-api.md")
    for example in blocks(text_of(page), "python")
]
URLS = {
    "http://127.0.0.1:8080/v1": "stage",
    "http://127.0.0.1:8081/v1": "reference",
    "https://api.example.com/v1": "reference",
}


def faithful(request, n):
    """Answer the README's suite as a right model does."""
    if request.get("tools"):
        call = {"name": "get_weather", "arguments": json.dumps({"city": "Paris"})}
        calls = [{"id": "call_1", "type": "function", "function": call}]
        return answers.completion(None, finish="tool_calls", tool_calls=calls)
    return answers.completion("17 * 23 = 391")


@pytest.mark.parametrize(("page", "example"), EXAMPLES, ids=[page for page, _ in EXAMPLES])
async def test_python_examples_run(tmp_path, page, example):
    """Each example prints its verdict and writes its reports."""
    measures = "run_measure" in example
    (tmp_path / "core.jsonl").write_text(blocks(text_of(ROOT / "README.md"), "jsonl")[0], "utf-8")
    async with StubServer(faithful) as stage, StubServer(faithful) as reference:
        stubs = {"stage": stage, "reference": reference}
        for url, side in URLS.items():
            example = example.replace(url, stubs[side].url)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", example),
            cwd=tmp_path,
            env={
                **os.environ,
                "DENV_HOME": str(tmp_path / "home"),
                "REFERENCE_KEY": "key-of-a-test",
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert (process.returncode, err.decode()) == (0, "")
        if measures:  # these stubs answer every question with the same sentence
            assert out.decode().split()[0] == "undecided"
            written = json.loads((tmp_path / "answers.json").read_text("utf-8"))
            assert written["schema"] == "denv.parity.answers/1"
            return
        assert "pass" in out.decode().split()
        assert stage.chats == reference.chats == 4  # three cases and the preflight
        assert "<html" in (tmp_path / "report.html").read_text("utf-8")


def test_there_are_examples():
    """The README has one, the page on Python one of a run and one of a measurement."""
    assert [page for page, _ in EXAMPLES] == ["README.md", "python-api.md", "python-api.md"]
