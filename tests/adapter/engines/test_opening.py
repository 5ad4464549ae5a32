"""Settings and the engines that they name."""

from __future__ import annotations

import pytest

from denv.adapter.engines import open_engine
from denv.adapter.engines.completions import VllmCompletions
from denv.adapter.engines.in_process import InProcessLlama
from denv.adapter.engines.llama_cpp import LlamaCpp
from denv.adapter.engines.offline import OfflineEngine
from denv.adapter.engines.protocol import Prompt, Sampling
from denv.adapter.engines.sglang import Sglang
from denv.adapter.settings import EngineSettings
from denv.errors import UsageError
from tests.adapter.engines.stub import Stub, sse, stubbed, taken

URL = "http://127.0.0.1:1"


def settings(**written: object) -> EngineSettings:
    return EngineSettings.model_validate(
        {name.replace("_", "-"): value for name, value in written.items()}
    )


@pytest.mark.parametrize(
    ("name", "kind"), [("llama.cpp", LlamaCpp), ("vllm", VllmCompletions), ("sglang", Sglang)]
)
async def test_engines_over_http(name, kind):
    """Opening asks nothing of the engine."""
    engine = open_engine(settings(name=name, url=URL))
    assert isinstance(engine, kind)
    await engine.close()


async def test_llama_cpp_in_process(tmp_path):
    """Weights are looked for at once and loaded later."""
    weights = tmp_path / "m.gguf"
    written = {"name": "llama.cpp-in-process", "weights": str(weights)}
    with pytest.raises(UsageError, match="no such file"):
        open_engine(settings(**written))
    weights.touch()
    engine = open_engine(settings(**written, options={"parallel": 1}))
    assert isinstance(engine, InProcessLlama)
    await engine.close()


async def test_an_offline_model():
    """What follows offline: is the class, and ``model`` are its keywords."""
    written = {"name": "offline:json:JSONDecoder", "options": {"window": "50ms", "batch": 4}}
    engine = open_engine(settings(**written))
    assert isinstance(engine, OfflineEngine)
    await engine.close()
    with pytest.raises(UsageError, match="no_such:Model: it cannot be imported"):
        open_engine(settings(name="offline:no_such:Model"))


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("vllm", {"x": 1}, "options: x"),
        ("llama.cpp", {"cache-prompt": "yes"}, "options: cache-prompt"),
        ("llama.cpp", {"special-tokens": [""]}, "options: special-tokens.0"),
        ("offline:json:JSONDecoder", {"batch": 0}, "options: batch"),
    ],
)
def test_wrong_options(name, options, said):
    """A wrong option is one line that names it."""
    url = {} if name.startswith("offline") else {"url": URL}
    with pytest.raises(UsageError, match=said):
        open_engine(settings(name=name, options=options, **url))


async def test_special_tokens_of_the_family_and_of_the_settings():
    """llama.cpp is told both; a base that ends in /v1 is the same server."""
    last = {"content": "", "stop": True, "stop_type": "eos", "tokens_predicted": 0}
    stub = Stub({"/completion": sse(last)})
    async with stubbed(stub) as http:
        written = settings(
            name="llama.cpp", url=f"{http._url}/v1", options={"special-tokens": ["<b>"]}
        )
        engine = open_engine(written, special_tokens=("<a>",))
        await taken(engine.complete(Prompt(ids=(1,)), Sampling(1)))
        await engine.close()
    assert stub.asked[0][1]["preserved_tokens"] == ["<a>", "<b>"]


async def test_keys(monkeypatch, tmp_path):
    """A key is read when the engine is opened, and a missing one is an error then."""
    with pytest.raises(UsageError, match="DENV_ENGINE_KEY is not set"):
        open_engine(settings(name="sglang", url=URL, key_env="DENV_ENGINE_KEY"))
    monkeypatch.setenv("DENV_ENGINE_KEY", "k-1")
    stub = Stub({"/server_info": {}, "/v1/models": {"data": [{}]}})
    async with stubbed(stub) as http:
        engine = open_engine(settings(name="sglang", url=http._url, key_env="DENV_ENGINE_KEY"))
        await engine.describe()
        await engine.close()
    assert stub.headers[0]["Authorization"] == "Bearer k-1"
