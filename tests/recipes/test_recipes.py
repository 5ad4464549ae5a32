"""A recipe is read strictly; what it names is there."""

from fractions import Fraction

import pytest

from denv.errors import UsageError
from denv.recipes import Adapter, load, load_folder, names
from denv.records import Kind
from denv.runner.recipes import check_recipe

GOOD = """\
description: A small model
suite: suite.jsonl
golden: golden.jsonl
max-tokens: 64
pass: {exact: 99.5%, tool-calls: "0.9"}
engines: {some-engine: One thread.}
models: [Small-*, small]
confidence: 95%
sampling: {temperature: 1, top-p: 0.95, top-k: 20}
adapter: {name: deepseek, thinking: true, levels: [low, high]}
limits: [It is small.]
answers: answers.jsonl
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
        (folder / "answers.jsonl").touch()
        return load_folder(folder)

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
    assert recipe.answers == tmp_path / "small" / "answers.jsonl"
    assert recipe.models == ("Small-*", "small")
    assert recipe.confidence == Fraction(19, 20)
    assert recipe.sampling == {"temperature": 1, "top_p": 0.95, "top_k": 20}
    assert recipe.adapter == Adapter("deepseek", {"thinking": True, "levels": ["low", "high"]})
    assert recipe.limits == ("It is small.",)


def test_only_description_and_suite_are_needed(write):
    """What is left out is None or empty."""
    recipe = write("description: d\nsuite: suite.jsonl\n")
    assert (recipe.golden, recipe.max_tokens) == (None, None)
    assert not recipe.thresholds
    assert not recipe.engines
    assert (recipe.answers, recipe.confidence, recipe.adapter) == (None, None, None)
    assert (recipe.models, recipe.limits) == ((), ())


def test_the_digest_is_of_all_that_decides_a_run(write, tmp_path):
    """A recipe's label changes with its file, its suite and its golden prompts alone."""
    before = write(GOOD)
    folder = tmp_path / "small"
    (folder / "notes.txt").write_text("anything")
    assert load_folder(folder).label == before.label
    for name in ("suite.jsonl", "golden.jsonl", "recipe.yaml"):
        label = load_folder(folder).label
        (folder / name).write_text((folder / name).read_text() + "\n")
        assert load_folder(folder).label != label
    assert before.label.startswith("small sha256:")


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
        ("description: d\nsuite: suite.jsonl\nconfidence: 100%\n", 3, "confidence"),
        ("description: d\nsuite: suite.jsonl\nsampling: {top-p: 2}\n", 3, "sampling.top-p"),
        ("description: d\nsuite: suite.jsonl\nsampling: {heat: 1}\n", 3, "sampling.heat"),
        ("description: d\nsuite: suite.jsonl\nadapter: {mode: x}\n", 3, "adapter.name"),
        ("description: d\nsuite: suite.jsonl\nlimits: x\n", 3, "limits"),
        ("description: d\nsuite: suite.jsonl\nmodels: ['']\n", 3, "models[0]"),
        ("description: d\nsuite: suite.jsonl\nanswers: none.jsonl\n", 3, "answers"),
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


@pytest.mark.parametrize("name", ["nowhere", "", "smollm"])
def test_unknown_recipe_lists_the_known(name):
    """A name that is not a recipe's is an error with the names that are."""
    with pytest.raises(UsageError, match=r"known are .*smollm2"):
        load(name)


@pytest.mark.parametrize("path", ["..", "./nowhere", "smollm2/../smollm2"])
def test_a_path_without_a_recipe_says_so(path, tmp_path, monkeypatch):
    """What holds a slash or begins with a dot is a path, never a name."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"no recipe: there is no recipe\.yaml"):
        load(path)


@pytest.mark.parametrize("name", names())
def test_shipped_recipes_are_complete(name):
    """Every shipped recipe passes its own check: each case tells a right from a wrong answer."""
    found = check_recipe(load(name))
    assert found.problems == ()
    assert len(found.rehearsed) >= found.cases
