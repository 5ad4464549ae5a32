"""A promptfoo configuration becomes a case for each prompt, test and combination of variables."""

import pytest
import regex

from denv.errors import UsageError
from denv.records import Contains, Equals, Regex
from denv.suite.imports import UncarriedError, load_yaml, read_promptfoo

ONE = "prompts: ['Say {{word}}']\ntests:\n  - vars: {word: yes}\n    assert:\n"


def no_files(name):
    raise UncarriedError(f"there is no file {name}")


def read(text, files=None):
    given = {} if files is None else files

    def named(name):
        return given[name] if name in given else no_files(name)

    return read_promptfoo(load_yaml(text, source="c.yaml"), source="c.yaml", read=named)


def check_of(assertions):
    """Give the check of the one case that these assertions become."""
    (case,) = read(ONE + assertions).cases
    return case.check


def lost(imported):
    return [(each.where, each.why) for each in imported.leftovers if each.case]


def parts(imported):
    return [(each.where, each.why) for each in imported.leftovers if not each.case]


@pytest.mark.parametrize(
    ("assertion", "check"),
    [
        ("{type: equals, value: 'yes'}", Equals("yes")),
        ("{type: equals, value: 391}", Equals("391")),
        ("{type: equals, value: 2.0}", Equals("2")),
        ("{type: contains, value: no}", Contains("no")),
        ("{type: contains, value: '{{word}}!'}", Contains("yes!")),
        (r"{type: regex, value: '\d{4}'}", Regex(r"\d{4}")),
    ],
)
def test_what_a_check_says_is_that_check(assertion, check):
    """Equality, containment and patterns are checks of their own; numbers are written out."""
    assert check_of(f"      - {assertion}\n") == check


@pytest.mark.parametrize(
    ("assertion", "right", "wrong"),
    [
        ("{type: icontains, value: Yes}", "oh YES", "no"),
        ("{type: contains-all, value: [a, b]}", "b\na", "a"),
        ("{type: icontains-all, value: [a, b]}", "B A", "A"),
        ("{type: contains-any, value: [a, b]}", "xb", "x"),
        ("{type: icontains-any, value: [a, b]}", "xB", "x"),
        ("{type: starts-with, value: ab}", "abc", "cab"),
        ("{type: is-json}", '{"a": [1, null]}', "{'a': 1}"),
        ("{type: not-contains, value: a}", "b", "ba"),
        ("{type: not-equals, value: a}", "ab", "a"),
        ("{type: not-regex, value: '^a$'}", "ab", "a"),
        ("{type: not-icontains, value: a}", "b", "A"),
    ],
)
def test_other_comparisons_become_patterns(assertion, right, wrong):
    """What no check says by itself is a pattern that finds the same."""
    check = check_of(f"      - {assertion}\n")
    assert isinstance(check, Regex)
    assert regex.search(check.pattern, right)
    assert not regex.search(check.pattern, wrong)


def test_all_assertions_of_a_test_must_hold():
    """Several assertions are one pattern that needs them all, in any order."""
    check = check_of(
        "      - {type: contains, value: b}\n      - {type: icontains, value: A}\n"
        "      - {type: not-contains, value: c}\n"
    )
    assert isinstance(check, Regex)
    assert regex.search(check.pattern, "a\nb")
    for wrong in ("a", "b", "abc"):
        assert not regex.search(check.pattern, wrong)


def test_patterns_that_count_their_groups_are_not_joined():
    """A reference to a group would mean another one after joining, so it is left out and told."""
    text = ONE + "      - {type: contains, value: b}\n      - {type: regex, value: '(a)\\1'}\n"
    found = read(text)
    assert found.cases[0].check == Contains("b")
    assert "refers to its groups" in parts(found)[0][1]


@pytest.mark.parametrize(
    ("assertion", "why"),
    [
        ("{type: llm-rubric, value: polite}", "no check compares as llm-rubric does"),
        ("{type: javascript, value: output.length}", "no check compares as javascript does"),
        ("{type: equals, value: {a: 1}}", "equals compares structured values"),
        ("{type: is-json, value: {type: object}}", "is-json has a schema"),
        ("{type: contains, value: file://x.txt}", "takes its value from a file"),
        ("{type: contains}", "contains has no value"),
        ("{type: contains, value: a, weight: 0}", "weight 0"),
        ("{type: contains, value: a, transform: output.trim()}", "a transformed output"),
        ("{type: equals, value: a, normalizeUnicode: true}", "after normalising"),
        ("{type: regex, value: '('}", "does not compile"),
        ("{value: a}", "has no type"),
        ("text", "is no mapping"),
    ],
)
def test_what_cannot_be_compared_is_listed(assertion, why):
    """The assertion is told with its number, and a test without another one is left behind."""
    found = read(ONE + f"      - {assertion}\n")
    assert found.cases == ()
    ((where, told),) = parts(found)
    assert where == "c.yaml:3: test 1, assertion 1"
    assert why in told
    assert lost(found) == [("c.yaml:3: test 1", "has no assertion that can be carried over")]


def test_prompts_and_variables_are_multiplied():
    """Each prompt meets each combination of variables; a conversation is one variable."""
    found = read(
        """
prompts: ['{{a}}{{b}}', file://chat.json]
tests:
  - vars: {a: [1, 2], b: [x, y], talk: [{role: user, content: hi}]}
    assert: [{type: contains, value: '{{b}}'}]
""",
        {"file://chat.json": [{"role": "user", "content": "{{a}} and {{b}}"}]},
    )
    texts = [case.fields["messages"][-1]["content"] for case in found.cases]
    assert texts == [
        *("1x", "1 and x", "1y", "1 and y"),
        *("2x", "2 and x", "2y", "2 and y"),
    ]
    assert found.leftovers == ()


def test_defaults_are_shared():
    """The default test's variables and assertions hold for each test that does not disable them."""
    found = read(
        """
prompts: ['{{who}} {{what}}']
defaultTest:
  vars: {who: Ada}
  options: {suffix: '!'}
  assert: [{type: contains, value: Ada}]
tests:
  - vars: {what: runs}
    assert: [{type: contains, value: runs}]
  - vars: {what: sits, who: Bo}
    options: {disableDefaultAsserts: true}
    assert: [{type: contains, value: sits}]
"""
    )
    first, second = found.cases
    assert first.fields["messages"][0]["content"] == "Ada runs!"
    assert isinstance(first.check, Regex)
    assert second.fields["messages"][0]["content"] == "Bo sits!"
    assert second.check == Contains("sits")


def test_templates_are_filled_in_as_javascript_writes():
    """Booleans, numbers and nothing are written as there; ``dump`` writes JSON."""
    found = read(
        """
prompts: ['{{t}} {{n}} {{z}}|{{ l | dump }}{% if t %} on{% endif %}']
tests:
  - vars: {t: true, n: 2.0, z: ~, l: [{a: é}]}
    assert: [{type: contains, value: x}]
"""
    )
    assert found.cases[0].fields["messages"][0]["content"] == 'true 2 |[{"a": "é"}] on'


def test_a_text_that_becomes_messages_is_messages():
    """A template whose filling gives a JSON list of messages is a conversation."""
    template = (
        '[{% for m in talk %}{"role": "{{m.role}}", "content": {{m.content | dump}}},'
        '{% endfor %} {"role": "user", "content": {{last | dump}}}]'
    )
    found = read(
        """
prompts: [file://chat.txt]
tests:
  - vars: {talk: [{role: system, content: 'a "b"'}], last: c}
    assert: [{type: contains, value: x}]
""",
        {"file://chat.txt": template},
    )
    assert found.cases[0].fields["messages"] == [
        {"role": "system", "content": 'a "b"'},
        {"role": "user", "content": "c"},
    ]


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("{vars: {}, assert: [{type: is-json}]}", "'word' is undefined"),
        ("{vars: {word: [{a: 1}]}, assert: [{type: is-json}]}", "without the filter dump"),
        ("{vars: {word: a}}", "no assertion"),
        ("{vars: {word: a}, threshold: 0.5, assert: [{type: is-json}]}", "a score"),
        ("{vars: {word: a}, options: {transform: x}, assert: [{type: is-json}]}", "transformed"),
        ("{vars: {word: a}, options: {storeOutputAs: x}, assert: [{type: is-json}]}", "later test"),
        ("{vars: file://vars.csv, assert: [{type: is-json}]}", "vars is no mapping"),
        ("{vars: {word: file://w.txt}, assert: [{type: is-json}]}", "there is no file"),
        ("just text", "there is no file just text"),
        ("7", "is no mapping"),
    ],
)
def test_a_test_that_cannot_be_carried_is_listed(test, why):
    """Its place and the reason are told; the other tests are carried."""
    good = "  - {vars: {word: b}, assert: [{type: is-json}]}\n"
    found = read(f"prompts: ['Say {{{{word}}}}']\ntests:\n  - {test}\n{good}")
    assert len(found.cases) == 1
    ((_, told),) = lost(found)
    assert why in told


def test_what_decides_a_run_but_is_not_read_is_listed():
    """Scripts as prompts, scenarios, a provider's settings and unknown keys are told."""
    found = read(
        """
prompts: [file://gen.py, 'exec:./x.sh', 'Hi']
providers: [{id: 'openai:m', config: {temperature: 0.3, tools: []}}]
scenarios: []
nunjucksFilters: {a: ./a.js}
tests: [{assert: [{type: is-json}], other: 1}]
"""
    )
    assert len(found.cases) == 1
    told = [where for where, _ in parts(found)]
    assert told == [
        "c.yaml: nunjucksFilters",
        "c.yaml: prompt 1",
        "c.yaml: prompt 2",
        "c.yaml: field other, in 1",
        "c.yaml: field providers.config.temperature, in 1",
        "c.yaml: field providers.config.tools, in 1",
    ]
    assert lost(found) == [("c.yaml: scenarios", "not read; write them out as tests")]


def test_tests_without_a_prompt_are_left_behind():
    """Where no prompt can be carried over no test is, and each says so."""
    found = read("prompts: [file://gen.js]\ntests: [{assert: [{type: is-json}]}]\n")
    assert lost(found) == [("c.yaml:2: test 1", "has no prompt that can be carried over")]


def test_defaults_that_cannot_be_read_are_an_error():
    """Without its defaults no test would mean what it says, so nothing is carried over."""
    with pytest.raises(UsageError, match="defaultTest: there is no file"):
        read("prompts: [Hi]\ndefaultTest: file://d.yaml\ntests: []\n")


def test_variables_have_a_bound():
    """A test of more combinations than anyone means is left behind before they are made."""
    many = ", ".join(map(str, range(101)))
    text = f"prompts: ['{{{{a}}}}{{{{b}}}}']\ntests: [{{vars: {{a: [{many}], b: [{many}]}}}}]\n"
    assert "10201 combinations" in lost(read(text))[0][1]
