"""SGLang's ``/generate``, by a stub that speaks as its source does: it was not run here."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from denv.adapter.engines.protocol import (
    Alternative,
    Ended,
    EngineFault,
    EngineInfo,
    Prompt,
    Sampling,
    Token,
)
from denv.adapter.engines.sglang import Sglang, request
from tests.adapter.engines.stub import Stub, sse, stubbed, taken

MODELS = {"data": [{"id": "m", "max_model_len": 4096}]}


def event(text: str | None, ids: list[int], reason: Any = None, **meta: Any) -> dict[str, Any]:
    counts = {"prompt_tokens": 4, "cached_tokens": 1, "completion_tokens": len(ids)}
    return {
        "text": text,
        "output_ids": ids,
        "meta_info": {"finish_reason": reason, **counts, **meta},
    }


async def completed(*events: Any, sampling: Sampling | None = None) -> list[Any]:
    async with stubbed(Stub({"/generate": sse(*events)})) as http:
        return await taken(Sglang(http).complete(Prompt(ids=(1,)), sampling or Sampling(9)))


async def test_events_hold_all_that_came():
    """What is new in each event is given once; the end-of-sequence token is left out."""
    assert await completed(
        event("He", [1]),
        event("Hello", [1, 2]),
        event("Hello", [1, 2, 9], {"type": "stop", "matched": 9}),
    ) == [Token("He", b"He", id=1), Token("llo", b"llo", id=2), Ended("stop", 4, 1, 3)]


async def test_a_character_of_several_tokens():
    """The tokens of a split character keep their ids, and the last has its text."""
    assert await completed(event("", [1]), event("é", [1, 2], {"type": "length", "length": 2})) == [
        Token("", b"", id=1),
        Token("é", "é".encode(), id=2),
        Ended("length", 4, 1, 2),
    ]


async def test_an_event_may_leave_the_text_out():
    """A text that is left out is what it was, and comes whole with the last event."""
    items = await completed(
        event(None, [1]), event("Hello", [1, 2], {"type": "length", "length": 2})
    )
    assert items[:-1] == [Token("", b"", id=1), Token("Hello", b"Hello", id=2)]


async def test_logprobs():
    """Logprobs are taken from their lists, which hold all that came so far too."""
    items = await completed(
        event(
            "Hi",
            [1, 2],
            {"type": "length", "length": 2},
            output_token_logprobs=[[-0.5, 1, "H"], [-0.25, 2, "i"]],
            output_top_logprobs=[[[-0.5, 1, "H"], [-2.0, 7, "Y"]], [[-0.25, 2, "i"]]],
        ),
        sampling=Sampling(9, logprobs=2),
    )
    assert items[0] == Token(
        "", b"", id=1, logprob=-0.5, alternatives=(Alternative("H", -0.5, id=1),
                                                   Alternative("Y", -2.0, id=7)),
    )  # fmt: skip
    assert items[1].logprob == -0.25


async def test_increments_are_refused():
    """A server that sends only what is new is named, since its two forms cannot be told apart."""
    with pytest.raises(EngineFault, match="--stream-output"):
        await completed(event("Hello", [1, 2]), event(" you", [3]))


@pytest.mark.parametrize(
    ("reason", "status", "retry"),
    [
        ({"type": "abort", "message": "too long", "status_code": 400}, 400, False),
        ({"type": "abort", "message": "gone"}, None, True),
    ],
)
async def test_aborted_answers(reason, status, retry):
    """An abort is a fault, with the status that it tells."""
    with pytest.raises(EngineFault) as caught:
        await completed(event("", [], reason))
    assert (caught.value.status, caught.value.retry) == (status, retry)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"text": "a"}, "meta_info"),
        ({"text": "a", "meta_info": {}}, "output_ids"),
        (event("a", [1], {"type": "odd"}), "finish_reason"),
        (event("a", []), "without output_ids"),
    ],
)
async def test_wrong_shapes(document, said):
    """An answer of another shape is a fault that says which."""
    with pytest.raises(EngineFault, match=said):
        await completed(document)


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ({}, "no logprobs"),
        ({"output_token_logprobs": [[-1.0, 5, None]]}, "not those of its ids"),
        ({"output_token_logprobs": [[-1.0, 1, None]], "output_top_logprobs": []}, "alternatives"),
        ({"output_token_logprobs": [[-1.0]]}, "of the form"),
    ],
)
async def test_absent_logprobs(meta, said):
    """Logprobs that were asked for and are not there are a fault."""
    with pytest.raises(EngineFault, match=said):
        await completed(event("a", [1], **meta), sampling=Sampling(9, logprobs=1))


async def test_an_error_in_the_stream():
    """The error that the server writes into a stream is its fault."""
    error = {"error": {"message": "The input is longer", "code": 400}}
    with pytest.raises(EngineFault, match="longer") as caught:
        await completed(error)
    assert caught.value.status == 400


@pytest.mark.parametrize("path", ["/server_info", "/get_server_info"])
async def test_describe(path):
    """Newer and older servers tell what they are."""
    info = {"version": "0.6.1", "enable_deterministic_inference": True}
    async with stubbed(Stub({path: info, "/v1/models": MODELS})) as http:
        found = await Sglang(http).describe()
    both: frozenset[Literal["text", "ids"]] = frozenset(("text", "ids"))
    assert found == EngineInfo("sglang", "0.6.1", 4096, both, deterministic=True)


def test_request():
    """Ids go in as ids, logprobs of the prompt are not asked for, and stop strings are not sent."""
    body = request(Prompt(ids=(1, 2)), Sampling(9, stop=("x",), seed=5, logprobs=0))
    assert (body["input_ids"], body["sampling_params"]["sampling_seed"]) == ([1, 2], 5)
    assert (body["return_logprob"], body["top_logprobs_num"]) == (True, 0)
    assert "stop" not in body["sampling_params"]
    assert request(Prompt("hi"), Sampling(1))["text"] == "hi"
