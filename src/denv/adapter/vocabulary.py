"""Which bytes each token id stands for: what tells an engine of another vocabulary.

The recipe drops ids that its tokenizer does not know, which would lose text without a word.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from denv.errors import UsageError

Vocabulary: TypeAlias = Mapping[int, bytes]

_OWN = (*range(33, 127), *range(161, 173), *range(174, 256))
_LETTERS = {chr(byte): byte for byte in _OWN} | {
    chr(256 + place): byte
    for place, byte in enumerate(byte for byte in range(256) if byte not in _OWN)
}
"""Byte-level BPE writes each byte as a letter: printable ones as themselves."""


def read_vocabulary(path: Path) -> Vocabulary:
    """Give the bytes of each id of a byte-level ``tokenizer.json``, which DeepSeek's are.

    Raises
    ------
    UsageError
        It is not byte-level, and so not a tokenizer of these models.
    """
    document = json.loads(path.read_text("utf-8"))
    if not _is_byte_level(document.get("decoder")):
        raise UsageError(f"tokenizer: {path}: not a byte-level tokenizer, as these models have")
    words: dict[str, int] = document["model"]["vocab"]
    found = {id_: raw for word, id_ in words.items() if (raw := _bytes(word)) is not None}
    added = {one["id"]: one["content"].encode() for one in document.get("added_tokens", ())}
    return found | added


def is_text(raw: bytes) -> bool:
    """Whether bytes are whole characters."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_byte_level(decoder: Any) -> bool:
    if not isinstance(decoder, dict):
        return False
    parts = decoder.get("decoders", [decoder])
    return any(part.get("type") == "ByteLevel" for part in parts)


def _bytes(word: str) -> bytes | None:
    try:
        return bytes(_LETTERS[letter] for letter in word)
    except KeyError:
        return None
