"""Servers in a model's place whose accuracy, confidence and truncation are known.

These are stubs on purpose: no real model that runs on a test machine answers the banks well
enough, and of none is it known how often it is right. A *script* says for each prompt what is
answered; what an instrument then finds is counted in the script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.stubs import answers


@dataclass(frozen=True)
class Said:
    """One answer: its tokens with their logprobs, and how it ends."""

    tokens: tuple[tuple[str, float], ...]
    finish: str = "stop"
    reasoning: str | None = None

    @property
    def text(self) -> str:
        """All tokens joined."""
        return "".join(token for token, _ in self.tokens)

    def completion(self) -> dict[str, Any]:
        """Write it as the API does, logprobs included."""
        body = self.completion_without_logprobs()
        body["choices"][0]["logprobs"] = {
            "content": [
                {
                    "token": token,
                    "logprob": logprob,
                    "bytes": list(token.encode()),
                    "top_logprobs": [
                        {"token": token, "logprob": logprob, "bytes": list(token.encode())}
                    ],
                }
                for token, logprob in self.tokens
            ]
        }
        return body

    def completion_without_logprobs(self) -> dict[str, Any]:
        """Write it as the API does where no logprobs were asked for."""
        more = {} if self.reasoning is None else {"reasoning_content": self.reasoning}
        body = answers.completion(self.text, finish=self.finish, **more)
        count = len(self.tokens) + len((self.reasoning or "").split())
        body["usage"] = {
            "prompt_tokens": 40, "completion_tokens": count, "total_tokens": 40 + count,
        }  # fmt: skip
        return body


WORKING = "First I write down what is given, then I work it out step by step.\n"


def answered(value: object, *, logprob: float = -0.1, working: str = WORKING) -> Said:
    """Work, then answer as T1 asks for it; the number is one token of that logprob."""
    return Said(((working, -0.2), ("ANSWER:", -0.01), (f" {value}", logprob)))


def unsure() -> Said:
    """Say in T1's form that it is not sure."""
    return Said(((WORKING, -0.2), ("ANSWER: UNSURE", -0.3)))


def declared(final: str, *, working: str = WORKING) -> Said:
    """Work, then answer as T2 asks for it."""
    return Said(((working, -0.2), (f"FINAL: {final}", -0.1)))


def cut() -> Said:
    """Stop in the middle of the working, as a budget makes it."""
    return Said(((WORKING, -0.2), ("So we", -0.4)), finish="length")


def looping() -> Said:
    """Never end."""
    return Said((("Once more, then. " * 60, -0.01),), finish="length")


Script = Mapping[str, Any]
"""What is answered to each prompt: a ``Said``, or a function that makes the stub's answer."""


def model(script: Script) -> Callable[[Any, int], Any]:
    """Answer by the script; a prompt that stands not in it (preflight's) gets a short answer."""

    def handler(request: Any, n: int) -> Any:
        said = script.get(request["messages"][-1]["content"])
        if said is None:
            return answers.completion("Hello")
        return said.completion() if isinstance(said, Said) else said()

    return handler


def script(prompts: Sequence[str], parts: Mapping[Callable[[int], Any], int]) -> Script:
    """Give the first prompts the first part's answers, the next ones the second's, and so on.

    ``parts`` maps a function of a prompt's place to how many prompts it answers; together they
    are as many as there are prompts.
    """
    assert sum(parts.values()) == len(prompts)
    found: dict[str, Any] = {}
    places = iter(range(len(prompts)))
    for say, count in parts.items():
        for _ in range(count):
            place = next(places)
            found[prompts[place]] = say(place)
    return found
