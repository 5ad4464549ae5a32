"""How instruments ask: generators of steps, played by anything that answers."""

import json

import pytest

from denv.instruments.probes import Cost, Probe, Together, Work, ask, ask_all, json_of, play
from denv.records import Exchange, Fault, FaultKind, Side


def answered(body, status=200, **other):
    return Exchange(status=status, body=json.dumps(body).encode(), **other)


def probe(n):
    return Probe(Side.STAGE, "/tokenize", {"content": str(n)})


def test_a_strand_is_fed_what_it_asked_for():
    """Probes come back as exchanges, strands as a list in their order, work as its value."""

    def measure():
        first = yield probe(1)
        rest = yield from ask_all([probe(2), probe(3)])
        nested = yield Together([ask(probe(4))], most=1)
        value = yield Work(lambda: 7)
        return [json_of(each) for each in (first, *rest, *nested)], value

    found = play(measure(), lambda p: answered(int((p.body or {})["content"]) * 10))
    assert found == ([10, 20, 30, 40], 7)


@pytest.mark.parametrize(
    "exchange",
    [
        Exchange(status=None, fault=Fault(FaultKind.CONNECT, "refused")),
        answered({"error": "x"}, status=404),
        Exchange(status=200, body=b"<html>"),
        Exchange(status=200, body=b'{"a": NaN}'),
        answered({}, fault=Fault(FaultKind.CUT, "cut")),
    ],
)
def test_only_a_whole_answer_is_json(exchange):
    """A fault, another status and what is not strict JSON give nothing."""
    assert json_of(exchange) is None


def test_costs_add_up():
    """Requests and tokens are summed each for itself."""
    assert Cost(1, 2, 3) + Cost(10, 20, 30) == Cost(11, 22, 33)
