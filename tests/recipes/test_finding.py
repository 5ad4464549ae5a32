"""Recipes of other packages are found by their entry points, and stay apart when broken."""

import sys

import pytest

from denv.errors import UsageError
from denv.recipes import load, load_all
from tests.recipes.folders import write_recipe


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Lay a package with entry points where installed ones are found."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def lay(package, points, *, code=""):
        folder = site / package
        folder.mkdir()
        (folder / "__init__.py").write_text(code, "utf-8")
        info = site / f"{package}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[denv.recipes]\n{lines}")
        return folder

    yield lay
    for name in [name for name in sys.modules if name.startswith("acme")]:
        del sys.modules[name]


def test_a_packages_recipe_is_found_by_its_name(install):
    """An entry point whose value is a package names the package's own folder."""
    write_recipe(install("acme_one", {"acme": "acme_one"}))
    recipe = load("acme")
    assert (recipe.name, recipe.origin, recipe.version) == ("acme", "acme_one 1.2", "1.2")
    assert "acme" in [each.name for each in load_all()[0]]


def test_an_attribute_may_name_the_folder(install, tmp_path):
    """An entry point with an attribute gives the path that stands there."""
    folder = write_recipe(tmp_path / "elsewhere")
    install("acme_two", {"acme": "acme_two:FOLDER"}, code=f"FOLDER = {str(folder)!r}\n")
    assert load("acme").suite == folder / "suite.jsonl"


def test_a_package_is_not_imported_for_its_folder(install):
    """Finding a recipe that lies in a package runs none of the package's code."""
    write_recipe(install("acme_three", {"acme": "acme_three"}, code="raise SystemExit(3)\n"))
    assert load("acme").name == "acme"


@pytest.mark.parametrize(
    ("value", "code", "why"),
    [
        ("acme_four.missing", "", "no package 'acme_four.missing'"),
        ("acme_four:FOLDER", "FOLDER = 3\n", "is no path of a folder"),
        ("acme_four:FOLDER", "raise RuntimeError('boom\\nbang')\n", "RuntimeError: boom"),
        ("acme_four", "", "there is no recipe.yaml"),
    ],
)
def test_a_broken_one_is_named_and_hides_no_other(install, value, code, why):
    """What is wrong with a foreign recipe is told by its name; the shipped ones are all there."""
    install("acme_four", {"acme": value}, code=code)
    recipes, broken = load_all()
    assert "smollm2" in [recipe.name for recipe in recipes]
    (told,) = broken
    assert told.name == "acme"
    assert why in told.problem
    assert "\n" not in told.problem
    with pytest.raises(UsageError, match="acme"):
        load("acme")


def test_a_name_that_is_taken_is_an_error(install):
    """Two recipes of one name are both refused by it, and told with where they come from."""
    write_recipe(install("acme_five", {"smollm2": "acme_five"}))
    with pytest.raises(UsageError, match=r"smollm2: the name is taken twice, by acme_five 1\.2"):
        load("smollm2")
    recipes, broken = load_all()
    assert "smollm2" not in [recipe.name for recipe in recipes]
    assert [each.name for each in broken] == ["smollm2"]


def test_a_path_is_taken_from_where_it_is_written(tmp_path, monkeypatch):
    """A relative path begins at the working folder, or at the file's that names it."""
    write_recipe(tmp_path / "own")
    monkeypatch.chdir(tmp_path)
    assert load("./own").name == "own"
    assert load("./own/recipe.yaml").name == "own"
    monkeypatch.chdir("/")
    assert load("./own", beside=tmp_path).name == "own"


def test_a_folder_without_a_name_is_refused(tmp_path):
    """A folder whose name could be no recipe's says so."""
    with pytest.raises(UsageError, match="is no name of a recipe"):
        load(str(write_recipe(tmp_path / "with space")))
