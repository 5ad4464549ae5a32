"""The recipe ``generic``: complete, provable, and each case tells right from wrong."""

import json
import unicodedata
from collections import Counter
from functools import cache

import jsonschema

from denv.power import pass_chances, power_of
from denv.recipes import load, load_answers
from denv.recipes.making import PARTS
from denv.records import Kind, LogprobsClose, Outcome, ToolCall
from denv.runner.recipes import check_recipe
from denv.suite import advise, load_suite
from tests.recipes.scripted import run_scripted

MAX_BYTES = 3 * 1024 * 1024

LEAST = {
    "tools-single": 200,
    "tools-multi": 90,
    "no-call": 40,
    "json": 30,
    "languages": 60,
    "code": 40,
    "long-context": 12,
    "exact": 100,
    "logprobs": 60,
}
"""How many cases each part holds at least."""

LANGUAGES = 25


@cache
def recipe():
    return load("generic")


@cache
def cases():
    return tuple(load_suite(recipe().suite))


def generated(case):
    return "generated" in case.tags


def test_every_case_passes_its_right_answer_and_fails_its_wrong_one():
    """The recipe's own check has nothing to say, of golden prompts neither."""
    found = check_recipe(recipe())
    assert found.problems == ()
    assert found.cases >= 400
    assert found.golden >= 12
    assert len(found.rehearsed) == found.cases + found.golden
    assert [each.id for each in found.rehearsed if each.right.warnings] == []


async def test_a_run_over_a_stage_that_answers_rightly_passes_whole(tmp_path):
    """Every case is asked, counted and passed, and each threshold is shown at the confidence."""
    report = await run_scripted(recipe(), tmp_path)
    assert {case["outcome"] for case in report["cases"]} == {Outcome.PASS}
    assert len(report["cases"]) == len(cases())
    assert report["verdict"] == "pass"


async def test_a_run_over_a_stage_that_answers_wrongly_fails_every_case(tmp_path):
    """No wrong answer passes or stays uncounted over the wire."""
    wrong = {case.id for case in cases()}
    report = await run_scripted(recipe(), tmp_path, wrong=wrong)
    assert {case["outcome"] for case in report["cases"]} == {Outcome.FAIL}
    assert report["verdict"] == "fail"


def test_each_part_and_each_check_has_its_cases():
    """All parts are there in their least numbers, and all five checks are used."""
    parts = Counter(tag[5:] for case in cases() for tag in case.tags if tag.startswith("part:"))
    assert set(parts) == set(PARTS) == set(LEAST)
    assert {part: parts[part] for part in parts if parts[part] < LEAST[part]} == {}
    checks = Counter(case.check.name for case in cases())
    assert set(checks) == {"equals", "contains", "regex", "tool-call", "logprobs-close"}
    assert sum(not generated(case) for case in cases()) >= 120


def test_the_number_of_cases_proves_each_threshold():
    """A good stage (99 %) passes mostly, one that fails twice as often as allowed hardly ever."""
    counts = Counter(case.check.kind for case in cases())
    confidence = recipe().confidence
    assert set(recipe().thresholds) == set(counts) == set(Kind)
    for kind, threshold in recipe().thresholds.items():
        told = power_of(counts[kind], threshold, confidence=confidence)
        assert counts[kind] >= told["cases_needed"], kind
        assert told["bad_pass_chance"] <= 0.05, kind
        assert pass_chances(counts[kind], threshold, confidence=confidence)["0.99"] >= 0.8, kind


def test_exact_stays_provable_where_a_tenth_cannot_be_asked():
    """Servers without JSON Schema or with a short context still reach the coverage."""
    exact = [case for case in cases() if case.check.kind is Kind.EXACT]
    refused = [
        case
        for case in exact
        if "part:long-context" in case.tags
        or (case.fields.get("response_format") or {}).get("type") == "json_schema"
    ]
    assert len(refused) < 0.1 * len(exact)


def test_tools_are_used_in_one_turn_and_in_several():
    """Among the calls are results that must be read, and nested, listed and typed arguments."""
    calls = [case for case in cases() if isinstance(case.check, ToolCall)]
    several = [case for case in calls if len(case.fields["messages"]) > 2]
    results = [c for c in several if any(m["role"] == "tool" for m in c.fields["messages"])]
    assert (len(calls), len(several), len(results)) >= (300, 90, 70)
    assert all(not case.fields.get("tool_choice") for case in calls)
    values = [value for case in calls for value in case.check.arguments.values()]
    assert {type(value).__name__ for value in values} >= {
        "str", "int", "Decimal", "bool", "list", "dict", "NoneType",
    }  # fmt: skip


def test_no_call_is_right_where_tools_are_offered_for_nothing():
    """Such cases want a text, and among their wrong answers are calls."""
    answers = load_answers(recipe().answers)
    silent = [case for case in cases() if "part:no-call" in case.tags]
    assert all(case.fields["tools"] and case.check.kind is Kind.EXACT for case in silent)
    assert not any(answers[case.id].right.tool_calls for case in silent)
    assert sum(bool(answers[case.id].wrong.tool_calls) for case in silent) >= len(silent) / 4


def test_every_call_is_one_that_its_tools_schema_allows():
    """Expected arguments and those of earlier turns are valid, and each call has its result."""
    for case in cases():
        tools = {
            tool["function"]["name"]: tool["function"] for tool in case.fields.get("tools", ())
        }
        earlier = [call for m in case.fields["messages"] for call in m.get("tool_calls", ())]
        given = [(call["function"]["name"], call["function"]["arguments"]) for call in earlier]
        if isinstance(case.check, ToolCall):
            given.append((case.check.tool, json.dumps(case.check.arguments, default=float)))
        for name, arguments in given:
            jsonschema.validate(json.loads(arguments), tools[name].get("parameters", {}))
        results = [m["tool_call_id"] for m in case.fields["messages"] if m["role"] == "tool"]
        assert sorted(results) == sorted(call["id"] for call in earlier), case.id


def test_answers_to_a_json_schema_follow_it():
    """The right answer is valid by the schema that the request gives."""
    answers = load_answers(recipe().answers)
    for case in cases():
        schema = (case.fields.get("response_format") or {}).get("json_schema")
        if schema is not None:
            jsonschema.validate(json.loads(answers[case.id].right.content or ""), schema["schema"])


def test_wrong_answers_are_of_many_kinds():
    """No kind of fault makes up more than a quarter of what is tested."""
    whys = [line.why or "" for line in load_answers(recipe().answers).values()]
    assert all(why.endswith((".", '"')) for why in whys)
    kinds = Counter(why.rpartition("Wrong: ")[2] for why in whys if "Wrong: " in why)
    assert len(kinds) >= 100
    assert max(kinds.values()) < 0.25 * len(whys)


def test_languages_are_many_and_written_in_nfc():
    """Suite and golden prompts are in normal form C, in as many languages as the recipe says."""
    asked = {
        case.id.split("-")[1]
        for case in cases()
        if "part:languages" in case.tags and not generated(case)
    }
    assert len(asked) == LANGUAGES
    assert any(f"{LANGUAGES} languages" in limit for limit in recipe().limits)
    for path in (recipe().suite, recipe().golden):
        text = path.read_text("utf-8")
        assert unicodedata.is_normalized("NFC", text)


def test_long_cases_are_few_and_reach_sixteen_thousand_tokens():
    """The longest request holds about 64,000 characters, and all files stay small."""
    sizes = sorted(len(json.dumps(case.fields["messages"])) for case in cases())
    assert 60_000 < sizes[-1] < 70_000
    assert sum(size > 8_000 for size in sizes) <= 20
    folder = recipe().suite.parent
    assert sum(path.stat().st_size for path in folder.iterdir()) < MAX_BYTES


def test_the_suite_follows_the_advice_that_check_gives():
    """Of all habits that weaken a suite it has none."""
    assert advise(load_suite(recipe().suite)) == []


def test_logprobs_cases_name_one_tolerance_and_few_tokens():
    """Their requests are short, so that the comparison is cheap."""
    found = [case for case in cases() if isinstance(case.check, LogprobsClose)]
    assert {case.check.tolerance for case in found} == {0.2}
    assert {case.fields["max_tokens"] for case in found} == {32}


def test_golden_prompts_are_short_and_their_own():
    """Each fits into a few lines, none stands in the suite, and texts and calls are among them."""
    golden = tuple(load_suite(recipe().golden))
    sizes = [len(json.dumps(case.fields, default=str)) for case in golden]
    assert max(sizes) < 1_500
    asked = {json.dumps(case.fields["messages"]) for case in cases()}
    assert not any(json.dumps(case.fields["messages"]) in asked for case in golden)
    assert {case.check.kind for case in golden} == {Kind.EXACT, Kind.TOOL_CALLS}
