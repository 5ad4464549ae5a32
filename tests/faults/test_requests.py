"""What is sent where servers are touchy: nothing is sorted, added, rewritten or left null."""

from __future__ import annotations

import json

import pytest

from denv.errors import SuiteError
from tests.faults.rows import faults
from tests.faults.serving import chats
from tests.stubs import answers

FAULTS = faults()


def suite_line(fault, **fields):
    """Give a fault's case as a line of a suite."""
    content = {"messages": [{"role": "user", "content": "Go on"}]}
    return json.dumps({"id": "one", **content, **FAULTS[fault]["case"], **fields})


async def sent(serve, run, line, **options):
    """Run one line; give the bodies that both sides got."""
    stage, reference = await serve(answers.echo()), await serve(answers.echo())
    await run([line], stage, reference, **options)
    [ours], [theirs] = chats(stage), chats(reference)
    return ours.body, theirs.body


def no_null(body):
    """Assert that no field is an explicit null, and give the fields."""

    def unset(pairs):
        assert all(value is not None for _, value in pairs)
        return dict(pairs)

    return json.loads(body, object_pairs_hook=unset)


async def test_tools_keep_their_keys_in_order(serve, run):
    """Both sides get the same bytes, and in them the tools are the suite's byte for byte."""
    raw = FAULTS["c-tool-key-order"]["tools_raw"]
    line = suite_line("c-tool-key-order", tools="@").replace('"@"', raw)
    ours, theirs = await sent(serve, run, line)
    assert b'"tools":' + raw.encode() in ours
    assert ours == theirs


async def test_earlier_calls_are_not_touched(serve, run):
    """Arguments stay strings, ids stay as they are, and an empty content stays empty."""
    case = FAULTS["c-history-arguments"]["case"]
    ours, theirs = await sent(serve, run, suite_line("c-history-arguments"))
    raw = json.dumps(case["messages"], separators=(",", ":")).encode()
    assert b'"messages":' + raw in ours
    assert ours == theirs


async def test_null_content_of_earlier_calls_stays_null(serve, run):
    """A content that the suite has as null is sent as null, not left out."""
    messages = [*FAULTS["c-history-arguments"]["case"]["messages"]]
    messages[1] = {**messages[1], "content": None}
    ours, _ = await sent(serve, run, suite_line("c-history-arguments", messages=messages))
    assert json.loads(ours)["messages"] == messages


async def test_empty_tools_are_left_out(serve, run):
    """An empty list of tools is not sent, nor any null in its place."""
    ours, theirs = await sent(serve, run, suite_line("c-empty-tools"))
    assert not {"tools", "tool_choice"} & no_null(ours).keys()
    assert ours == theirs


async def test_choice_among_no_tools_is_refused(serve, run):
    """A choice among tools that are not there is an error of the suite."""
    with pytest.raises(SuiteError, match="tool_choice: stands without tools"):
        await sent(serve, run, suite_line("c-empty-tools", tool_choice="auto"))


async def test_logprobs_are_asked_for_with_a_number(serve, run):
    """top_logprobs is an integer where logprobs are needed, and absent elsewhere, never null."""
    ours, _ = await sent(serve, run, suite_line("a-lp-absent"))
    fields = no_null(ours)
    assert (fields["logprobs"], fields["top_logprobs"]) == (True, 20)
    ours, _ = await sent(serve, run, suite_line("c-thinking-default"))
    assert not {"logprobs", "top_logprobs"} & no_null(ours).keys()


async def test_limit_is_always_sent(serve, run):
    """Both sides get a max_tokens, so that no default cap decides."""
    for line, limit in (
        (suite_line("b-default-max-tokens"), 4096),
        (suite_line("b-default-max-tokens", max_tokens=9), 9),
    ):
        ours, theirs = await sent(serve, run, line)
        assert json.loads(ours)["max_tokens"] == json.loads(theirs)["max_tokens"] == limit


async def test_limit_has_another_name_where_the_old_one_is_refused(serve, run):
    """A server that does not know max_tokens gets max_completion_tokens."""

    def handler(request, n):
        if "max_tokens" in request:
            said = "Unsupported parameter: 'max_tokens', use 'max_completion_tokens' instead."
            return answers.error(400, said)
        return answers.completion("three.")

    stage = await serve(handler)
    _, document = await run(
        [suite_line("b-default-max-tokens")], stage, await serve(answers.echo())
    )
    assert chats(stage)[-1].json["max_completion_tokens"] == 4096
    assert document["stage"]["max_tokens_field"] == "max_completion_tokens"


async def test_sampling_is_left_to_the_server(serve, run):
    """Only temperature and seed are sent, so that the server's own settings show."""
    ours, _ = await sent(serve, run, suite_line("b-generation-config-defaults"))
    fields = no_null(ours)
    assert (fields["temperature"], fields["seed"]) == (0, 0)
    assert fields.keys() == {"model", "messages", "temperature", "seed", "stream", "max_tokens"}


async def test_switches_of_one_side_reach_it_alone(serve, run):
    """An endpoint's extra fields are added to its own requests, unchanged."""
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "provider": {"order": ["P-bf16"]}}
    line = suite_line("c-thinking-default")
    ours, theirs = await sent(serve, run, line, stage_options={"extra": extra})
    assert json.loads(ours) == {**json.loads(theirs), **extra}
