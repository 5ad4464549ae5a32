"""Templates are filled in within bounds: no template takes the memory or the time of an import."""

import time

import pytest

from denv.suite.imports import UncarriedError, load_yaml, read_promptfoo
from denv.suite.imports.bounded import MAX_WORK, working
from denv.suite.imports.templates import render

BIG = "x" * 1_000_000
TWICE = "{% set a = a ~ a %}"
HOSTILE = {
    "repeated": "{{ 'x' * 10 ** 9 }}",
    "repeated from the right": "{{ 1000000000 * 'x' }}",
    "repeated list": "{{ ([1] * 1000000000) | length }}",
    "repeated in turn": "{% set a = 'x' * 1000 %}{% set a = a * 1000 %}{{ a * 1000 }}",
    "power": "{{ 9 ** (9 ** 9) }}",
    "shift by power": "{{ 2 ** 100000000 % 7 }}",
    "product": "{% set n = 10 ** 1000 %}{{ n * n * n }}",
    "loops in loops": "{% for a in range(99999) %}{% for b in range(99999) %}" + "{% endfor %}" * 2,
    "loop with a test": "{% for a in range(999) %}{% for b in range(99999) if b < 0 %}{% endfor %}"
    "{% endfor %}",
    "constants in a loop": "{% for a in range(99999) %}" + "y" * 10_000 + "{% endfor %}",
    "doubled by joining": "{% set a = 'x' %}" + TWICE * 60 + "{{ a | length }}",
    "doubled by adding": "{% set a = 'x' %}" + "{% set a = a + a %}" * 60,
    "doubled in a block": "{% set a %}xx{% endset %}"
    + "{% set a %}{{ a }}{{ a }}{% endset %}" * 60,
    "doubled in a namespace": "{% set n = namespace(a='x') %}{% for i in range(99) %}"
    "{% set n.a = n.a ~ n.a %}{% endfor %}",
    "doubled lists": "{% set a = [1] %}" + "{% set a = [a, a] %}" * 60 + "{{ a | dump }}",
    "written lists": "{% set a = [1] %}" + "{% set a = [a, a] %}" * 60 + "{{ a | string }}",
    "joined lists": "{% set a = [1] %}" + "{% set a = [a, a] %}" * 60 + "{{ [a] | join }}",
    "padded": "{{ 'x' | center(1000000000) }}",
    "indented": "{{ 'x\n\ny' | indent(1000000000) }}",
    "dumped": "{{ {'a': 1} | dump(1000000000) }}",
    "rounded": "{{ 5 | round(-1000000000) }}",
    "split": "{{ [1] | batch(1000000000, 'x') | list }}",
    "formatted": "{{ '%1000000000d' % 1 }}",
    "formatted by a filter": "{{ '%1000000000d' | format(1) }}",
    "formatted by a method": "{{ '{:1000000000}'.format(1) }}",
    "a method that pads": "{{ 'x'.ljust(1000000000) }}",
    "a method by name": "{{ 'x'['zfill'](1000000000) }}",
    "a method by a filter": "{{ ['x'] | map(attribute='zfill') | first }}{{ 'x'.zfill(1) }}",
    "replaced": "{{ big | replace('x', big) }}",
    "replaced nothing": "{{ big | replace('', big) }}",
    "joined by much": "{{ range(99999) | join(big) }}",
    "joined much": "{% for a in range(99) %}{{ big }}{% endfor %}",
    "mapped": "{{ range(99999) | map('replace', '1', big) | list | length }}",
    "summed": "{{ [[1]] | sum(start=[]) }}",
    "made up": "{{ lipsum(n=1000000) }}",
    "searched": "{% for a in range(9999) %}{% if 'y' in big %}{% endif %}{% endfor %}",
    "searched by hand": "{% if 'y' in big %}{% endif %}" * 2000,
    "calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "calls itself twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}"
    "{% endmacro %}{{ m(60) }}",
    "recursive loop": "{% for a in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "recursive loop with constants": "{% for a in [[[[1] * 9] * 9] * 9] * 9 recursive %}"
    + "y" * 100_000
    + "{% if a is iterable %}{{ loop(a) }}{% endif %}{% endfor %}",
    "nested brackets": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "nested lists": "{{ " + "[" * 150 + "1" + "]" * 150 + " }}",
    "nested loops": "{% for a in [1] %}" * 40 + "{% endfor %}" * 40,
    "nested conditions": "{% if 1 %}" * 150 + "{% endif %}" * 150,
    "many words": "{{ [" + "1," * 100_000 + "1] }}",
    "many nots": "{{ " + "not " * 10_000 + "1 }}",
    "another file": "{% include '/etc/passwd' %}",
    "the process": "{{ ''.__class__.__mro__ }}",
}


@pytest.mark.parametrize("template", HOSTILE.values(), ids=HOSTILE)
def test_what_would_take_all_is_refused(template):
    """It ends soon, with a reason of one short line."""
    began = time.process_time()
    with pytest.raises(UncarriedError, match="its template cannot be filled in") as told:
        render(template, {"big": BIG})
    assert time.process_time() - began < 10
    assert len(str(told.value)) < 300
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{% for a in words %}{{ loop.index }}{{ loop.cycle('.', '!') }}{{ a }}{% endfor %}", None),
        ("{{ words | join(', ') }} {{ words | length }} {{ words | first | upper }}", "a, b 2 A"),
        ("{{ 'a' ~ 1 ~ words[0] }}{{ 2 * 3 + 4 }}{{ 7 % 4 }}{{ 'ab' * 2 }}", "a1a103abab"),
        ("{{ words | map('upper') | join }}{{ [3, 1] | sort | join }}", "AB13"),
        ("{% for k, v in table.items() %}{{ k }}={{ v }};{% endfor %}", "k=v;"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}{{ m(words[1]) }}", "<1><b>"),
        (("{% set n = namespace(s=0) %}{% for i in range(9) %}{% set n.s = n.s + i %}{% endfor %}"
         "{{ n.s }}"), "36"),
        ("{% if 'a' in words and 1 < 2 < 3 %}yes{% endif %}{{ [1, 2] | sum }}", "yes3"),
        ("{{ table | dump }}{{ words | dump(1) | length }}", '{"k": "v"}14'),
        ("{{ text | replace('x', 'yy') | trim | indent(2) }}", "ayyb\n  c"),
    ],
)  # fmt: skip
def test_what_templates_are_written_for_is_filled_in(template, text):
    """Loops, filters, macros and arithmetic of a usual size work as Jinja has them."""
    values = {"words": ["a", "b"], "table": {"k": "v"}, "text": " axb\nc "}
    assert render(template, values) == (text or "1.a2!b")


def test_long_prompts_are_no_hostile_ones():
    """A document of megabytes goes through a template, in pieces too."""
    assert render("Read: {{ big }}", {"big": BIG * 4}) == "Read: " + BIG * 4
    pages = [BIG[:10_000]] * 100
    made = render("{% for page in pages %}{{ page }}\n{% endfor %}", {"pages": pages})
    assert len(made) == 100 * 10_001


def test_all_templates_of_a_file_share_what_may_be_done():
    """Many templates that each take what one may take are refused from some number on."""
    half = "{% for a in range(" + str(MAX_WORK // 500) + ") %}{% endfor %}"
    with working(MAX_WORK):
        render(half, {})
        with pytest.raises(UncarriedError, match="too much work"):
            render(half * 4, {})
        with pytest.raises(UncarriedError, match="too much work"):
            render("{{ 1 + 1 }}", {})


def test_a_template_is_left_behind_with_its_place():
    """The line tells file, line and test, and the line within a template that is none."""
    text = (
        "prompts: ['{{ word }}']\n"
        "tests:\n"
        "  - vars: {word: fine}\n"
        "    assert: [{type: equals, value: a}]\n"
        "  - description: grows\n"
        "    vars: {word: \"{{ 'x' * 10 ** 12 }}\"}\n"
        "    assert: [{type: equals, value: a}]\n"
        "  - vars: {word: fine}\n"
        '    assert: [{type: equals, value: "a\\n{% for %}"}]\n'
    )
    found = read_promptfoo(load_yaml(text, source="c.yaml"), source="c.yaml", read=str)
    assert len(found.cases) == 1
    (first, second) = [(each.where, each.why) for each in found.leftovers]
    assert first[0] == "c.yaml:5: test 2 (grows)"
    assert "too much work" in first[1]
    assert second[0] == "c.yaml:8: test 3"
    assert "line 2 of it: " in second[1]
