"""The DeepSeek suites against the family's own library: what it takes, renders and parses."""

import json

import pytest

from denv.adapter.settings import AdapterSettings
from denv.recipes import load, load_answers
from denv.suite import load_suite

official = pytest.importorskip("deepseek_recipe", reason="the extra deepseek is not installed")

MODELS = {
    "deepseek-v4-pro": ("DeepSeek-V4-Pro", official.DeepseekV4Encoding),
    "deepseek-v4.1-flash": ("DeepSeek-V4.1-Flash", official.DeepseekV41Encoding),
}
SPELLINGS = tuple(
    getattr(official.SpecialToken, name).default_str()
    for name in dir(official.SpecialToken)
    if name[0].isupper()
)
family = pytest.mark.parametrize("name", list(MODELS))


def cases_of(name):
    """Give the cases of a suite and its golden prompts."""
    recipe = load(name)
    assert recipe.golden is not None
    return [*load_suite(recipe.suite), *load_suite(recipe.golden)]


def convert(name, fields):
    """Convert a request as the family's API does."""
    request = official.ChatCompletionRequest({"model": MODELS[name][0], **fields})
    return request.convert(official.ConversionOptions())


def render(name, fields):
    """Render a request's prompt."""
    return MODELS[name][1]().render_conversation(convert(name, fields).conversation)


def written(name, case, right):
    """Write an answer as the model does: render it as a turn of the history, and cut that out."""
    calls = [
        {
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for at, call in enumerate(right.tool_calls)
    ]
    turn = {"role": "assistant", "content": right.content or "", "reasoning_content": "R"}
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "done"} for call in calls]
    messages = [*case.fields["messages"], {**turn, "tool_calls": calls}, *results]
    before = render(name, case.fields).prompt
    after = render(name, {**case.fields, "messages": messages}).prompt
    assert after.startswith(before)
    return after[len(before) :].partition(official.SpecialToken.Eos.default_str())[0]


def parse(name, case, text):
    """Parse what a model wrote to a message, as the family's API does."""
    request = convert(name, case.fields)
    generator = official.ChatCompletionRequest.chunk_generator(request, "id", "m")
    stream = official.StreamProcessor(generator, request.parsing_options)
    response = official.ChatCompletionResponse("id", "m", 0, 1, 0)
    chunk = official.InferenceChunk
    for piece in (chunk.ready(), chunk.text(text, 1)):
        for part in stream.push(piece):
            response.accumulate(part)
    for part in stream.push(chunk.finish(official.InferenceFinishReason.Stop)):
        response.accumulate(part)
    return json.loads(response.to_json())["choices"][0]["message"]


@family
def test_every_request_is_taken_and_rendered(name):
    """No case asks for what the family's own conversion refuses."""
    for case in cases_of(name):
        assert render(name, case.fields).prompt, case.id


@family
def test_tokens_that_a_user_types_stay_text(name):
    """A special token in a message adds none to the prompt."""
    asked = 0
    for case in cases_of(name):
        plain = json.dumps(case.fields["messages"], ensure_ascii=False)
        spelled = [token for token in SPELLINGS if token in plain]
        for token in spelled:
            plain = plain.replace(token, token.replace("｜", "!").replace("think", "thank"))
        asked += bool(spelled)
        fields = {**case.fields, "messages": json.loads(plain)}
        found = [render(name, each).special_ranges for each in (case.fields, fields)]
        assert len(found[0]) == len(found[1]), case.id
    assert asked >= 8


@family
def test_right_calls_are_what_the_familys_parser_reads(name):
    """A right answer, written in the family's markup and parsed by its library, is itself again."""
    path = load(name).answers
    assert path is not None
    answers = load_answers(path)
    seen = 0
    for case in cases_of(name):
        right = answers[case.id].right
        if not right.tool_calls:
            continue
        message = parse(name, case, written(name, case, right))
        found = [
            (call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in message["tool_calls"]
        ]
        assert found == [(call.name, call.arguments) for call in right.tool_calls], case.id
        seen += 1
    assert seen >= 15


@family
def test_sampling_defaults_are_those_of_the_conversion(name):
    """The recipe's temperature and top-p are what a request that sets neither gets."""
    options = convert(name, {"messages": [{"role": "user", "content": "Hello"}]}).inference_options
    assert load(name).sampling == {"temperature": options.temperature, "top_p": options.top_p}


@family
def test_the_adapter_takes_the_recipes_settings(name):
    """What the recipe writes for the adapter are settings that it has."""
    adapter = load(name).adapter
    assert adapter is not None
    settings = AdapterSettings.model_validate(dict(adapter.settings))
    assert adapter.name == "deepseek"
    assert MODELS[name][0] in settings.models
