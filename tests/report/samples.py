"""Documents of runs, written by hand: one that passes, and others that do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from denv.report import Report

HOSTILE = [
    "<script>alert(1)</script>",
    "</pre></details></section><img src=x onerror=alert(1)>",
    "{{7*7}} {% raw %} {# x #}",
    "]]></failure><error/>",
    "\x1b[31mred\x1b[0m \x07 \x00 \x9b2J",
    "\u202eevil\u2066 \u200b",
    "`code` | pipe | **bold** [link](http://evil.example) @octocat #1 <!-- x -->",
    "[red]markup[/red] :smile:",
    "\ud800 lone",
    "--><svg onload=alert(1)>",
    '" onmouseover="alert(1)',
]


def noise() -> dict[str, Any]:
    """Give the noise floor of 40 cases that were asked three times."""
    row = {"cases": 40, "agree": 38, "agreement": 0.95, "interval": [0.835, 0.986], "upper": 0.991}
    identical = {
        "warm": {"cases": 40, "identical": 31},
        "alone": {"cases": 40, "identical": 40},
    }
    side = {
        "kinds": {"exact": row},
        "identical": identical,
        "changed": ["math-1"],
        "logprob_delta": {"median": 0.001, "p99": 0.04, "max": 0.043},
    }
    finding = "the engine is declared deterministic, but 9 of 80 repeated answers changed"
    return {
        "cases": 40,
        "stage": side,
        "reference": side,
        "tolerances": [0.05, 0.05],
        "deterministic": {"declared": True, "held": False, "finding": finding},
    }


PROMPTS_HINT = (
    "The prompts had other token counts in 60 of 120 cases (stage - reference: +15 in 60 without "
    "a system message, 0 in 60 with): compare the chat templates first; this points at a system "
    "prompt that one side adds where there is none."
)


def endpoint(**other: Any) -> dict[str, Any]:
    """Give one endpoint that answered everything."""
    return {
        "url": "http://127.0.0.1:8080/v1",
        "name": None,
        "model": "smollm2",
        "served_models": ["smollm2"],
        "requests": 120,
        "retried": 0,
        "rate_limited": 0,
        "cached": 0,
        "usage": {"prompt_tokens": 10312, "completion_tokens": 4710},
        "cost": None,
        "latency_s": {"median": 0.21, "p95": 0.94},
        "dropped_fields": [],
        "top_logprobs": 20,
        "max_tokens_field": "max_tokens",
        "sampled": False,
        "warnings": [],
        "groups": [],
        **other,
    }


def side(text: str | None = "391", **other: Any) -> dict[str, Any]:
    """Give one side's answer to a case."""
    return {
        "text": text,
        "reasoning": None,
        "tool_calls": [],
        "finish_reason": "stop",
        "native_finish_reason": None,
        "usage": {"prompt_tokens": 31, "completion_tokens": 12},
        "problem": None,
        "status": None,
        "system_fingerprint": None,
        "provider": None,
        "replica": None,
        "model": "smollm2",
        "retried": 0,
        "rate_limited": 0,
        "elapsed_s": 0.25,
        "cached": False,
        "oddities": [],
        **other,
    }


def case(index: int = 0, outcome: str = "pass", **other: Any) -> dict[str, Any]:
    """Give one case; a failing one has the cause ``unknown`` unless another is named."""
    return {
        "id": f"case-{index:04d}",
        "index": index,
        "check": "equals",
        "kind": "exact",
        "outcome": outcome,
        "cause": "unknown" if outcome == "fail" else None,
        "reason": "" if outcome == "pass" else "differs at character 0",
        "warnings": [],
        "tags": [],
        "detail": {},
        "stage": side("392" if outcome == "fail" else "391"),
        "reference": side(),
        **other,
    }


POWER = {"0.99": 0.98, "0.97": 0.88, "0.95": 0.74, "0.9": 0.39}


def kind(planned: int, passed: int, failed: int, **other: Any) -> dict[str, Any]:
    """Give the counts of a kind; what neither passed nor failed is unmeasured."""
    return {
        "planned": planned,
        "pass": passed,
        "fail": failed,
        "reference-fail": 0,
        "unmeasured": planned - passed - failed,
        "reference-error": 0,
        "pass_rate": passed / (passed + failed) if passed + failed else None,
        "interval": [0.8929, 0.9868] if passed + failed else None,
        "threshold": 0.95,
        "verdict": "pass",
        "reason": "",
        "power": dict(POWER) if passed + failed else None,
        **other,
    }


def head(**other: Any) -> dict[str, Any]:
    """Give the document of a run that passed, without its cases."""
    return {
        "schema": "denv.parity.report/1",
        "run": "20261129-223811-ab12cd",
        "verdict": "pass",
        "reasons": ["exact: 80 of 80 pass (100 %), threshold 95 %"],
        "started": "2026-11-29T22:38:11Z",
        "finished": "2026-11-29T22:41:50Z",
        "path": "direct",
        "denv": {"version": "0.1.0", "python": "3.11.7"},
        "suite": {"name": "core.jsonl", "sha256": "ab" * 32, "cases": 80},
        "stage": endpoint(),
        "reference": endpoint(url="https://api.example.com/v1", model="smollm2-135m"),
        "release": None,
        "engine": None,
        "recipe": None,
        "settings": {
            "pass": {"exact": "0.95"},
            "coverage": "0.9",
            "max_retried": "0.02",
            "confidence": None,
            "repeats": 1,
            "concurrency": 8,
            "retries": 4,
            "max_tokens": 4096,
            "stream": "no",
            "timeout_s": 600,
        },
        "kinds": {"exact": kind(80, 80, 0, interval=[0.9542, 1.0])},
        "checks": {"equals": estimate(80, 80, 0)},
        "causes": {},
        "tools": None,
        "hints": [],
        "noise": None,
        "unanswered": 0,
        "limits": [
            "80 cases cannot show a failure rate below 4.5 %.",
            "One answer a case says nothing of how answers vary.",
        ],
        **other,
    }


def estimate(planned: int, passed: int, failed: int) -> dict[str, Any]:
    """Give the counts of one check."""
    found = kind(planned, passed, failed)
    return {k: v for k, v in found.items() if k not in {"threshold", "verdict", "reason", "power"}}


def passing() -> Report:
    """Give a run in which all of 80 cases passed."""
    return Report(head(), lambda: (case(index) for index in range(80)))


def _failures() -> list[dict[str, Any]]:
    weather = {"name": "get_weather", "error": None}
    long = "The harbour opens at six and closes at nine; ferries leave on the hour. "
    tool = {"check": "tool-call", "kind": "tool-calls"}
    return [
        case(
            3,
            "fail",
            id="arithmetic-17x23",
            check="contains",
            reason='the text does not contain "391"',
            stage=side("17 times 23 is 381.  I multiplied 17 by 20 and added 41.\n"),
            reference=side("17 times 23 is 391. I multiplied 17 by 20 and added 51.\n"),
            tags=["arithmetic"],
        ),
        case(
            7,
            "fail",
            id="weather-paris",
            **tool,
            cause="parser",
            reason="the arguments are a JSON string that holds the object, encoded twice",
            warnings=["the reference calls the tool with one more argument"],
            stage=side(
                None,
                tool_calls=[
                    weather | {"arguments": '"{\\"city\\": \\"Paris\\"}"', "error": "not an object"}
                ],
                finish_reason="tool_calls",
            ),
            reference=side(
                None,
                tool_calls=[weather | {"arguments": {"city": "Paris", "unit": "celsius"}}],
                finish_reason="tool_calls",
            ),
        ),
        case(
            11,
            "fail",
            id="long-summary",
            cause="limit",
            reason="cut off at 512 tokens, below the max_tokens of 4096 that was sent",
            stage=side(
                long * 40 + "The last boat",
                finish_reason="length",
                reasoning="Let me list the opening hours first. " * 30,
                usage={"prompt_tokens": 1300, "completion_tokens": 512},
            ),
            reference=side(long * 52 + "The last boat leaves at nine."),
        ),
        case(
            19,
            "fail",
            id="logprobs-haiku",
            check="logprobs-close",
            kind="logprobs",
            cause="unknown",
            reason="token 14 differs by 0.41 nats, tolerance 0.05",
            stage=side("Autumn wind, a lone gull turns home across the water"),
            reference=side("Autumn wind, a lone crow turns home across the water"),
            detail={
                "aligned": 14,
                "aligned_by": "bytes",
                "set_aside": {"stage": 0, "reference": 0},
                "exchanges": {"stage": {"requests": 77_777}},
                "whole": False,
                "max": 0.4137,
                "worst": {"index": 4, "token": " lone", "stage": -0.91, "reference": -0.4963},
                "parted": {"index": 5, "stage": " gull", "reference": " crow", "agree": True},
                "tokens": [
                    {"token": " lone", "stage": -0.91, "reference": -0.4963, "difference": 0.4137},
                    {"token": " a", "stage": -0.302, "reference": -0.281, "difference": 0.021},
                ],
            },
        ),
        case(
            23,
            "fail",
            id="timeouts-under-load",
            cause="availability",
            reason="no answer after 4 retries: HTTP 503",
            stage=side(
                None, problem="HTTP 503: upstream is overloaded", status=503, finish_reason=None
            ),
        ),
        case(
            31,
            "fail",
            id="système-français",
            cause="template",
            reason="HTTP 400: the chat template takes no system message",
            stage=side(
                None, problem="HTTP 400: System role not supported", status=400, finish_reason=None
            ),
        ),
    ]


def failing() -> Report:
    """Give a run that failed for many causes."""
    failures = _failures()
    others = [
        case(40, "reference-fail", reason='the reference\'s text does not contain "Bern"'),
        case(41, "unmeasured", reason="regex timed out", check="regex"),
        case(42, "reference-error", reason="HTTP 500 after 4 retries"),
        case(43, "unmeasured", reason="regex timed out", check="regex"),
    ]
    exact = kind(
        80,
        73,
        4,
        verdict="fail",
        reason="exact: 73 of 77 pass (94.8 %), below the threshold of 95 %",
    )
    exact |= {"reference-fail": 1, "unmeasured": 1, "reference-error": 1}
    calls = kind(30, 29, 1, interval=[0.8333, 0.9941], threshold=0.99, verdict="fail")
    logprobs = kind(
        10,
        9,
        1,
        interval=[0.5958, 0.9821],
        threshold=None,
        verdict="ungated",
        reason="logprobs: no threshold",
    )
    warning = {
        "code": "arguments-object",
        "detail": "Tool arguments come as an object instead of a string.",
        "count": 12,
    }
    group = {"by": "system_fingerprint", "pass": 55, "fail": 1, "pass_rate": 0.982}
    document = head(
        verdict="fail",
        reasons=[
            "exact: 73 of 77 pass (94.8 %), below the threshold of 95 %",
            "tool-calls: 29 of 30 pass (96.7 %), below the threshold of 99 %",
        ],
        suite={"name": "core.jsonl", "sha256": "ab" * 32, "cases": 120},
        kinds={"exact": exact, "tool-calls": calls, "logprobs": logprobs},
        checks={
            "equals": estimate(30, 27, 3),
            "contains": estimate(30, 29, 1),
            "regex": estimate(20, 17, 0),
            "tool-call": estimate(30, 29, 1),
            "logprobs-close": estimate(10, 9, 1),
        },
        causes={"unknown": 2, "parser": 1, "limit": 1, "availability": 1, "template": 1},
        stage=endpoint(
            dropped_fields=["seed"],
            warnings=[warning],
            retried=5,
            cost=0.0132,
            groups=[
                group | {"value": "fp_a1", "interval": [0.906, 0.997]},
                group
                | {
                    "value": "fp_b7",
                    "pass": 56,
                    "fail": 5,
                    "pass_rate": 0.918,
                    "interval": [0.822, 0.964],
                },
            ],
        ),
        engine={"name": "llama.cpp", "version": "b11549", "deterministic": False},
        hints=[PROMPTS_HINT],
        release="chat-r8",
        recipe="smollm2",
        tools={
            "cases": 30,
            "trigger": {"both": 27, "stage_only": 1, "reference_only": 2, "neither": 0},
            "trigger_f1": 0.9474,
            "trigger_f1_interval": [0.871, 0.985],
            "stage": {
                "calls": 28,
                "valid": 26,
                "invalid_json": 1,
                "unknown_name": 0,
                "schema_mismatch": 1,
                "schema_accuracy": 0.9286,
                "interval": [0.7735, 0.9802],
            },
            "reference": {
                "calls": 29,
                "valid": 29,
                "invalid_json": 0,
                "unknown_name": 0,
                "schema_mismatch": 0,
                "schema_accuracy": 1.0,
                "interval": [0.8830, 1.0],
            },
            "schema_accuracy": 0.9286,
        },
    )
    ok = [case(index) for index in range(50, 161)]
    return Report(document, lambda: iter([*failures, *others, *ok]))


def inconclusive() -> Report:
    """Give a run in which the stage was rate-limited for most of the cases."""
    short = kind(
        80,
        20,
        0,
        interval=[0.8389, 1.0],
        verdict="inconclusive",
        reason="exact: 20 of 80 cases counted, fewer than the coverage of 90 %",
    )
    document = head(
        verdict="inconclusive",
        reasons=["exact: 20 of 80 cases counted, fewer than the coverage of 90 %"],
        kinds={"exact": short},
        checks={"equals": estimate(80, 20, 0)},
        stage=endpoint(rate_limited=60),
        unanswered=60,
    )

    def cases() -> Iterator[dict[str, Any]]:
        for index in range(80):
            outcome = "pass" if index < 20 else "unmeasured"
            yield case(index, outcome, reason="rate-limited" if index >= 20 else "")

    return Report(document, cases)


def hostile() -> Report:
    """Give a run whose every free text tries to be more than text."""
    everything = " ".join(HOSTILE)
    warning = {"code": everything, "detail": everything, "count": 1}
    answer = side(
        everything,
        reasoning=everything,
        tool_calls=[
            {"name": everything, "arguments": {everything: everything}, "error": everything}
        ],
        finish_reason=everything,
        system_fingerprint=everything,
        provider=everything,
        replica=everything,
        model=everything,
        oddities=[{"code": everything, "detail": everything}],
    )
    cases = [
        case(
            index,
            "fail",
            id=f"{text} {index}",
            reason=text,
            warnings=[text],
            tags=[text],
            detail={text: text, "rows": [{text: text}], "one": {text: [text]}},
            stage=answer | {"problem": text if index == 1 else None, "text": text},
            reference=answer,
        )
        for index, text in enumerate(HOSTILE)
    ]
    cases += [
        case(
            20, "fail", reason="long", stage=side("<b>" * 350_000), reference=side("x" * 1_000_000)
        ),
        case(21, "unmeasured", id=everything, reason=everything),
        case(22, "reference-fail", id=everything, reason=everything),
    ]
    end = endpoint(
        url=everything,
        name=everything,
        model=everything,
        served_models=HOSTILE,
        dropped_fields=HOSTILE,
        warnings=[warning],
        groups=[
            {
                "by": "provider",
                "value": everything + str(i),
                "pass": 1,
                "fail": 1,
                "pass_rate": 0.5,
                "interval": [0.1, 0.9],
            }
            for i in range(2)
        ],
    )
    document = head(
        verdict="fail",
        reasons=HOSTILE,
        hints=HOSTILE,
        noise=noise() | {"deterministic": {"declared": None, "held": False, "finding": HOSTILE[0]}},
        limits=HOSTILE,
        stage=end,
        reference=end,
        suite={"name": everything, "sha256": "0" * 64, "cases": 14},
        engine={"name": everything, "version": everything, "deterministic": None},
        release=everything,
        recipe=everything,
        settings={everything: everything, "map": {everything: everything}},
        kinds={"exact": kind(14, 0, 12, verdict="fail", reason=everything)},
        checks={"equals": estimate(14, 0, 12)},
        causes={"unknown": 12},
    )
    return Report(document, lambda: iter(cases))
