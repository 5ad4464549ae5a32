"""DeepInfer by a stub with its published names (0.1.0): the real one needs hardware of its own."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from denv.adapter.engines.deepinfer import DeepInferModel
from denv.adapter.engines.offline import OfflineEngine, find_model
from denv.adapter.engines.protocol import Alternative, Ended, EngineFault, Prompt, Sampling, Token
from denv.errors import UsageError
from tests.adapter.engines.stub import taken

PIECES = {1: "Hi", 2: "Ġ", 3: "Ã", 4: "©", 5: "<｜DSML｜>", 9: "<eos>"}
SPECIAL = {5: object(), 9: object()}


class Tokenizer:
    added_tokens_decoder = SPECIAL

    def convert_ids_to_tokens(self, token_id: int) -> str:
        return PIECES[token_id]


class Llm:
    """What the published ``LLM`` takes and gives; ``outputs`` is a list of (ids, reason)."""

    outputs: ClassVar[list[tuple[list[int], str]]] = []
    made: ClassVar[list[Any]] = []

    def __init__(self, model: str, *, decode_sequence: bool = True, **keywords: Any) -> None:
        self.made.append((model, decode_sequence, keywords))
        self.asked: Any = None

    def get_tokenizer(self) -> Tokenizer:
        return Tokenizer()

    def generate(self, *, prompt_token_ids, sampling_params, use_tqdm) -> list[list[Any]]:
        assert use_tqdm is False
        assert len(prompt_token_ids) == len(sampling_params)
        self.made.append((prompt_token_ids, [vars(one) for one in sampling_params]))
        return [self._output(*one) for one in self.outputs]

    def _output(self, ids: list[int], reason: str) -> list[Any]:
        return [
            SimpleNamespace(
                token_id=one,
                token_logprobs=-0.5,
                top_logprobs=[-0.5, -1.5],
                top_token_ids=[one, 1],
                prompt_len=7,
                finish_reason=reason if place == len(ids) else "",
                finished=place == len(ids),
            )
            for place, one in enumerate(ids, start=1)
        ]

    def close(self) -> None:
        self.made.append("closed")


@pytest.fixture
def llm(monkeypatch) -> type[Llm]:
    """Put modules with the published names in the place of DeepInfer's."""
    made: dict[str, dict[str, Any]] = {
        "deepinfer": {"__version__": "0.1.0"},
        "deepinfer.entrypoints": {},
        "deepinfer.entrypoints.llm": {"LLM": Llm},
        "deepinfer.sampling_params": {"SamplingParams": SimpleNamespace},
    }
    for name, content in made.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(Llm, "outputs", [])
    monkeypatch.setattr(Llm, "made", [])
    return Llm


def test_without_it_one_line_says_so():
    """The package is imported when the model is made, and its absence is an error in one line."""
    with pytest.raises(UsageError, match="deepinfer cannot be imported"):
        DeepInferModel(model="m")


def test_tokens(llm):
    """Ids become bytes, and characters that are split over tokens become whole with the last."""
    llm.outputs = [([1, 2, 3, 4, 5], "length")]
    model = DeepInferModel(model="m", max_model_len=100)
    (answer,) = model.generate([Prompt(ids=(8, 8))], [Sampling(5, seed=3)])
    assert answer == [
        Token("Hi", b"Hi", id=1),
        Token(" ", b" ", id=2),
        Token("", b"\xc3", id=3),
        Token("é", b"\xa9", id=4),
        Token("<｜DSML｜>", "<｜DSML｜>".encode(), id=5),
        Ended("length", 7, None, 5),
    ]
    assert llm.made[0] == ("m", False, {"max_model_len": 100})
    assert llm.made[1][0] == [[8, 8]]
    assert llm.made[1][1][0]["seq_seed"] == 3
    assert model.describe().context_tokens == 100


def test_the_end_of_sequence_token_is_left_out(llm):
    """A completion that stops has it as its last token; it is counted, and not given."""
    llm.outputs = [([1, 9], "stop")]
    (answer,) = DeepInferModel(model="m").generate([Prompt(ids=(8,))], [Sampling(5)])
    assert answer == [Token("Hi", b"Hi", id=1), Ended("stop", 7, None, 2)]


def test_logprobs(llm):
    """Logprobs and alternatives are its own."""
    llm.outputs = [([4], "length")]
    (answer,) = DeepInferModel(model="m").generate([Prompt(ids=(8,))], [Sampling(1, logprobs=2)])
    assert isinstance(answer, list)
    assert answer[0] == Token(
        "\ufffd", b"\xa9", id=4, logprob=-0.5,
        alternatives=(Alternative("\ufffd", -0.5, b"\xa9", 4), Alternative("Hi", -1.5, b"Hi", 1)),
    )  # fmt: skip
    assert llm.made[1][1][0]["top_logprobs"] == 2


@pytest.mark.parametrize(
    ("reason", "status", "retry"),
    [("prompt_length_exceeded", 400, False), ("insufficient_system_resource", None, True)],
)
def test_what_it_gives_up(llm, reason, status, retry):
    """A completion that it ended for another reason is a fault of that prompt alone."""
    llm.outputs = [([1], reason), ([1], "length")]
    prompts = [Prompt(ids=(8,)), Prompt(ids=(8,))]
    bad, good = DeepInferModel(model="m").generate(prompts, [Sampling(1), Sampling(1)])
    assert isinstance(bad, EngineFault)
    assert (bad.status, bad.retry) == (status, retry)
    assert not isinstance(good, EngineFault)


async def test_behind_the_seam(llm):
    """It is found by its entry, and completes through the offline engine."""
    llm.outputs = [([1, 9], "stop")]
    make = find_model("denv.adapter.engines.deepinfer:DeepInferModel")
    engine = OfflineEngine(lambda: make(model="m"))
    items = await taken(engine.complete(Prompt(ids=(8,)), Sampling(5)))
    assert items[-1].reason == "stop"
    await engine.close()
    assert llm.made[-1] == "closed"
