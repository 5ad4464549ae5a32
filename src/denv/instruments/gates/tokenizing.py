"""How a side shows which token ids it cuts a text into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from denv.instruments.gates.asking import post
from denv.instruments.probes import COMPLETIONS, Strand
from denv.records import Json, Side

TOKENIZE = "/tokenize"
DETOKENIZE = "/detokenize"

_TRIAL = "Hello, world!"


class Form(StrEnum):
    """The ways in which engines take a text and give its ids."""

    LLAMA_CPP = "/tokenize of llama.cpp"
    VLLM = "/tokenize of vLLM"
    COMPLETIONS = "/v1/completions with return_token_ids"


@dataclass(frozen=True, slots=True)
class Cut:
    """The ids of a text, and the text of each where the side gives it."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A side's tokenizer in one of the forms."""

    side: Side
    form: Form

    def cut(self, text: str, *, special: bool = False) -> Strand[Cut | None]:
        """Cut a text; ``special`` adds what the tokenizer puts before and after a prompt."""
        path = COMPLETIONS if self.form is Form.COMPLETIONS else TOKENIZE
        document = yield from post(self.side, path, _body(self.form, text, special=special))
        return _read(self.form, document)

    def join(self, ids: Sequence[int]) -> Strand[str | None]:
        """Give the text of ids, control words included; None where the side does not."""
        if self.form is Form.COMPLETIONS:
            return None
        document = yield from post(self.side, DETOKENIZE, {"tokens": list(ids)})
        text = document.get("content" if self.form is Form.LLAMA_CPP else "prompt")
        return text if isinstance(text, str) else None


def find_tokenizer(side: Side) -> Strand[Tokenizer | None]:
    """Give the first form in which a side answers with sensible ids."""
    for form in Form:
        tokenizer = Tokenizer(side, form)
        cut = yield from tokenizer.cut(_TRIAL)
        # No tokenizer has tokens for parts of bytes; an ignored field gives no ids at all.
        if cut is not None and 0 < len(cut.ids) <= len(_TRIAL.encode()) + 1:
            return tokenizer
    return None


def ids_of(value: Json) -> tuple[int, ...] | None:
    """Read a list of token ids, None where it is not one."""
    if not isinstance(value, list) or not all(type(one) is int and one >= 0 for one in value):
        return None
    return tuple(value)


def _body(form: Form, text: str, *, special: bool) -> dict[str, Json]:
    match form:
        case Form.LLAMA_CPP:
            flags = {"add_special": special, "parse_special": True, "with_pieces": True}
            return {"content": text, **flags}
        case Form.VLLM:
            return {"prompt": text, "add_special_tokens": special, "return_token_strs": True}
        case Form.COMPLETIONS:
            flags = {"add_special_tokens": special, "return_token_ids": True}
            return {"prompt": text, "max_tokens": 1, "temperature": 0, "stream": False, **flags}


def _read(form: Form, document: Mapping[str, Any]) -> Cut | None:
    match form:
        case Form.LLAMA_CPP:
            return _pieces(document.get("tokens"))
        case Form.VLLM:
            ids, strings = ids_of(document.get("tokens")), document.get("token_strs")
            whole = isinstance(strings, list) and all(isinstance(one, str) for one in strings)
            return None if ids is None else Cut(ids, tuple(strings or ()) if whole else None)
        case Form.COMPLETIONS:
            choices = document.get("choices")
            first = choices[0] if isinstance(choices, list) and choices else {}
            ids = ids_of(first.get("prompt_token_ids")) if isinstance(first, dict) else None
            return None if ids is None else Cut(ids)


def _pieces(tokens: Json) -> Cut | None:
    """Read llama.cpp's list; a piece that is no whole text is given as its bytes."""
    if not isinstance(tokens, list) or not all(isinstance(one, dict) for one in tokens):
        return None
    ids = ids_of([one.get("id") for one in tokens])
    pieces = [_piece(one.get("piece")) for one in tokens]
    return None if ids is None else Cut(ids, tuple(pieces))


def _piece(piece: Json) -> str:
    if isinstance(piece, str):
        return piece
    try:
        return bytes(piece).decode(errors="backslashreplace")
    except (TypeError, ValueError):
        return "?"
