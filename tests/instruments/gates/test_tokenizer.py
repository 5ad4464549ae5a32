"""G2: the ways to show that texts are cut alike, and what each of them can prove."""

import json
from dataclasses import replace

import pytest

from denv.instruments.gates import State
from denv.instruments.gates.texts import TRICKY
from denv.instruments.gates.tokenizer import Counts, judge_counts, judge_cuts, judge_ids
from denv.instruments.gates.tokenizing import Cut, Form, Tokenizer, find_tokenizer
from denv.instruments.probes import play
from denv.records import Exchange, Side
from tests.instruments.gates.samples import spoken, token
from tests.instruments.gates.toy import Toy

NAMES = [name for name, _ in TRICKY]
COUNTS = tuple(range(10, 10 + len(TRICKY)))
PATHS = dict.fromkeys(Side, "/tokenize")


def cuts(**changed):
    """Give a cut of each text, with those of some names replaced."""
    return [changed.get(name, Cut((1, 2, 3), ("a", "b", "c"))) for name in NAMES]


def test_equal_ids_pass():
    """The same ids of all texts are the proof, with their number."""
    gate = judge_ids({side: cuts() for side in Side}, PATHS)
    assert gate.state is State.PASS
    assert gate.evidence["tokens"] == 3 * len(TRICKY)


def test_other_ids_fail_and_name_the_first_token():
    """The text, the token's number and both sides' pieces are named, escaped."""
    other = cuts(emoji=Cut((1, 9), ("a", "b\x1bc")))
    gate = judge_ids({Side.STAGE: other, Side.REFERENCE: cuts()}, PATHS)
    assert gate.state is State.FAIL
    assert gate.finding == (
        "the text 'emoji' is cut differently from token 1 on: "
        "the stage has 9=`b\\x1bc`, the reference 2=`b` 3=`c`"
    )


def test_a_text_that_was_not_cut_is_no_evidence():
    """One text without ids leaves the gate unknown, not passed."""
    sides = {Side.STAGE: cuts(emoji=None), Side.REFERENCE: cuts()}
    sides[Side.STAGE] = [None if n == "emoji" else c for n, c in zip(NAMES, cuts(), strict=True)]
    gate = judge_ids(sides, PATHS)
    assert gate.state is State.UNKNOWN
    assert "the stage gave no ids for the text 'emoji'" in gate.finding


@pytest.mark.parametrize(
    ("stage", "state", "says"),
    [
        (COUNTS, State.PASS, "counts of 14 texts agree"),
        (tuple(n + 22 for n in COUNTS), State.PASS, "but for +22 of the template"),
        ((*COUNTS[:5], 99, *COUNTS[6:]), State.FAIL, "by another number for json"),
        ((9,) * len(COUNTS), State.UNKNOWN, "the stage counts every text alike"),
        ((None, *COUNTS[1:]), State.UNKNOWN, "the stage counts no prompt tokens"),
    ],
)
def test_counts(stage, state, says):
    """Equal counts agree, a constant is the template's, another difference fails."""
    check = judge_counts({Side.STAGE: Counts(stage), Side.REFERENCE: Counts(COUNTS)})
    assert check.state is state
    assert says in check.finding


def test_text_that_both_generate_is_cut_alike_or_not():
    """The same bytes in other tokens fail; other words are no difference of the tokenizer."""
    one, two = token("riv", 0.5), token("er", 0.5)
    whole, other = token("river", 0.5), token("lake", 0.5)
    assert judge_cuts([spoken(one, two)], [spoken(one, two)]).state is State.PASS
    failed = judge_cuts([spoken(one, two)], [spoken(whole)])
    assert failed.state is State.FAIL
    assert "b'riv' by the stage and into b'river'" in failed.finding
    assert judge_cuts([spoken(one, other)], [spoken(one, two)]).state is State.PASS
    assert judge_cuts([spoken(other)], [spoken(whole)]).state is State.UNKNOWN
    assert judge_cuts([spoken()], [spoken()]).state is State.UNKNOWN


def test_parts_of_a_character_are_listed_in_three_ways():
    """One entry of llama.cpp, empty ones before it of vLLM, each part alone: all are one cut."""

    def part(raw):
        return replace(token("x", 0.5), token="", bytes=raw)

    ship = "\N{SHIP}".encode()
    one = spoken(token("a", 0.5), part(ship), token("b", 0.5))
    empty = spoken(token("a", 0.5), part(b""), part(b""), part(ship), token("b", 0.5))
    each = spoken(token("a", 0.5), *(part(ship[n : n + 1]) for n in range(4)), token("b", 0.5))
    for other in (empty, each):
        found = judge_cuts([one], [other])
        assert found.state is State.PASS
        assert found.evidence == {"bytes": 6}


@pytest.mark.parametrize(
    ("server", "form"),
    [
        (Toy(), Form.LLAMA_CPP),
        (Toy(engine="vllm"), Form.VLLM),
        (Toy(engine="api"), None),
    ],
)
def test_the_form_is_found_by_asking(server, form):
    """The first form that gives sensible ids is taken; a chat-only API has none."""
    found = play(find_tokenizer(Side.STAGE), server)
    assert (found.form if found else None) == form


def test_completions_show_ids_where_nothing_else_does():
    """A proxy before vLLM that hides /tokenize shows them by return_token_ids."""

    def server(probe):
        ids = [7, 8, 9] if probe.body.get("return_token_ids") else None
        answer = {"choices": [{"index": 0, "text": "", "prompt_token_ids": ids}]}
        status = 404 if probe.path == "/tokenize" else 200
        return Exchange(status, body=json.dumps(answer).encode())

    found = play(find_tokenizer(Side.STAGE), server)
    assert found is not None
    assert found.form is Form.COMPLETIONS
    assert play(found.cut("text"), server) == Cut((7, 8, 9))
    assert play(found.join([7]), server) is None


@pytest.mark.parametrize(
    "tokens",
    [[], None, "text", [1.5, 2], [-1], [True], list(range(99)), [{"piece": "a"}], [[1]]],
)
def test_what_is_no_list_of_ids_is_no_tokenizer(tokens):
    """Ignored fields, other shapes and more tokens than bytes are not taken for an answer."""
    body = json.dumps({"tokens": tokens}).encode()
    assert play(find_tokenizer(Side.STAGE), lambda _: Exchange(200, body=body)) is None


def test_pieces_that_are_no_whole_characters():
    """llama.cpp gives them as bytes; they are shown escaped, and never lost."""
    tokens = [{"id": 1, "piece": [240, 159]}, {"id": 2, "piece": "a"}, {"id": 3, "piece": None}]
    body = json.dumps({"tokens": tokens}).encode()
    cut = play(Tokenizer(Side.STAGE, Form.LLAMA_CPP).cut("x"), lambda _: Exchange(200, body=body))
    assert cut == Cut((1, 2, 3), ("\\xf0\\x9f", "a", "?"))
