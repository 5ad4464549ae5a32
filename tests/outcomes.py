"""Cases and answers of one pair of exchanges, for the tests of what becomes of a case."""

import json
import re

from denv.outcome import Answer, decide
from denv.records import (
    Attempt,
    Call,
    Case,
    Cause,
    Contains,
    Equals,
    LogprobsClose,
    Observation,
    Problem,
    ProblemKind,
    Regex,
    TokenLogprob,
    ToolCall,
    Usage,
)

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]
PARIS = ToolCall("get_weather", {"city": "Paris"})
TWELVE = Contains("12")
CLOSE = LogprobsClose(0.05)
LOOP = "and so it goes on. " * 200
SHOWN_LOOP = "'and so it goes on.' 200 times"
CUT = {"finish_reason": "length", "sent": 64}
THOUGHT = "First, the sum of both numbers."


def search(pattern, text):
    return re.search(pattern, text) is not None


def slow(pattern, text):
    if "slow" in text:
        raise TimeoutError
    return search(pattern, text)


def case(check, *, tools=None, tags=()):
    fields = {"messages": [{"role": "user", "content": "?"}]}
    if tools is not None:
        fields["tools"] = tools
    return Case(id="c-1", index=7, line=9, fields=fields, check=check, tags=tags)


def answer(text=None, *, sent=4096, used=None, prompt=None, cached=False, **seen):
    if used is not None or prompt is not None:
        seen["usage"] = Usage(prompt, used)
    seen.setdefault("finish_reason", "stop")
    return Answer(Observation(text=text, **seen), sent, cached)


def call(city="Paris", name="get_weather"):
    return Call(name, {"city": city}, json.dumps({"city": city}), id="k1")


def calling(city="Paris", **seen):
    seen.setdefault("finish_reason", "tool_calls")
    return answer(calls=(call(city),), **seen)


def broken_call(**seen):
    cut = Call("get_weather", None, '{"city": "Par', error="unterminated string")
    return answer(calls=(cut,), **seen)


def fault(kind=ProblemKind.TRANSPORT, cause=Cause.AVAILABILITY, *, tried=(), message="gone"):
    attempts = tuple(Attempt(status, "earlier", 0.1) for status in tried)
    problem = Problem(kind, cause, message)
    return Answer(Observation(problem=problem, attempts=attempts), 4096)


def logprobs(shift=0.0, *, count=10, **seen):
    tokens = [f" w{n}" for n in range(count)]
    entries = tuple(TokenLogprob(t, -0.5 - shift, t.encode()) for t in tokens)
    return answer("".join(tokens), logprobs=entries, **seen)


def decided(check, stage, reference=None, *, tools=None, **more):
    stage = stage if isinstance(stage, list) else [stage]
    reference = reference if isinstance(reference, list) else [reference]
    return decide(
        case(check, tools=tools),
        stage=[a for a in stage if a is not None],
        reference=[a for a in reference if a is not None],
        **{"search": search, **more},
    )


def became(result):
    return (result.outcome.value, result.cause and result.cause.value)


PAIRED = [
    (Equals("12"), answer("12")),
    (TWELVE, answer("it is 12")),
    (Regex("1."), answer("12")),
    (CLOSE, logprobs()),
]
TEXTS = PAIRED[:3]
