"""Answers are read strictly, and become the bodies that a server would send."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.errors import UsageError
from denv.observe import observe
from denv.recipes import ScriptedMessage, completion, load_answers
from denv.records import Exchange

LINE = '{"id": "a", "right": {"content": "x"}, "wrong": {"content": "y"}, "why": "w"}'


@pytest.fixture
def read(tmp_path):
    """Write answers and read them."""

    def go(text):
        path = tmp_path / "answers.jsonl"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_answers(path)

    return go


def test_every_field_is_read(read):
    """A message has text, reasoning, calls and a finish reason; a call may be broken on purpose."""
    found = read(
        json.dumps(
            {
                "id": "a",
                "right": {"content": None, "tool_calls": [{"name": "f", "arguments": {"n": 1.5}}]},
                "wrong": {
                    "content": "y",
                    "reasoning_content": "r",
                    "tool_calls": [{"name": "f", "arguments": '{"n": '}],
                    "finish_reason": "length",
                    "logprobs": False,
                    "logprob_shift": 0.5,
                },
            }
        )
    )["a"]
    assert found.right.tool_calls[0].arguments == {"n": 1.5}
    assert (found.right.finish, found.wrong.finish) == ("tool_calls", "length")
    assert found.wrong.tool_calls[0].arguments == '{"n": '
    assert (found.wrong.logprobs, found.wrong.logprob_shift, found.why) == (False, 0.5, None)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("nope", ":1: line: not JSON"),
        ("[]", ":1: line: must be one JSON object"),
        (LINE + "\n\n" + LINE, ":3: id: 'a' stands on line 1 too"),
        (LINE.replace('"x"', "3"), ":1: right.content: must be a string"),
        (LINE.replace('{"content": "x"}', "{}"), ":1: right: an answer of nothing"),
        (LINE.replace('"why"', '"y"'), ":1: y: unknown field"),
        (LINE.replace('"id": "a", ', ""), ":1: id: missing"),
        (LINE.replace('"id": "a"', '"id": ""'), ":1: id: empty"),
        (LINE.replace('"content": "x"', '"tool_calls": [{"name": "f", "arguments": 3}]'),
         ":1: right.tool_calls[0].arguments: must be an object"),
        (LINE.replace('"content": "x"', '"content": "x", "finish_reason": "end"'),
         ":1: right.finish_reason: must be 'stop'"),
        (LINE.replace('"content": "x"', '"content": "x", "logprob_shift": -1'),
         ":1: right.logprob_shift:"),
        (b'{"id": "\xff"}', ":1: line: not JSON as the standard has it: not UTF-8"),
        ("", ": no answers"),
    ],
)  # fmt: skip
def test_faults_name_line_and_field(read, text, where):
    """Whatever is wrong, the message has file, line and field."""
    with pytest.raises(UsageError) as caught:
        read(text)
    assert f"answers.jsonl{where}" in str(caught.value)


def test_many_faults_are_bounded(read):
    """At most 20 faults are told, and how many more there are."""
    with pytest.raises(UsageError, match="and 5 more"):
        read("nope\n" * 25)


def test_a_missing_file_is_one_line(tmp_path):
    """A file that cannot be read says why."""
    with pytest.raises(UsageError, match="cannot be read"):
        load_answers(tmp_path / "none.jsonl")


def answered(message, **request):
    body = json.dumps(completion(message, {"messages": [], **request})).encode()
    return observe(Exchange(status=200, body=body))


def test_a_completion_is_read_as_it_was_written():
    """Text, reasoning and calls come through the normaliser without an oddity."""
    message = ScriptedMessage.model_validate(
        {"content": "x", "reasoning_content": "r", "tool_calls": [{"name": "f", "arguments": {}}]}
    )
    seen = answered(message)
    assert (seen.text, seen.reasoning, seen.finish_reason) == ("x", "r", "tool_calls")
    assert [(call.name, call.arguments) for call in seen.calls] == [("f", {})]
    assert (seen.problem, seen.oddities, seen.logprobs) == (None, (), None)


@given(st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable()))
def test_logprobs_cover_the_text(text):
    """The tokens are the text, each with a real logprob and at most the alternatives asked for."""
    message = ScriptedMessage(content=text)
    seen = answered(message, logprobs=True, top_logprobs=20)
    assert "".join(token.token for token in seen.logprobs) == text
    assert all(-1.0 < token.logprob < 0 for token in seen.logprobs)
    assert all(len(token.top) == 2 for token in seen.logprobs)
    again = answered(message, logprobs=True, top_logprobs=1)
    assert [token.logprob for token in again.logprobs] == [t.logprob for t in seen.logprobs]


def test_logprobs_are_shifted_or_withheld():
    """A shift lowers each value by so many nats; false gives none at all."""
    plain, low, none = (
        answered(ScriptedMessage(content="a b c", **kind), logprobs=True, top_logprobs=5)
        for kind in ({}, {"logprob_shift": 0.5}, {"logprobs": False})
    )
    shifts = [a.logprob - b.logprob for a, b in zip(plain.logprobs, low.logprobs, strict=True)]
    assert shifts == pytest.approx([0.5] * 3)
    assert none.logprobs is None


def test_a_cut_answer_uses_all_that_was_allowed():
    """An answer that ends by length is as long as the request let it be."""
    cut = ScriptedMessage(content="a b", finish_reason="length")
    assert answered(cut, max_tokens=64).usage.completion_tokens == 64
    assert answered(ScriptedMessage(content="a b"), max_tokens=64).usage.completion_tokens == 3
