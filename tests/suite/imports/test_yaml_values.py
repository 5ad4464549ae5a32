"""YAML is read as JavaScript's parsers read it."""

import pytest

from denv.errors import UsageError
from denv.suite.imports import load_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: no", {"a": "no"}),
        ("a: on", {"a": "on"}),
        ("a: true", {"a": True}),
        ("a: 1:30", {"a": "1:30"}),
        ("a: 010", {"a": 10}),
        ("a: 0x1F", {"a": 31}),
        ("a: 1.50", {"a": 1.5}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: 2024-01-01", {"a": "2024-01-01"}),
        ("a:", {"a": None}),
        ("a: ~", {"a": None}),
        ("a: '1'", {"a": "1"}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
    ],
)
def test_values_are_those_of_yaml_1_2(text, value):
    """Words are texts, dates are texts, numbers are decimal, anchors and merges work."""
    assert load_yaml(text, source="c.yaml") == value


@pytest.mark.parametrize("text", ["a: [", "a: !!python/object:os.system x", "a: \t- b"])
def test_what_is_no_yaml_names_the_line(text):
    """A file that does not parse, or wants objects made, is one clear error."""
    with pytest.raises(UsageError, match=r"^c\.yaml:1: not YAML"):
        load_yaml(text, source="c.yaml")


@pytest.mark.parametrize("text", ["a: 1\nb: 2\n'a': 3", "- {b: 1}\n- a: 1\n  a: 1"])
def test_a_key_that_stands_twice_is_refused(text):
    """JavaScript's parsers refuse it; one of the two would be lost without a word."""
    with pytest.raises(UsageError, match=r"^c\.yaml:3: not YAML: the key 'a' stands twice"):
        load_yaml(text, source="c.yaml")


def test_a_merged_key_may_be_written_again():
    """What stands in the mapping itself wins over what is merged into it, in either order."""
    text = "a: &x {b: 1}\nc: {b: 2, <<: *x}\nd: {<<: *x, b: 2}"
    assert load_yaml(text, source="c.yaml") == {"a": {"b": 1}, "c": {"b": 2}, "d": {"b": 2}}


def test_what_is_nested_too_deeply_is_refused():
    """A file of brackets alone is one clear error."""
    with pytest.raises(UsageError, match=r"^c\.yaml: nested too deeply"):
        load_yaml("[" * 100_000, source="c.yaml")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: &a [*a]", "an alias holds itself"),
        ("a: {x: &a {b: [*a]}}", "an alias holds itself"),
        ("a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 8)),
         "written out it has more than 1000000 values"),
    ],
    ids=["list", "mapping", "laughs"],
)  # fmt: skip
def test_aliases_are_bounded(text, why):
    """A file of few lines cannot stand for a document that no memory holds."""
    with pytest.raises(UsageError, match=rf"^c\.yaml: cannot be read: {why}"):
        load_yaml(text, source="c.yaml")
