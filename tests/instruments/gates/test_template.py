"""G3: prompts compared by ids, by text and by counts."""

import pytest

from denv.instruments.gates import State
from denv.instruments.gates.groups import GROUPS
from denv.instruments.gates.prompts import Reading, compare
from denv.instruments.gates.rendering import Path, Prompt, find_renderer
from denv.instruments.gates.template import constant_offset, judge
from denv.instruments.gates.tokenizing import find_tokenizer
from denv.instruments.probes import play
from denv.records import Side
from tests.instruments.gates.toy import Toy

PLAIN, SYSTEM = GROUPS[0], GROUPS[1]
THINKING = next(group for group in GROUPS if group.option)


def text(words, *ids, tokens=None):
    """Give a reading with a prompt's text, and its ids where there are any."""
    return Reading(Prompt(words, ids or None, Path.APPLY), tokens)


def only_ids(*ids, tokens=None):
    return Reading(Prompt(None, ids, Path.RENDER), tokens)


def found(stage, reference, *, group=PLAIN, same_ids=True, counts_move=True):
    one = compare(group, stage, reference, same_ids=same_ids, counts_move=counts_move)
    return one.state, one.finding


@pytest.mark.parametrize(
    ("stage", "reference", "state", "says"),
    [
        (text("a", 1, 2), text("b", 1, 2), State.PASS, "the same 2 token ids"),
        (text("abc", 1, 2), text("abd", 1, 3), State.FAIL, "character 2: the stage has `abc`"),
        (only_ids(1, 2), text("ab", 1, 3), State.FAIL, "part at token 1: [2] and [3]"),
        (only_ids(5, 5, 6), only_ids(5, 6), State.FAIL, "the stage begins with the token 5 twice"),
        (only_ids(5, 6), only_ids(5, 5, 6), State.FAIL, "the reference begins with the token 5"),
        (text("ab"), text("ab"), State.PASS, "the same 2 characters"),
        (text("a\n"), text("a\r"), State.FAIL, "the stage has `a\\n`, the reference `a\\r`"),
        (text("ab", tokens=3), text("ab", tokens=2), State.FAIL, "though the prompts are one text"),
        (Reading(None, 7), text("ab", tokens=7), State.PASS, "both count 7 prompt tokens"),
        (Reading(None, 9), text("ab", tokens=7), State.FAIL, "counts 9 prompt tokens, the refer"),
        (Reading(), text("ab", tokens=7), State.UNKNOWN, "the stage shows neither its prompt"),
        (Reading(refusal="no"), Reading(refusal="no"), State.UNKNOWN, "both sides refuse it"),
        (
            Reading(refusal="no roles"),
            text("ab"),
            State.FAIL,
            "only the stage refuses it (no roles)",
        ),
        (text("ab"), Reading(refusal="no"), State.FAIL, "only the reference refuses it"),
        (Reading(trouble="503"), text("ab"), State.UNKNOWN, "the stage could not be asked (503)"),
        (text("ab", 1, 2, tokens=9), text("ab", 1, 2), State.FAIL, "the stage's chat counts 9"),
    ],
)
def test_what_is_compared(stage, reference, state, says):
    """The strongest that both sides show decides, and the finding names what differs."""
    one, finding = found(stage, reference)
    assert one is state
    assert says in finding
    assert finding.startswith("plain: ")


def test_ids_of_other_tokenizers_are_not_compared():
    """Where the tokenizers are not known to agree, texts or counts decide."""
    pair = text("ab", 1, 2, tokens=2), text("ab", 3, 4, tokens=2)
    assert found(*pair, same_ids=False) == (State.PASS, "plain: the same 2 characters")
    ids = only_ids(1, 2, tokens=2), only_ids(3, 4, tokens=2)
    assert found(*ids, same_ids=False)[1] == "plain: both count 2 prompt tokens"


def test_counts_that_never_change_show_nothing():
    """A placeholder in usage is neither pass nor fail."""
    state, finding = found(Reading(None, 9), Reading(None, 9), counts_move=False)
    assert state is State.UNKNOWN
    assert "never change" in finding


def test_an_engines_own_switch():
    """A refusal that names chat_template_kwargs is no difference of templates."""
    refusal = Reading(refusal="HTTP 400: unknown field chat_template_kwargs")
    state, finding = found(text("ab"), refusal, group=THINKING)
    assert (state, finding) == (
        State.UNKNOWN,
        "thinking on: the reference does not take chat_template_kwargs",
    )


def counted(**changed):
    """Give readings that count 10 tokens more for each group, but for some."""
    return {
        group.name: Reading(None, changed.get(group.name.replace(" ", "_"), 10 * number))
        for number, group in enumerate(GROUPS, 1)
    }


def moved(by, *, system):
    """Give readings with so many more tokens, where a system message stands or not."""
    return {
        group.name: Reading(None, 10 * number + (system if group.system else by))
        for number, group in enumerate(GROUPS, 1)
    }


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        (counted(), None),
        (moved(1, system=1), "every prompt of the stage has 1 more tokens; perhaps a token"),
        (moved(-3, system=-3), "every prompt of the reference has 3 more tokens"),
        (moved(22, system=0), "the stage's prompts have 22 more tokens: a default system prompt"),
        (moved(22, system=5), None),
        (counted(tools=77), None),
    ],
)
def test_a_constant_difference_is_named(stage, said):
    """One more token everywhere, or more of them wherever no system message stands."""
    offset = constant_offset(stage, counted())
    assert offset is None if said is None else said in (offset or "")


def test_the_gate_names_the_first_group_and_lists_the_others():
    """The finding is one sentence; all groups stand in the evidence."""
    gate = judge(counted(tools=77, developer=3), counted(), same_ids=True)
    assert gate.state is State.FAIL
    assert gate.finding == (
        "tools: the stage counts 77 prompt tokens, the reference 40 (+37); so for developer"
    )
    assert len(gate.checks) == len(GROUPS)
    offset = judge(moved(1, system=1), counted(), same_ids=True)
    assert offset.evidence["offset"] == offset.finding.split("; ", 2)[2]


@pytest.mark.parametrize(
    ("server", "path"),
    [
        (Toy(), Path.APPLY),
        (Toy(engine="vllm"), Path.RENDER),
        (Toy(engine="api"), None),
    ],
)
def test_the_path_is_found_by_asking(server, path):
    """The first path that shows a prompt is taken, with what the tokenizer adds to it."""
    tokenizer = play(find_tokenizer(Side.STAGE), server)
    renderer = play(find_renderer(Side.STAGE, tokenizer), server)
    assert (renderer.path if renderer else None) == path
    if renderer is not None:
        prompt = play(renderer.render(PLAIN.fields), server)
        assert prompt is not None
        assert prompt.ids == tuple(one for one, _ in server.cut(server.render(PLAIN.fields)))


@pytest.mark.parametrize(("hidden", "path"), [("render", Path.TOKENIZE), ("/tokenize", Path.CHAT)])
def test_other_paths_of_vllm(hidden, path):
    """Without the render endpoint messages are tokenised; without that chat shows its prompt."""
    toy = Toy(engine="vllm")

    def server(probe):
        shut = hidden in probe.path or (path is Path.CHAT and "render" in probe.path)
        return Toy(engine="api")(probe) if shut else toy(probe)

    tokenizer = play(find_tokenizer(Side.STAGE), server)
    renderer = play(find_renderer(Side.STAGE, tokenizer), server)
    assert renderer is not None
    assert renderer.path is path


def test_the_token_that_begins_a_sequence_is_added_where_it_is_counted():
    """A rendered text lacks what the tokenizer adds; the chat's count shows whether it does."""

    def server(probe):
        if probe.path != "/tokenize":
            return toy(probe)
        exchange = toy(probe)
        extra = b'{"id": 1, "piece": "<s>"}, ' if probe.body["add_special"] else b""
        body = exchange.body.replace(b'"tokens": [', b'"tokens": [' + extra)
        return type(exchange)(200, exchange.headers, body)

    toy = Toy()
    tokenizer = play(find_tokenizer(Side.STAGE), server)
    renderer = play(find_renderer(Side.STAGE, tokenizer), server)
    assert renderer is not None
    prompt = play(renderer.render(PLAIN.fields), server)
    assert prompt is not None
    assert prompt.ids is not None
    plain = len(prompt.ids)
    for tokens, first in ((plain, prompt.ids[0]), (plain + 1, 1), (plain + 2, prompt.ids[0])):
        known = play(renderer.counted(prompt, tokens), server)
        assert known.ids is not None
        assert known.ids[0] == first
