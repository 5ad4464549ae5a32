"""Requests as the sides are asked them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.encode import adapt, answer_key, answer_scope, check_extra, encode
from denv.errors import UsageError
from denv.records import Case, Contains, Dialect, Endpoint, LogprobsClose

MESSAGES = [{"role": "user", "content": "Grüße?"}]
ENDPOINT = Endpoint(url="http://127.0.0.1:1/v1")


def a_case(check=None, **fields):
    return Case("c", 0, 1, {"messages": MESSAGES, **fields}, check or Contains("x"))


def sent(case, *, endpoint=ENDPOINT, **options):
    return json.loads(encode(case, endpoint, model="m", **options).body)


def test_plain_request_bytes():
    """A request is compact ASCII JSON: the model, the suite's fields, then what the run sets."""
    request = encode(a_case(), ENDPOINT, model="m", max_tokens=64)
    assert request.body == (
        b'{"model":"m","messages":[{"role":"user","content":"Gr\\u00fc\\u00dfe?"}],'
        b'"temperature":0,"seed":0,"stream":false,"max_tokens":64}'
    )
    assert (request.max_tokens, request.stream, request.logprobs) == (64, False, False)


def test_suite_key_order_is_kept_in_tools():
    """Keys of tool schemas stay in the suite's order, since templates render them so."""
    parameters = {"type": "object", "properties": {"zone": {"type": "string"}, "area": {}}}
    tools = [{"type": "function", "function": {"name": "find_plots", "parameters": parameters}}]
    body = encode(a_case(tools=tools), ENDPOINT, model="m").body
    assert body.index(b'"zone"') < body.index(b'"area"')
    assert json.dumps(tools, separators=(",", ":")).encode() in body


@pytest.mark.parametrize("empty", [[], None])
def test_empty_tools_are_left_out(empty):
    """No tools means that neither the list nor the choice is sent."""
    body = sent(a_case(tools=empty, tool_choice="auto"))
    assert "tools" not in body
    assert "tool_choice" not in body


def test_case_max_tokens_wins_over_the_run():
    """The case's own limit is sent, and the later steps are told it."""
    request = encode(a_case(max_tokens=7), ENDPOINT, model="m", max_tokens=64)
    assert json.loads(request.body)["max_tokens"] == 7
    assert request.max_tokens == 7


def test_default_max_tokens_is_4096():
    """A limit is always sent, 4096 where nobody names one."""
    assert sent(a_case())["max_tokens"] == 4096


def test_logprobs_only_for_cases_that_need_them():
    """Only a logprobs case asks for logprobs, with twenty alternatives, and never a null."""
    assert "logprobs" not in sent(a_case())
    body = sent(a_case(LogprobsClose(0.05)))
    assert body["logprobs"] is True
    assert body["top_logprobs"] == 20


def test_extra_fields_are_added_for_one_side():
    """Declared extra fields come last and change nothing else."""
    endpoint = Endpoint(url="http://h/v1", extra={"chat_template_kwargs": {"thinking": False}})
    body = sent(a_case(), endpoint=endpoint)
    assert body.pop("chat_template_kwargs") == {"thinking": False}
    assert body == sent(a_case())


@pytest.mark.parametrize("name", ["model", "temperature", "messages", "n", "max_completion_tokens"])
def test_extra_fields_cannot_replace_what_the_run_sets(name):
    """An extra field that the run sets itself is a usage error that names it."""
    with pytest.raises(UsageError, match=f"stage.*'{name}'"):
        check_extra({name: 1}, what="stage")


def test_stream_is_said_either_way():
    """``stream`` is always in the request."""
    assert sent(a_case(), stream=True)["stream"] is True


DROPS = [
    (b'{"error":{"message":"Unsupported parameter: seed","param":"seed"}}', {"seed"}),
    (b'{"detail":[{"type":"extra_forbidden","loc":["body","seed"]}]}', {"seed"}),
    (b'{"error":{"message":"temperature: only the default (1) is supported"}}', {"temperature"}),
]


@pytest.mark.parametrize(("body", "dropped"), DROPS)
def test_named_fields_are_dropped(body, dropped):
    """A refusal that names seed or temperature drops it, and the next request lacks it."""
    dialect = adapt(Dialect(), status=400, body=body)
    assert dialect is not None
    assert dialect.dropped == dropped
    assert not dropped & set(sent(a_case(), dialect=dialect))
    assert adapt(dialect, status=400, body=body) is None


def test_logprobs_step_down_from_20_to_5_to_none_to_nothing():
    """A refused number of alternatives is lowered before logprobs are given up."""
    body = b'{"error":{"message":"requested 20 logprobs, at most 5","code":400}}'
    case = a_case(LogprobsClose(0.05))
    steps, last = [], Dialect()
    while (dialect := adapt(last, status=400, body=body)) is not None:
        request = sent(case, dialect=dialect)
        steps.append((request.get("logprobs"), request.get("top_logprobs")))
        last = dialect
    assert steps == [(True, 5), (True, None), (None, None)]
    assert not encode(case, ENDPOINT, model="m", dialect=last).logprobs


def test_max_tokens_is_renamed_when_the_server_says_so():
    """``max_tokens`` becomes ``max_completion_tokens``, also where the case names it."""
    body = b"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    dialect = adapt(Dialect(), status=400, body=body)
    assert dialect == Dialect(max_tokens_field="max_completion_tokens")
    request = encode(a_case(max_tokens=9), ENDPOINT, model="m", dialect=dialect)
    fields = json.loads(request.body)
    assert fields["max_completion_tokens"] == request.max_tokens == 9
    assert "max_tokens" not in fields
    assert adapt(dialect, status=400, body=body) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"seed is not supported"),
        (200, b"seed is not supported"),
        (400, b"'max_tokens' or 'max_completion_tokens' is too large: 4096, must be at most 100"),
        (400, b"prompt exceeds the maximum context length"),
        (400, b"messages must alternate"),
        (400, b"\xff\xfe"),
    ],
)
def test_other_refusals_change_nothing(status, body):
    """Only a 400 or 422 that names a field as not taken changes how requests are written."""
    assert adapt(Dialect(), status=status, body=body) is None


def key(case=None, *, url="http://h/v1", model="m", repeat=0, **options):
    scope = answer_scope(Endpoint(url=url, **options), model=model)
    return answer_key(scope, encode(case or a_case(), ENDPOINT, model="m"), repeat)


@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://h2/v1"},
        {"model": "m2"},
        {"extra": {"a": 1}},
        {"headers": {"a": "1"}},
        {"repeat": 1},
        {"case": a_case(max_tokens=4095)},
    ],
)
def test_any_change_is_another_key(change):
    """Whatever decides an answer decides its key."""
    assert key(**change) != key()


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_keys_do_not_run_together(url, model, other_url, other_model):
    """Moving characters from one part to the next never gives the same key."""
    same = (url, model) == (other_url, other_model)
    equal = key(url=url, model=model) == key(url=other_url, model=other_model)
    assert equal == same
