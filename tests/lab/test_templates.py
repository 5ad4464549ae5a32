"""The template for tools makes real calls, and leaves plain chat as the model has it."""

import json

import pytest

from denv.errors import UsageError
from denv.lab.server import ServerConfig, serve
from denv.lab.templates import template, template_names
from denv.recipes import load
from denv.records import ToolCall
from denv.suite import load_suite
from tests.lab_servers import post


def test_templates_are_listed():
    """Both templates are there, and an unknown name lists them."""
    assert template_names() == ("damaged", "tools")
    with pytest.raises(UsageError, match="damaged, tools"):
        template("other")


@pytest.mark.slow
@pytest.mark.lab
@pytest.mark.parametrize("name", ["tool-weather-among-two", "tool-set-an-alarm"])
async def test_tools_template_makes_calls(lab_server, name):
    """The server parses the model's answer to a call with the name and arguments of the case."""
    [case] = [case for case in load_suite(load("smollm2").suite) if case.id == name]
    assert isinstance(case.check, ToolCall)
    body = {**case.fields, "temperature": 0, "seed": 0}
    _, answer = await post(f"{lab_server.url}/chat/completions", body)
    [choice] = answer["choices"]
    [call] = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls"
    assert call["function"]["name"] == case.check.tool
    assert json.loads(call["function"]["arguments"]) == case.check.arguments


@pytest.mark.lab
async def test_plain_chat_is_rendered_as_the_model_has_it(lab_server, weights):
    """Without tools the prompt is, byte for byte, the one of the model's own template."""
    turns = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "What is 2+2?"},
    ]
    system = {"role": "system", "content": "Be brief."}
    async with serve(ServerConfig(weights=weights, n_ctx=512, n_parallel=1)) as own:
        for messages in (turns, [system, *turns]):
            prompts = [
                await post(f"{url.removesuffix('/v1')}/apply-template", {"messages": messages})
                for url in (own.url, lab_server.url)
            ]
            assert prompts[0] == prompts[1]


@pytest.mark.lab
async def test_earlier_calls_and_results_are_rendered(lab_server):
    """A conversation with a call and its result stands in the prompt."""
    call = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    messages = [
        {"role": "user", "content": "Weather in Oslo?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "7 degrees, rain"},
    ]
    root = lab_server.url.removesuffix("/v1")
    status, answer = await post(f"{root}/apply-template", {"messages": messages})
    assert status == 200
    written = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    assert written in answer["prompt"]
    assert "<tool_response>\n7 degrees, rain\n</tool_response>" in answer["prompt"]
