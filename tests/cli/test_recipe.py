"""Recipes on the command line: listed, shown, checked, and run by name or path."""

import json
from fractions import Fraction

import pytest

from denv.recipes import load, load_folder, names
from denv.release import load_release
from denv.rollout.plan import freeze, recipe_of
from tests.recipes.folders import YAML, answers_of, colours, write_recipe
from tests.recipes.scripted import scripted_handler

SURE = YAML.replace("exact: 90%", "exact: 75%") + "confidence: 95%\nmax-tokens: 77\n"


@pytest.fixture
def folder(tmp_path):
    """Write a complete recipe whose threshold its twelve cases prove."""
    return write_recipe(tmp_path / "small", yaml=SURE)


@pytest.fixture
async def sides(serve, folder):
    """Start a stage and a reference that know the recipe's right answers."""
    recipe = load_folder(folder)
    stage, reference = [await serve(scripted_handler(recipe)) for _ in range(2)]
    return "--stage", stage.url, "--reference", reference.url


# ---------------------------------------------------------------- list, show, check


async def test_list_names_all_shipped_ones(denv):
    """Each recipe stands with its cases and golden prompts, as text and as JSON."""
    text, document = await denv("recipe", "list"), await denv("recipe", "list", "--json")
    assert (text.code, text.err) == (0, "")
    rows = json.loads(document.out)["recipes"]
    assert {row["name"] for row in rows} >= set(names())
    (lab,) = (row for row in rows if row["name"] == "smollm2")
    assert (lab["cases"], lab["golden"], lab["extra"], lab["origin"]) == (31, 10, None, "shipped")
    assert "smollm2: 31 cases, 10 golden prompts\n  SmolLM2 instruct models" in text.out


async def test_list_tells_a_broken_one_by_its_name(denv, tmp_path, monkeypatch):
    """What is wrong with another package's recipe is on standard error; the others are listed."""
    info = tmp_path / "acme-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.2\n")
    points = "[denv.recipes]\nown = acme_own\nbad = acme_bad\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_recipe(tmp_path / "acme_own", cases=[{"id": "a"}], answers=[])
    write_recipe(tmp_path / "acme_bad", yaml="suite: suite.jsonl\nsweet: 1\n")
    for name in ("acme_own", "acme_bad"):
        (tmp_path / name / "__init__.py").touch()
    ended = await denv("recipe", "list")
    assert ended.code == 0
    assert "smollm2: 31 cases" in ended.out
    assert [line.partition(": ")[0] for line in ended.lines] == [
        *["recipe bad (acme 1.2)"] * 2,
        *["recipe own (acme 1.2)"] * 2,
    ]
    assert "recipe.yaml:2: sweet: unknown key" in ended.err


async def test_show_tells_what_can_be_proven(denv, folder):
    """The view holds thresholds with their power, as ``parity plan`` has it."""
    shown = json.loads((await denv("recipe", "show", folder, "--json")).out)
    planned = json.loads((await denv("parity", "plan", "--recipe", folder, "--json")).out)
    assert shown["power"] == planned["power"]
    assert (shown["pass"], shown["confidence"]) == ({"exact": "75 %"}, "95 %")
    assert shown["suite"]["sha256"] == planned["suite"]["sha256"]
    text = (await denv("recipe", "show", folder)).out
    assert "exact: 12 cases, must pass: 75 % at 95 % confidence\n    passes needed: 12" in text


async def test_show_tells_adapter_sampling_and_limits(denv, tmp_path):
    """What a recipe says of its family is shown in its own words."""
    yaml = YAML + (
        "models: [Small-*]\nsampling: {temperature: 0.6, top-p: 0.95}\n"
        "adapter: {name: deepseek, thinking: true}\nlimits: [It is small.]\n"
        "engines: {vllm: One parser.}\n"
    )
    text = (await denv("recipe", "show", write_recipe(tmp_path / "r", yaml=yaml))).out
    for part in (
        "for models: Small-*",
        "sampling for customers: temperature 0.6, top_p 0.95",
        "adapter: name deepseek, thinking True",
        "engine vllm: One parser.",
        "known limit: It is small.",
    ):
        assert part in text


async def test_check_ends_by_what_it_found(denv, tmp_path, folder):
    """0 where nothing is wrong, 1 with each problem, 2 where a file cannot be read."""
    good = await denv("recipe", "check", folder)
    assert (good.code, good.out) == (
        0,
        "small: 12 cases, 10 golden prompts, 12 answered rightly and wrongly: nothing is wrong\n",
    )
    answers = answers_of(colours())
    answers[3]["wrong"] = answers[3]["right"]
    bad = await denv("recipe", "check", write_recipe(tmp_path / "bad", answers=answers))
    assert bad.code == 1
    assert bad.out.startswith("pink: the wrong answer does not fail: pass\n")
    (folder / "answers.jsonl").write_text("nope\n")
    broken = await denv("recipe", "check", folder)
    assert broken.code == 2
    assert "answers.jsonl:1: line: not JSON" in broken.err


async def test_check_tells_each_cases_failure_as_json(denv, folder):
    """Each case stands with the outcomes of both its answers and the cause of its failure."""
    found = json.loads((await denv("recipe", "check", folder, "--json")).out)
    assert found["passed"]
    assert found["answers"][0] == {
        "id": "red",
        "right": "pass",
        "wrong": "fail",
        "cause": "unknown",
    }


@pytest.mark.parametrize("command", ["show", "check"])
async def test_unknown_names_are_told_with_the_known(denv, command):
    """A name that is no recipe's is a usage error with the names that are."""
    ended = await denv("recipe", command, "nope")
    assert ended.code == 2
    assert "unknown recipe 'nope'; known are " in ended.err


# ---------------------------------------------------------------- runs


async def test_a_run_takes_all_from_a_recipe(denv, sides, folder):
    """Suite, thresholds, confidence and limit are the recipe's; the report names its digest."""
    ended = await denv("parity", "run", "--recipe", folder, *sides, "--json", "-")
    document = json.loads(ended.out)
    assert (ended.code, document["verdict"]) == (0, "pass")
    assert document["recipe"] == load_folder(folder).label
    assert document["kinds"]["exact"]["threshold"] == 0.75
    assert document["settings"]["confidence"] == "95 %"
    assert document["settings"]["max_tokens"] == 77


async def test_flags_win_over_the_recipe(denv, sides, folder):
    """A flag's rates come without the recipe's confidence, which was that of its own rates."""
    options = ("--pass", "exact=100%", "--max-tokens", "5", "--json", "-")
    ended = await denv("parity", "run", "--recipe", folder, *sides, *options)
    document = json.loads(ended.out)
    assert ended.code == 0, ended.err
    assert document["kinds"]["exact"]["threshold"] == 1.0
    assert document["settings"]["confidence"] is None
    assert document["settings"]["max_tokens"] == 5


def release(tmp_path, sides, more=""):
    path = tmp_path / "release.yaml"
    path.write_text(
        f"release: r1\nstage: {{url: {sides[1]}}}\nrecipe: ./small\n"
        f"parity:\n  reference: {{url: {sides[3]}}}\n{more}"
    )
    return path


async def test_a_release_names_a_recipe_by_its_path(denv, sides, tmp_path, folder, monkeypatch):
    """The path begins at the release's folder, for runs and for rollouts."""
    monkeypatch.chdir("/")
    path = release(tmp_path, sides)
    ended = await denv("parity", "run", "--release", path, "--json", "-")
    document = json.loads(ended.out)
    assert (ended.code, document["recipe"]) == (0, load_folder(folder).label)
    written = load_release(path)
    plan = freeze(written, recipe_of(written), data_folder=tmp_path / "data")
    assert (plan.thresholds.confidence, plan.max_tokens) == (Fraction(19, 20), 77)
    assert plan.recipe == document["recipe"]


async def test_a_release_wins_over_its_recipe(denv, sides, tmp_path, folder):
    """Its own rates hold, without the recipe's confidence; a recipe by flag wins over its suite."""
    path = release(tmp_path, sides, "  pass: {exact: 50%}\n")
    found = json.loads((await denv("parity", "check", "--release", path, "--json")).out)
    assert found["pass"] == {"exact": "50 %"}
    assert found["power"]["exact"]["confidence"] is None
    own = release(tmp_path, sides, "  suite: none.jsonl\n")
    found = await denv("parity", "check", "--release", own, "--recipe", folder, "--json")
    assert json.loads(found.out)["suite"]["cases"] == 12


async def test_a_run_of_a_recipe_by_path_is_resumed_from_elsewhere(
    denv, sides, folder, monkeypatch
):
    """What a resumed run remembers is the whole path."""
    monkeypatch.chdir(folder.parent)
    ended = await denv("parity", "run", "--recipe", "./small", *sides, "--json", "-")
    monkeypatch.chdir("/")
    run = json.loads(ended.out)["run"]
    again = await denv("parity", "run", "--resume", run, "--json", "-")
    assert (again.code, json.loads(again.out)["verdict"]) == (0, "pass")


async def test_the_shipped_recipe_is_checked_by_name(denv):
    """``parity check`` takes a shipped recipe, whose label a run would bear."""
    ended = await denv("parity", "check", "--recipe", "smollm2", "--json")
    assert json.loads(ended.out)["suite"]["cases"] == 31
    assert load("smollm2").label.startswith("smollm2 sha256:")
