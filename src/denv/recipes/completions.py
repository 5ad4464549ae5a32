"""A scripted answer as the body of a Chat Completions response, logprobs made of its text."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from denv.recipes.answers import ScriptedMessage

_PIECE = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")


def completion(message: ScriptedMessage, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request with a message, as a server that has it by heart would.

    Logprobs depend on the text alone, so that two such servers agree to the last digit. An
    answer that ends by ``length`` counts as many tokens as the request allowed.
    """
    text = message.content or ""
    logprobs = None
    if request.get("logprobs") and message.logprobs:
        logprobs = _logprobs(text, top=request.get("top_logprobs") or 0, by=message.logprob_shift)
    used = _count(message)
    if message.finish == "length":
        used = request.get("max_tokens") or request.get("max_completion_tokens") or used
    choice = {
        "index": 0,
        "message": _message(message),
        "logprobs": logprobs,
        "finish_reason": message.finish,
    }
    prompt = _pieces(json.dumps([request.get("messages"), request.get("tools")]))
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1,
        "model": request.get("model") or "scripted",
        "choices": [choice],
        "usage": {
            "prompt_tokens": len(prompt),
            "completion_tokens": used,
            "total_tokens": len(prompt) + used,
        },
    }


def _message(message: ScriptedMessage) -> dict[str, Any]:
    given: dict[str, Any] = {"role": "assistant", "content": message.content}
    if message.reasoning_content is not None:
        given["reasoning_content"] = message.reasoning_content
    if message.tool_calls:
        given["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call.arguments)},
            }
            for number, call in enumerate(message.tool_calls)
        ]
    return given


def _arguments(arguments: dict[str, Any] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, allow_nan=False)


def _pieces(text: str) -> list[str]:
    return _PIECE.findall(text)


def _count(message: ScriptedMessage) -> int:
    """Count tokens as if each piece of the answer were one, and one that ends it."""
    texts = [message.content or "", message.reasoning_content or ""]
    texts += [call.name + _arguments(call.arguments) for call in message.tool_calls]
    return 1 + sum(len(_pieces(text)) for text in texts)


def _logprobs(text: str, *, top: int, by: float) -> dict[str, Any]:
    return {"content": [_entry(at, piece, top, by) for at, piece in enumerate(_pieces(text))]}


def _entry(at: int, piece: str, top: int, by: float) -> dict[str, Any]:
    """Make one position: a probability between 0.5 and 1, and one alternative with the rest."""
    seed = hashlib.sha256(f"{at}\0{piece}".encode()).digest()
    chance = 0.5 + int.from_bytes(seed[:4], "big") / 2**33
    own = _token(piece, math.log(chance) - by)
    other = _token(f"{piece}~", math.log(1 - chance) - by)
    return {**own, "top_logprobs": [own, other][:top]}


def _token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}
