"""``adapter.yaml`` and the flags that win over it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from denv.adapter.settings import AdapterSettings, EngineSettings, Limits, load_adapter
from denv.errors import ReleaseError, UsageError
from denv.recipes import Adapter, load

VLLM = {"name": "vllm", "url": "http://127.0.0.1:1"}

WRITTEN = """\
engine: {name: llama.cpp, url: "http://127.0.0.1:8080"}
models: {house: v4-pro, other: v4.1-flash}
listed: [house]
tokenizer: files/tokenizer.json
thinking: false
context-limit: 65536
key-file: [keys/one]
limits: {concurrency: 8, drain: 10s, body-bytes: 2048}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "adapter.yaml"
    path.write_text(text, "utf-8")
    return path


def test_file(tmp_path: Path) -> None:
    """A file is read whole, its paths taken from its folder; what is not said has its default."""
    settings = load_adapter(written(tmp_path, WRITTEN), {})
    assert settings.engine is not None
    assert settings.engine.url == "http://127.0.0.1:8080"
    assert settings.models == {"house": "v4-pro", "other": "v4.1-flash"}
    assert settings.shown == ("house",)
    assert settings.tokenizer == str(tmp_path / "files/tokenizer.json")
    assert settings.key_file == (str(tmp_path / "keys/one"),)
    assert settings.thinking is False
    assert (settings.limits.concurrency, settings.limits.drain) == (8, 10.0)
    assert settings.limits.first_token == 600.0
    assert settings.port == 8092


def test_flags_win(tmp_path: Path) -> None:
    """Flags replace what the file says, key by key; names of models are added."""
    flags = {
        "engine": {"url": "http://127.0.0.1:9090"},
        "models": {"third": "v4-pro"},
        "thinking": True,
        "port": 0,
    }
    settings = load_adapter(written(tmp_path, WRITTEN), flags)
    assert settings.engine is not None
    assert (settings.engine.name, settings.engine.url) == ("llama.cpp", "http://127.0.0.1:9090")
    assert set(settings.models) == {"house", "other", "third"}
    assert settings.thinking is True
    assert settings.limits.concurrency == 8
    assert settings.tokenizer == str(tmp_path / "files/tokenizer.json")


def test_flags_alone() -> None:
    """No file is needed: the official names are served then."""
    settings = load_adapter(None, {"engine": {"name": "vllm", "url": "http://127.0.0.1:1"}})
    assert set(settings.models) == {"DeepSeek-V4-Pro", "DeepSeek-V4.1-Flash"}
    assert settings.shown == ("DeepSeek-V4-Pro", "DeepSeek-V4.1-Flash")


def test_recipe(tmp_path: Path) -> None:
    """A recipe's settings hold where neither file nor flags say otherwise."""
    recipe = load("deepseek-v4-pro")
    settings = load_adapter(None, {"engine": VLLM}, recipe=recipe)
    assert "deepseek-v4-pro" in settings.models
    assert "DeepSeek-V4.1-Flash" not in settings.models
    assert settings.context_limit == 1_048_576
    assert settings.temperature == recipe.sampling["temperature"]
    settings = load_adapter(written(tmp_path, WRITTEN), {"thinking": True}, recipe=recipe)
    assert set(settings.models) == {"house", "other"}
    assert (settings.context_limit, settings.thinking) == (65536, True)


def test_recipes_that_do_not_fit() -> None:
    """A recipe of no adapter, or with settings that are none, is refused by its name."""
    recipe = load("deepseek-v4-pro")
    for adapter, said in (
        (None, "is for no adapter"),
        (Adapter("other"), "is for no adapter"),
        (Adapter("deepseek", {"thinkin": True}), "deepseek-v4-pro: adapter: thinkin"),
    ):
        with pytest.raises(UsageError, match=said):
            load_adapter(None, {"engine": VLLM}, recipe=replace(recipe, adapter=adapter))


ENGINE = 'engine: {name: vllm, url: "http://127.0.0.1:1"}\n'


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("engine: {name: abacus}", 1, "engine: the engine: 'abacus' is no engine"),
        ("engine: {name: vllm}", 1, "engine: the engine vllm needs its url"),
        (ENGINE + "modles: {a: v4-pro}", 2, 'modles: unknown key; did you mean "models"?'),
        (ENGINE + "models: {a: v5}", 2, "models.a: must be 'v4-pro' or 'v4.1-flash'"),
        (ENGINE + "models: {}", 2, "models: must have at least 1 entry"),
        (ENGINE + "thinking: maybe", 2, "thinking: must be true or false"),
        (ENGINE + "context-limit: 0", 2, "context-limit: must be 1 or more"),
        (ENGINE + "limits: {queue-wait: soon}", 2, "limits.queue-wait:"),
        (ENGINE + "key-env: [sk-1 2]", 2, "key-env"),
    ],
)
def test_what_is_wrong(tmp_path: Path, text: str, line: int, key: str) -> None:
    """Every fault is one line with file, line and key."""
    path = written(tmp_path, text)
    with pytest.raises(ReleaseError) as caught:
        load_adapter(path, {})
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert key.removeprefix("engine: the engine: ") in message


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({}, "no engine is named"),
        ({"engine": {"name": "vllm"}}, "needs its url"),
        ({"engine": {"name": "llama.cpp-in-process"}}, "needs its weights"),
        ({"engine": {"name": "llama.cpp-in-process", "url": "http://a", "weights": "w"}}, "no url"),
        ({"engine": {"url": "http://127.0.0.1:1"}}, "--engine-name"),
        ({"engine": {"name": "vllm", "url": "http://127.0.0.1:1"}, "listed": ("x",)}, "listed"),
        ({"engine": {"name": "vllm", "url": "http://127.0.0.1:1"}, "prompt": "ids"}, "tokenizer"),
    ],
)
def test_wrong_flags(flags: dict[str, object], said: str) -> None:
    """What flags make of the settings is checked as the file is."""
    with pytest.raises(UsageError, match=said):
        load_adapter(None, flags)


def test_keys_do_not_show() -> None:
    """A key in a setting's place is refused without being shown."""
    flags = {"engine": {"name": "vllm", "url": "http://a"}, "key-env": ("sk-secret 123",)}
    with pytest.raises(UsageError) as caught:
        load_adapter(None, flags)
    assert "sk-secret" not in str(caught.value)


def test_defaults_are_frozen() -> None:
    """Settings cannot be changed once they are made."""
    with pytest.raises(ValueError, match="frozen"):
        AdapterSettings().port = 1


def test_the_page_shows_what_there_is(tmp_path: Path) -> None:
    """The example of the page is read, and its tables name every key and no other."""
    page = (Path(__file__).parents[2] / "docs" / "adapter.md").read_text("utf-8")
    example = page.split("```yaml\n")[1].split("```")[0]
    assert load_adapter(written(tmp_path, example), {}).shown == ("house-flash",)
    named = {name for row in page.splitlines() if row.startswith("| ") for name in keys_of(row)}
    for section in (AdapterSettings, Limits):
        for field in section.model_fields.values():
            assert field.alias in named, field.alias
    for field in EngineSettings.model_fields.values():
        assert f"engine: {field.alias}" in named, field.alias


def keys_of(row: str) -> list[str]:
    """Give what stands in code quotes in a row, and what stands before its colon."""
    quoted = re.findall(r"`([^`]+)`", row)
    return [*quoted, *(one.partition(":")[0] for one in quoted)]
