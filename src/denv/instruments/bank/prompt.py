"""One prompt of the bank, and how its messages are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from denv.records import Json

Message = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked, and how much of its answer is looked at.

    ``depth_tokens`` is about how many tokens stand ahead of the answer where the prompt is one of
    long context, None for the others.
    """

    id: str
    category: str
    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Json], ...] = ()
    max_tokens: int = 96
    depth_tokens: int | None = None

    def fields(self) -> dict[str, Json]:
        """Give the fields of a chat request, as a suite's line has them."""
        fields: dict[str, Json] = {"messages": [dict(one) for one in self.messages]}
        if self.tools:
            fields["tools"] = [dict(one) for one in self.tools]
        fields["max_tokens"] = self.max_tokens
        return fields


def say(role: str, content: str) -> Message:
    """Write one message of text."""
    return {"role": role, "content": content}


def asked(category: str, name: str, text: str, *, max_tokens: int) -> Prompt:
    """Write a prompt of a single message by the user."""
    return Prompt(f"{category}-{name}", category, (say("user", text),), max_tokens=max_tokens)
