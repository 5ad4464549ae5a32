"""Files that people write, spoilt in every way: only errors of our own, and never a traceback."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denv.adapter.settings import load_adapter
from denv.errors import UsageError
from denv.recipes.answers import load_answers
from denv.recipes.loading import load_folder
from denv.release import load_settings
from denv.router.settings import RouterSettings

RECIPE: Mapping[str, Any] = {
    "description": "A family.", "models": ["a*"], "suite": "suite.jsonl", "max-tokens": 64,
    "pass": {"exact": "95%"}, "confidence": "95%", "sampling": {"temperature": 0.5, "top-k": 4},
    "adapter": {"name": "deepseek", "thinking": False}, "limits": ["None."],
    "engines": {"vllm": "As it is."},
}  # fmt: skip
ADAPTER: Mapping[str, Any] = {
    "engine": {"name": "vllm", "url": "http://127.0.0.1:8000", "options": {"a": 1}},
    "models": {"m": "v4-pro"}, "listed": ["m"], "thinking": True, "temperature": 0.5,
    "context-limit": 4096, "key-env": ["KEY"], "host": "127.0.0.1", "port": 1,
    "limits": {"drain": "30s", "queue": 1},
}  # fmt: skip
ROUTER: Mapping[str, Any] = {
    "listen": "127.0.0.1:1", "admin": "[::1]:2", "table": "w.json", "anonymous": {"rate": 1.5},
    "clients": [{"name": "a", "key-env": "A", "burst": 2, "rate": 1}],
    "upstream": {"credentials": [{"hosts": ["http://10.0.0.0/24:80"], "key-file": "k"}]},
    "retries": {"statuses": [503]}, "timeouts": {"body": "60s"}, "health": {"path": "/health"},
    "tracing": {"endpoint": "http://127.0.0.1:4318", "share": 0.5}, "drop-fields": ["user"],
}  # fmt: skip
ANSWERS: Mapping[str, Any] = {
    "id": "a",
    "right": {"content": "x", "logprob_shift": 0.5, "logprobs": True},
    "wrong": {"tool_calls": [{"name": "f", "arguments": {"a": 1}}], "finish_reason": "stop"},
    "why": "It is.",
}

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**63, -(2**64), 10**400, 1e308, float("inf"), float("nan"), 0, -1]),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        [
            *("", " ", "\0", "a\nb", "\ud800", "é" * 300, "x" * 100_000, "../../..", "/dev/zero"),
            *("http://[", "http://a:99999", "http://*", "http://1.2.3.0/99", "1e999s", "-1s"),
            *("99999999999999999999d", "101%", "0%", "1/0", "{{", "127.0.0.1:٣", "offline:::"),
        ]
    ),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)


@st.composite
def spoilt(draw: st.DrawFn, whole: Mapping[str, Any]) -> Any:
    """Give a document with one to three of its values put wrong, left out or joined by others."""
    value = json.loads(json.dumps(whole))
    for _ in range(draw(st.integers(1, 3))):
        at: Any = value
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            below = at[key]
            if isinstance(below, dict | list) and below and draw(st.booleans()):
                at = below
                continue
            match draw(st.sampled_from(["odd", "gone", "more", "twice"])):
                case "odd":
                    at[key] = draw(ODD)
                case "gone":
                    del at[key]
                case "more" if isinstance(at, dict):
                    at[draw(st.text(max_size=8))] = draw(ODD)
                case _:
                    at[key] = [below, below]
            break
    return value


def written_yaml(value: Any) -> bytes:
    return yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "surrogatepass")


def written_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def as_recipe(path: Path) -> None:
    path.with_name("suite.jsonl").write_text("{}")
    load_folder(path.rename(path.with_name("recipe.yaml")).parent, name="a")


def as_router(path: Path) -> None:
    made = load_settings(path, RouterSettings)
    for entry in made.upstream.credentials:
        assert len(entry.rules) == len(entry.hosts)


def as_adapter(path: Path) -> None:
    load_adapter(path, {})


LOADERS: list[Any] = [
    pytest.param(as_recipe, RECIPE, written_yaml, id="recipe.yaml"),
    pytest.param(as_adapter, ADAPTER, written_yaml, id="adapter.yaml"),
    pytest.param(as_router, ROUTER, written_yaml, id="router.yaml"),
    pytest.param(load_answers, ANSWERS, written_json, id="answers.jsonl"),
]
QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def loads(load: Callable[[Path], Any], content: bytes) -> None:
    """Load a file that holds this, which works or is refused in lines that name it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        try:
            load(path)
        except UsageError as error:
            said = str(error)
            assert said
            assert len(said) < 20_000
            assert "Traceback" not in said


@pytest.mark.parametrize(("load", "whole", "write"), LOADERS)
def test_the_whole_file_is_one(load, whole, write, tmp_path):
    """What is spoilt below is right before."""
    path = tmp_path / "file"
    path.write_bytes(write(whole))
    load(path)


@pytest.mark.parametrize(("load", "whole", "write"), LOADERS)
@QUICK
@given(data=st.data())
def test_a_spoilt_value_is_told(load, whole, write, data):
    """Whatever stands where another value belongs is taken or refused."""
    loads(load, write(data.draw(spoilt(whole))))


@pytest.mark.parametrize(("load", "whole", "write"), LOADERS)
@QUICK
@given(data=st.data())
def test_spoilt_bytes_are_told(load, whole, write, data):
    """Whatever bytes stand in a file, it is taken or refused."""
    content = bytearray(write(whole))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=6))
    loads(load, bytes(content))
