"""How a side shows the prompt that it makes of messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from denv.instruments.gates.asking import greedy, post, user
from denv.instruments.gates.tokenizing import Cut, Form, Tokenizer, ids_of
from denv.instruments.probes import CHAT, Strand
from denv.records import Json, Side


class Path(StrEnum):
    """The ways in which engines show a rendered prompt, from the plainest on."""

    APPLY = "/apply-template"
    RENDER = "/v1/chat/completions/render"
    TOKENIZE = "/tokenize with messages"
    CHAT = "/v1/chat/completions with return_prompt_text and return_token_ids"


_URLS = {
    Path.APPLY: "/apply-template",
    Path.RENDER: "/v1/chat/completions/render",
    Path.TOKENIZE: "/tokenize",
    Path.CHAT: CHAT,
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered prompt as text, as ids, or as both."""

    text: str | None
    ids: tuple[int, ...] | None
    path: Path


@dataclass(frozen=True, slots=True)
class Renderer:
    """A side that shows its prompts; ``tokenizer`` gives what the path itself does not."""

    side: Side
    path: Path
    tokenizer: Tokenizer | None = None

    def render(self, fields: Mapping[str, Json]) -> Strand[Prompt | None]:
        """Show the prompt of a chat's fields (messages, tools …), None where it cannot be had."""
        body = dict(fields)
        if self.path in {Path.CHAT, Path.RENDER}:
            body = {**greedy(fields["messages"], max_tokens=1), **body}
        if self.path is Path.CHAT:
            body |= {"return_prompt_text": True, "return_token_ids": True}
        document = yield from post(self.side, _URLS[self.path], body)
        prompt = _read(self.path, document)
        if prompt is None or self.tokenizer is None:
            return prompt
        return (yield from self._completed(prompt, self.tokenizer))

    def _completed(self, prompt: Prompt, tokenizer: Tokenizer) -> Strand[Prompt]:
        if prompt.ids is None and prompt.text is not None:
            cut = yield from tokenizer.cut(prompt.text)
            return replace(prompt, ids=None if cut is None else cut.ids)
        if prompt.text is None and prompt.ids is not None:
            text = yield from tokenizer.join(prompt.ids)
            return replace(prompt, text=text)
        return prompt

    def counted(self, prompt: Prompt, tokens: int | None) -> Strand[Prompt]:
        """Add what the tokenizer puts before a prompt, where the chat's count shows that it does.

        A path that gives text does not show the token with which a sequence begins.
        """
        if prompt.path is not Path.APPLY or prompt.text is None or prompt.ids is None:
            return prompt
        if tokens in {None, len(prompt.ids)} or self.tokenizer is None:
            return prompt
        cut: Cut | None = yield from self.tokenizer.cut(prompt.text, special=True)
        whole = cut is not None and len(cut.ids) == tokens
        return replace(prompt, ids=cut.ids) if cut is not None and whole else prompt


def find_renderer(side: Side, tokenizer: Tokenizer | None) -> Strand[Renderer | None]:
    """Give the first path by which a side shows a prompt."""
    for path in Path:
        if path is Path.TOKENIZE and (tokenizer is None or tokenizer.form is not Form.VLLM):
            continue  # llama.cpp would answer with no tokens
        renderer = Renderer(side, path, tokenizer)
        prompt = yield from renderer.render({"messages": user("Hello")})
        if prompt is not None:
            return renderer
    return None


def _read(path: Path, document: Mapping[str, Any]) -> Prompt | None:
    names = {
        Path.APPLY: ("prompt", None),
        Path.RENDER: (None, "token_ids"),
        Path.TOKENIZE: (None, "tokens"),
        Path.CHAT: ("prompt_text", "prompt_token_ids"),
    }[path]
    text, ids = (document.get(name) if name else None for name in names)
    text = text if isinstance(text, str) and text else None
    known = ids_of(ids) or None
    return None if text is None and known is None else Prompt(text, known, path)
