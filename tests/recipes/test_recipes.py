"""A recipe is read strictly; what it names is there."""

from fractions import Fraction

import pytest

from denv.errors import UsageError
from denv.recipes import load, names
from denv.records import Kind
from denv.suite import load_suite

GOOD = """\
description: A small model
suite: suite.jsonl
golden: golden.jsonl
max-tokens: 64
pass: {exact: 99.5%, tool-calls: "0.9"}
engines: {some-engine: One thread.}
"""


@pytest.fixture
def write(tmp_path):
    """Write a recipe named ``small`` and read it."""

    def read(text):
        folder = tmp_path / "small"
        folder.mkdir()
        (folder / "recipe.yaml").write_text(text, "utf-8")
        (folder / "suite.jsonl").touch()
        (folder / "golden.jsonl").touch()
        return load("small", tmp_path)

    return read


def test_every_field_is_read(write, tmp_path):
    """Files lie beside the recipe, and shares are exact fractions."""
    recipe = write(GOOD)
    assert (recipe.name, recipe.description) == ("small", "A small model")
    assert recipe.suite == tmp_path / "small" / "suite.jsonl"
    assert recipe.golden == tmp_path / "small" / "golden.jsonl"
    assert recipe.max_tokens == 64
    assert recipe.thresholds == {Kind.EXACT: Fraction(199, 200), Kind.TOOL_CALLS: Fraction(9, 10)}
    assert recipe.engines == {"some-engine": "One thread."}


def test_only_description_and_suite_are_needed(write):
    """What is left out is None or empty."""
    recipe = write("description: d\nsuite: suite.jsonl\n")
    assert (recipe.golden, recipe.max_tokens) == (None, None)
    assert not recipe.thresholds
    assert not recipe.engines


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("description: d\nsuite: suite.jsonl\ngoldn: golden.jsonl\n", 3, "goldn"),
        ("description: d\nsuite: suite.jsonl\nsuite: suite.jsonl\n", 3, "suite"),
        ("description: d\nsuite: absent.jsonl\n", 2, "suite"),
        ("description: d\nsuite: [suite.jsonl]\n", 2, "suite"),
        ("description: ' '\nsuite: suite.jsonl\n", 1, "description"),
        ("description: d\nsuite: suite.jsonl\nmax-tokens: 0\n", 3, "max-tokens"),
        ("description: d\nsuite: suite.jsonl\nmax-tokens: many\n", 3, "max-tokens"),
        ("description: d\nsuite: suite.jsonl\npass:\n  exact: 101%\n", 4, "pass.exact"),
        ("description: d\nsuite: suite.jsonl\npass:\n  exact: 99\n", 4, "pass.exact"),
        ("description: d\nsuite: suite.jsonl\npass:\n  speed: 9%\n", 3, "pass"),
        ("description: d\nsuite: suite.jsonl\npass: 99%\n", 3, "pass"),
        ("description: d\nsuite: suite.jsonl\n? [a]\n: b\n", 3, "a key must"),
        ("suite: suite.jsonl\n", 1, "description"),
        ("description: d\n", 1, "suite"),
        ("- description\n", 1, "not a mapping"),
        ("", 1, "empty"),
    ],
)
def test_faults_name_line_and_key(write, text, line, key):
    """Whatever is wrong, the message starts with file, line and key."""
    with pytest.raises(UsageError) as caught:
        write(text)
    assert f"recipe.yaml:{line}: {key}" in str(caught.value)


def test_what_is_not_yaml_names_the_line(write):
    """A file that does not parse is an error with its line."""
    with pytest.raises(UsageError, match=r"recipe\.yaml:2: not YAML"):
        write("description: d\nsuite: ]\n")


@pytest.mark.parametrize("name", ["nowhere", "..", "", "smollm2/../smollm2"])
def test_unknown_recipe_lists_the_known(name):
    """A name that is not a recipe's is an error with the names that are."""
    with pytest.raises(UsageError, match=r"known are .*smollm2"):
        load(name)


@pytest.mark.parametrize("name", names())
def test_shipped_recipes_are_valid(name):
    """Each shipped recipe has a valid suite that holds every kind its thresholds count."""
    recipe = load(name)
    kinds = {case.check.kind for case in load_suite(recipe.suite)}
    assert set(recipe.thresholds) <= kinds
    if recipe.golden is not None:
        assert list(load_suite(recipe.golden))
