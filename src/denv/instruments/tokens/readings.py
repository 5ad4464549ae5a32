"""Servers' lists of next-token logprobs, in all their shapes, as the entries of a chat answer.

Each shape is rewritten to the entries that chat has and goes through the one normaliser, so that
sentinels, byte spellings and ids are read alike whichever path a text was forced by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from denv.observe.logprobs import read_logprobs
from denv.records import Json, TokenLogprob, TopLogprob

Readings = tuple[TokenLogprob, ...]
"""One entry a position: the token that stands there, and the alternatives."""


def of_entries(content: Json) -> Readings | None:
    """Read a list in the shape of chat's ``logprobs.content``; llama.cpp's own has it too."""
    return of_choice({"logprobs": {"content": content}})


def of_choice(choice: Mapping[str, Json]) -> Readings | None:
    """Read the logprobs of a choice, of chat or of completions."""
    return read_logprobs(dict(choice), literal=False, notes=[]).entries


def of_prompt_logprobs(listed: Json, ids: Sequence[int], *, behind: int) -> Readings | None:
    """Read vLLM's ``prompt_logprobs`` of ids: a mapping of ids for each token of the prompt.

    ``behind`` counts the tokens ahead of them. None where the list has another length, as that of
    a prompt which was cut, or does not know the ids.
    """
    if not isinstance(listed, list) or not ids or len(listed) != behind + len(ids):
        return None
    content = []
    for token_id, position in zip(ids, listed[-len(ids) :], strict=True):
        if not isinstance(position, dict) or str(token_id) not in position:
            return None
        entries = [_entry(key, value) for key, value in position.items()]
        if not all(entries):
            return None
        content.append({**_entry(str(token_id), position[str(token_id)]), "top_logprobs": entries})
    return of_entries(content)


def of_input_logprobs(meta: Json, ids: Sequence[int]) -> Readings | None:
    """Read the end of SGLang's ``input_token_logprobs`` and ``input_top_logprobs``.

    Both hold ``[logprob, id, text]``. None where the lists do not end with these ids.
    """
    own, tops = (meta.get(name) if isinstance(meta, dict) else None for name in _SGLANG)
    if not isinstance(own, list) or not isinstance(tops, list) or not ids:
        return None
    if min(len(own), len(tops)) < len(ids):
        return None
    content = []
    places = zip(ids, own[-len(ids) :], tops[-len(ids) :], strict=True)
    for token_id, triple, top in places:
        if not _is_triple(triple) or triple[1] != token_id:
            return None
        if not isinstance(top, list) or not all(map(_is_triple, top)):
            return None
        content.append({**_of_triple(triple), "top_logprobs": [_of_triple(one) for one in top]})
    return of_entries(content)


def centred(
    entry: TokenLogprob, *, token_id: int | None = None, piece: bytes | None = None
) -> TokenLogprob:
    """Put the text's own token, by its id or else its bytes, in the place of the server's choice.

    Without a logprob where the server does not list it; the server's choice stays listed.
    """
    chosen = TopLogprob(entry.token, entry.logprob, entry.bytes, entry.id)
    listed = entry.top if any(_same(one, chosen) for one in entry.top) else (*entry.top, chosen)
    wanted = TopLogprob("", None, piece, token_id)
    own = next((one for one in listed if _same(one, wanted)), wanted)
    return replace(
        entry, token=own.token, logprob=own.logprob, bytes=own.bytes, id=own.id, top=listed
    )


def _same(one: TopLogprob, other: TopLogprob) -> bool:
    if one.id is not None and other.id is not None:
        return one.id == other.id
    return one.bytes is not None and one.bytes == other.bytes


_SGLANG = ("input_token_logprobs", "input_top_logprobs")


def _entry(key: str, value: Json) -> dict[str, Json]:
    if not key.isdecimal() or not isinstance(value, dict):
        return {}
    token = value.get("decoded_token")
    return {"id": int(key), "token": token or "", "logprob": value.get("logprob")}


def _is_triple(value: Json) -> bool:
    return isinstance(value, list) and len(value) == 3 and type(value[1]) is int


def _of_triple(triple: Sequence[Json]) -> dict[str, Json]:
    logprob, token_id, text = triple
    return {"id": token_id, "token": text or "", "logprob": logprob}
