"""A tokenizer of bytes and of DeepSeek's marks: small, and able to split any character."""

from __future__ import annotations

import json
from pathlib import Path

from deepseek_recipe import SpecialToken, Tokenizer
from gguf import GGUFReader

MARKS = [
    getattr(SpecialToken, name).default_str()
    for name in (
        "Bos",
        "Eos",
        "ThinkingStart",
        "ThinkingEnd",
        "System",
        "User",
        "Assistant",
        "LatestReminder",
        "Dsml",
    )
]
CONTROL = 3
"""GGUF's kind of a special token."""


def _bytes_as_letters() -> dict[int, str]:
    """Give byte-level BPE's letter for each byte: printable ones are themselves."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in own]
    letters = {byte: chr(byte) for byte in own}
    return letters | {byte: chr(256 + place) for place, byte in enumerate(others)}


def tokenizer_json(marks: list[str] | None = None) -> str:
    """Write a ``tokenizer.json`` whose id of a byte is the byte; marks follow from 256."""
    letters = _bytes_as_letters()
    vocab = {letters[byte]: byte for byte in range(256)}
    added = {mark: 256 + place for place, mark in enumerate(MARKS if marks is None else marks)}
    return _written(vocab, [], added)


def _written(vocab: dict[str, int], merges: list[str], added: dict[str, int]) -> str:
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [
                {"id": id_, "content": mark, "special": True, **dict.fromkeys(flags, False)}
                for mark, id_ in added.items()
            ],
            "pre_tokenizer": level | {"use_regex": bool(merges)},
            "decoder": level | {"use_regex": True},
            "model": {"type": "BPE", "vocab": vocab, "merges": merges},
        }
    )


def write_gguf_tokenizer(weights: Path, folder: Path) -> Path:
    """Write the ``tokenizer.json`` of a model from what its weights hold of it."""
    fields = GGUFReader(weights).fields
    words = fields["tokenizer.ggml.tokens"].contents()
    kinds = fields["tokenizer.ggml.token_type"].contents()
    vocab = {word: id_ for id_, word in enumerate(words)}
    added = {word: vocab[word] for word, kind in zip(words, kinds, strict=True) if kind == CONTROL}
    path = folder / "tokenizer.json"
    merges = fields["tokenizer.ggml.merges"].contents()
    path.write_text(_written(vocab, merges, added), "utf-8")
    return path


def write_tokenizer(folder: Path, marks: list[str] | None = None) -> Path:
    path = folder / "tokenizer.json"
    path.write_text(tokenizer_json(marks), "utf-8")
    return path


def tokenizer() -> Tokenizer:
    return Tokenizer.from_str(tokenizer_json())
