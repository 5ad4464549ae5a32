"""The suites of the model families: each complete, of its own kind, and unlike the others."""

from contextlib import closing
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache

import pytest

from denv.instruments.rehearsal import rehearse
from denv.recipes import load, load_answers
from denv.records import Cause, Kind, ToolCall
from denv.runner.recipes import check_recipe
from denv.runner.searching import KillableSearch
from denv.suite import load_suite
from denv.suite.twins import find_twins
from tests.recipes.scripted import run_scripted

MODELS = {
    "deepseek-v4-pro": ("deepseek-ai/DeepSeek-V4-Pro", "DeepSeek-V4-Pro", "deepseek-v4-pro"),
    "deepseek-v4.1-flash": ("deepseek-ai/DeepSeek-V4.1-Flash-1017", "DeepSeek-V4.1-Flash"),
    "qwen3": ("Qwen/Qwen3-32B", "Qwen3-Coder-30B-A3B-Instruct", "qwen3:8b"),
    "kimi-k2": ("moonshotai/Kimi-K2-Instruct-0905", "Kimi-K2-Thinking", "kimi-k2"),
    "glm": ("zai-org/GLM-4.6", "GLM-4.5-Air", "glm-4.7"),
    "gpt-oss": ("openai/gpt-oss-120b", "gpt-oss-20b", "gpt-oss:20b"),
    "llama-3": ("meta-llama/Llama-3.3-70B-Instruct", "Meta-Llama-3.1-8B-Instruct", "llama3.1"),
}
FAMILIES = tuple(MODELS)

SPECIAL = {
    "deepseek-v4-pro": (
        "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>",
        "<think>", "</think>", "<｜DSML｜", "<tool_result>",
    ),
    "deepseek-v4.1-flash": (
        "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>",
        "<｜System｜>", "<｜latest_reminder｜>", "<｜image｜>", "<｜ref｜>", "<think>", "</think>",
        "<｜DSML｜ ",
    ),
    "qwen3": (
        "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "<tool_call>",
        "<tool_response>", "/think", "/no_think",
    ),
    "kimi-k2": (
        "<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|im_middle|>", "<|im_end|>",
        "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>",
        "<|tool_call_end|>", "[EOS]", "[BOS]", "functions.file_size:1",
    ),
    "glm": (
        "[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>",
        "<|endoftext|>", "<think>", "/nothink", "<tool_call>", "<arg_key>", "<arg_value>",
    ),
    "gpt-oss": (
        "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>",
        "<|call|>", "to=functions.", "Reasoning: low",
    ),
    "llama-3": (
        "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
        "<|eot_id|>", "<|eom_id|>", "<|python_tag|>", "ipython",
    ),
}  # fmt: skip
"""What a request of the suite must hold as text."""

MARKUP = {
    "deepseek-v4-pro": "<｜DSML｜tool_calls>",
    "deepseek-v4.1-flash": "<｜DSML｜ calls>",
    "qwen3": "<tool_call>",
    "kimi-k2": "<|tool_call_begin|>functions.",
    "glm": "<arg_key>",
    "gpt-oss": "to=functions.",
    "llama-3": '"parameters": {',
}
"""How the family itself writes a call, and so what a faulty server leaves standing."""

THEMES = {
    "tool-markup", "arguments", "special-tokens", "roles", "tool-results", "history", "no-call",
    "stop", "unicode", "long-tools", "empty",
}  # fmt: skip
OF_SOME = {
    "parallel": set(FAMILIES) - {"gpt-oss", "llama-3"},
    "thinking": set(FAMILIES) - {"llama-3"},
    "switch": set(FAMILIES) - {"llama-3"},
    "json": {"deepseek-v4-pro", "deepseek-v4.1-flash", "qwen3", "llama-3"},
}

PARSERS_FAULT = {"tool-markup", "thinking"}
"""Tags of cases whose wrong answer shows by itself that a parser is at fault."""

family = pytest.mark.parametrize("name", FAMILIES)


def answers_of(name):
    """Give the answers that lie beside a family's suite."""
    path = load(name).answers
    assert path is not None
    return load_answers(path)


def golden_of(name):
    """Give the golden prompts of a family."""
    path = load(name).golden
    assert path is not None
    return load_suite(path)


@cache
def cases_of(name):
    """Give the cases of a family's suite."""
    return tuple(load_suite(load(name).suite))


def all_cases_of(name):
    """Give the cases of a family's suite, and its golden prompts."""
    return (*cases_of(name), *golden_of(name))


@cache
def rehearsed(name):
    """Answer every case and golden prompt of a family rightly and wrongly."""
    limit = load(name).max_tokens
    assert limit is not None
    answers = answers_of(name)
    with closing(KillableSearch()) as search:
        return [
            (case, rehearse(case, answers[case.id], search=search, max_tokens=limit))
            for case in all_cases_of(name)
        ]


@family
def test_a_family_is_complete_and_tells_right_from_wrong(name):
    """Each case passes its right answer and fails its wrong one, and the numbers suffice."""
    found = check_recipe(load(name))
    assert found.problems == ()
    assert found.cases >= 25
    assert found.golden >= 10
    assert len(found.rehearsed) == found.cases + found.golden


@family
def test_every_wrong_answer_says_what_is_wrong_with_it(name):
    """A line of answers holds its reason, in a sentence of its own."""
    reasons = [line.why for line in answers_of(name).values()]
    assert all(reason and reason.endswith((".", '"')) for reason in reasons)


@family
def test_a_recipe_says_whom_it_is_for_and_how_to_sample(name):
    """Models, sampling, confidence, limits and engines are written down."""
    recipe = load(name)
    for model in MODELS[name]:
        assert any(fnmatchcase(model, pattern) for pattern in recipe.models), model
    others = [other for other in FAMILIES if other != name]
    for model in (each for other in others for each in MODELS[other]):
        assert not any(fnmatchcase(model, pattern) for pattern in recipe.models), model
    assert "temperature" in recipe.sampling
    assert recipe.confidence is not None
    assert set(recipe.thresholds) == {Kind.EXACT, Kind.TOOL_CALLS}
    assert len(recipe.limits) >= 4
    assert {"vllm", "sglang", "llama.cpp"} <= set(recipe.engines)
    assert (recipe.adapter is not None) is name.startswith("deepseek")


@family
def test_a_suite_holds_the_familys_own_tokens_as_text(name):
    """Each special token and switch stands in some request of the suite."""
    asked = "\n".join(str(case.fields["messages"]) for case in cases_of(name))
    assert [token for token in SPECIAL[name] if token not in asked] == []


@family
def test_a_suite_covers_every_theme(name):
    """Markup, arguments, tokens, roles, results, history and the rest are each asked for."""
    tags = {tag for case in cases_of(name) for tag in case.tags}
    wanted = THEMES | {tag for tag, families in OF_SOME.items() if name in families}
    assert wanted <= tags
    assert "generated" not in tags


@family
def test_wrong_answers_are_what_a_faulty_server_of_the_family_gives(name):
    """Several of them hold the family's own markup of a call."""
    lines = answers_of(name).values()
    texts = [f"{line.wrong.content}{line.wrong.reasoning_content}" for line in lines]
    assert sum(MARKUP[name] in text for text in texts) >= 5


@family
def test_a_parsers_fault_is_named_as_one(name):
    """What is left of markup or reasoning in the wrong answer gives the cause."""
    shown = [
        (case.id, each.failure) for case, each in rehearsed(name) if PARSERS_FAULT & {*case.tags}
    ]
    assert [(at, cause) for at, cause in shown if cause is not Cause.PARSER] == []
    assert len(shown) >= 15


@family
def test_right_answers_pass_without_a_warning(name):
    """A right answer leaves nothing to remark: no leftover markup, no reasoning in the content."""
    assert [
        (case.id, each.right.warnings) for case, each in rehearsed(name) if each.right.warnings
    ] == []


@family
def test_a_parallel_case_asks_for_a_call_that_is_not_the_first(name):
    """Where several calls are right at once, the one that a parser would lose is expected."""
    answers = answers_of(name)
    for case in all_cases_of(name):
        calls = answers[case.id].right.tool_calls
        if isinstance(case.check, ToolCall) and len(calls) > 1:
            assert calls[-1].name == case.check.tool
            assert calls[-1].arguments == case.check.arguments


def test_no_case_of_one_family_is_that_of_another():
    """Over all families no two cases are the same, not even but for their numbers."""
    every = [replace(c, id=f"{name}/{c.id}") for name in FAMILIES for c in all_cases_of(name)]
    assert list(find_twins(every)) == []


@family
async def test_a_run_against_the_scripted_stage_passes_whole(name, tmp_path):
    """All is answered rightly, so every threshold is proven and the verdict is pass."""
    report = await run_scripted(load(name), tmp_path)
    assert report["verdict"] == "pass"
    assert {case["outcome"] for case in report["cases"]} == {"pass"}
    assert len(report["cases"]) == len(cases_of(name))


@family
async def test_a_run_against_a_stage_that_parses_nothing_fails(name, tmp_path):
    """With the markup left standing the tool calls fall below their threshold, for the parser."""
    wrong = {case.id for case in cases_of(name) if "tool-markup" in case.tags}
    report = await run_scripted(load(name), tmp_path, wrong=wrong)
    assert report["verdict"] == "fail"
    assert report["causes"] == {"parser": len(wrong)}
