"""The generators: a seed gives the same cases everywhere, another seed others of the same kind."""

import json
import os
import subprocess
import sys
from collections import Counter
from statistics import mean

import pytest
import regex

from denv.errors import UsageError
from denv.recipes import load, load_folder
from denv.recipes.making import (
    PARTS,
    PUBLIC_SEED,
    authored,
    families,
    files,
    generate,
    golden,
    private_part,
)
from denv.recipes.making.code import output
from denv.recipes.making.drafts import line
from denv.recipes.making.patterns import alone, json_object, number
from denv.recipes.making.wrongs import changed, mojibake, stringified
from denv.runner.recipes import check_recipe

SEEDS = (b"first of the test's seeds", b"second of the test's seeds")


def asked(case):
    return json.dumps([case["messages"], case.get("tools")])


def family_of(case):
    return next(tag for tag in case["tags"] if tag.startswith("family:"))


def recipe_of(folder, made):
    """Write cases and the golden prompts as a recipe."""
    prompts = list(golden())
    (folder / "suite.jsonl").write_text("".join(line(case) for case, _ in made))
    (folder / "golden.jsonl").write_text("".join(line(case) for case, _ in prompts))
    (folder / "answers.jsonl").write_text("".join(line(told) for _, told in [*made, *prompts]))
    (folder / "recipe.yaml").write_text(
        "description: another seed\nsuite: suite.jsonl\ngolden: golden.jsonl\n"
        "answers: answers.jsonl\nmax-tokens: 4096\npass: {exact: 90%, tool-calls: 95%}\n"
    )
    return load_folder(folder)


def test_the_files_of_the_recipe_are_what_the_generators_make():
    """Whoever changes a generator writes the files anew: python -m denv.recipes.making."""
    folder = load("generic").suite.parent
    for name, text in files().items():
        assert (folder / name).read_bytes() == text.encode(), name


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_another_process_makes_the_same_files(hash_seed):
    """Neither the order of sets nor anything of the process goes into the cases."""
    script = (
        "import hashlib\nfrom denv.recipes.making import files, private_part\n"
        "text = ''.join(files().values()) + repr(list(private_part('generic', b'k')))\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", hash_seed)
    }
    assert len(digests) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_private_part_tells_right_from_wrong_as_the_public_one_does(seed, tmp_path):
    """Under any seed each case passes its right answer and fails its wrong one."""
    found = check_recipe(recipe_of(tmp_path, list(private_part("generic", seed))))
    assert found.problems == ()


def test_a_private_part_holds_the_same_families_in_the_same_sizes():
    """Public and private cases are exchangeable: as many of each family, as long, by one maker."""
    public = [case for case, _ in generate(PUBLIC_SEED)]
    private = [case for case, _ in private_part("generic", SEEDS[0])]
    sizes = Counter(map(family_of, public))
    assert sizes == Counter(map(family_of, private))
    assert sizes == {f"family:{family.name}": family.count for family in families()}
    for family in sizes:
        ours, theirs = (
            mean(len(asked(case)) for case in cases if family_of(case) == family)
            for cases in (public, private)
        )
        assert ours == pytest.approx(theirs, rel=0.15), family
    kinds = [Counter(next(iter(case["expect"])) for case in cases) for cases in (public, private)]
    # A program's output may be a number or a word, each with its own pattern, but one check.
    assert kinds[0] == kinds[1]


def test_no_private_case_is_a_public_one():
    """Other numbers, names and words: knowing one part by heart does not help with another."""
    public = {asked(case) for case, _ in generate(PUBLIC_SEED)}
    first, second = ({asked(case) for case, _ in private_part("generic", s)} for s in SEEDS)
    assert not public & (first | second)
    assert len(first & second) <= 0.02 * len(first)


def test_private_cases_are_told_apart_by_their_ids_and_tag():
    """Both parts fit into one suite."""
    public = [case["id"] for case, _ in (*authored(), *generate(PUBLIC_SEED), *golden())]
    private = list(private_part("generic", SEEDS[0]))
    assert len({*public, *(case["id"] for case, _ in private)}) == len(public) + len(private)
    assert all("private" in case["tags"] for case, _ in private)
    assert all(case["id"] == told["id"] for case, told in private)


def test_the_public_seed_and_other_recipes_give_no_private_part():
    """Both are refused in a sentence, before any case."""
    with pytest.raises(UsageError, match="take a secret one"):
        next(private_part("generic", PUBLIC_SEED))
    with pytest.raises(UsageError, match="'smollm2' has no generated cases to vary"):
        next(private_part("smollm2", b"k"))


def test_parts_can_be_asked_for_alone():
    """Only the families of the parts come, and they are the same as in the whole."""
    whole = list(generate(PUBLIC_SEED))
    single = [made for part in PARTS for made in generate(PUBLIC_SEED, parts=[part])]
    assert sorted(case["id"] for case, _ in single) == sorted(case["id"] for case, _ in whole)
    assert list(generate(PUBLIC_SEED, parts=["json"])) == [
        made for made in whole if "part:json" in made[0]["tags"]
    ]


def test_generated_cases_say_so_and_authored_ones_do_not():
    """The tag, and a family, mark what may differ from others in numbers alone."""
    assert all("generated" in case["tags"] for case, _ in generate(PUBLIC_SEED))
    assert not any("generated" in case["tags"] for case, _ in authored())
    assert not any(tag.startswith("family:") for case, _ in authored() for tag in case["tags"])


def test_programs_are_run_for_their_output():
    """What a program prints is what the interpreter says, with plain builtins alone."""
    assert output("print(sum(n for n in range(5) if n % 2))") == "4"
    with pytest.raises(NameError):
        output("print(open('/etc/hostname'))")


@pytest.mark.parametrize(
    ("value", "right", "wrong"),
    [
        (
            391,
            ["391", "It is 391.", "**391**", "391个", "= 391, as said"],
            ["1391", "3910", "-391"],
        ),
        (391, ["$391$", "391\n"], ["391.5", "3,391", "0.391", "39 1"]),
        (1200, ["1200", "1,200", "1.200", "1 200", "1'200"], ["12,00", "1,2000", "120", "21,200"]),
        (-5, ["-5", "−5", "It is -5 degrees."], ["5", "-55", "-5.5"]),
    ],
)
def test_a_number_is_found_alone_and_in_any_spelling(value, right, wrong):
    """Thousands may be grouped; a part of another number, or another sign, is not it."""
    pattern = number(value)
    assert all(regex.search(pattern, text) for text in right)
    assert not any(regex.search(pattern, text) for text in wrong)


def test_a_text_alone_takes_quotes_and_a_full_stop():
    """Emphasis around it does not matter; other words do."""
    pattern = alone("beta-3")
    assert all(regex.search(pattern, text) for text in ("beta-3", '"beta-3".', "`beta-3`\n"))
    assert not any(regex.search(pattern, text) for text in ("beta-33", "It is beta-3", "beta 3"))


def test_a_json_object_is_found_whatever_its_spacing_and_order():
    """Types count: a string is no number, and text around the object is refused."""
    pattern = json_object({"a": 12, "b": [1, 2], "c": True, "d": None, "e": "x y"})
    right = {"e": "x y", "d": None, "c": True, "b": [1, 2], "a": 12}
    for text in (json.dumps(right), json.dumps(right, indent=4), json.dumps({**right, "a": 12.0})):
        assert regex.search(pattern, text)
    for change in ({"a": 120}, {"a": "12"}, {"a": 12.5}, {"b": [1]}, {"c": "true"}, {"e": "x"}):
        assert not regex.search(pattern, json.dumps({**right, **change}))
    assert not regex.search(pattern, f"```\n{json.dumps(right)}\n```")
    assert not regex.search(pattern, json.dumps(right)[:-1])


@pytest.mark.parametrize(
    ("value", "other"),
    [(True, False), (3, 4), (2.5, 25.0), ("Lima", "Lim"), ([1, 2], [1]), ({"a": 1}, {"a": 2})],
)
def test_a_changed_value_is_another_one_of_its_type(value, other):
    """Each JSON type has its own way to go wrong."""
    assert changed(value) == other


def test_stringified_values_keep_their_shape():
    """Numbers and truth values become strings at any depth."""
    assert stringified({"a": [1, {"b": True}], "c": "x", "d": None}) == {
        "a": ["1", {"b": "true"}],
        "c": "x",
        "d": "null",
    }


def test_mojibake_is_utf_8_read_as_latin_1():
    """ASCII stays as it is."""
    assert mojibake("Größe") == "GrÃ¶Ã\x9fe"
    assert mojibake("plain") == "plain"
