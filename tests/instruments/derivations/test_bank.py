"""The bank: many templates, the same items everywhere, prompts that end as they should."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter

import pytest

from denv.instruments.derivations import FIELDS, items
from denv.instruments.derivations.bank import templates
from denv.instruments.derivations.forms import HINTS, INSTRUCTION, KINDS

BANK = items(3, 3)
PUBLISHED = "fc3af92536e4901c66c9fc89fe394a1d8806f860f226d5c9f95bb516bfef9e8e"
DIGEST = """
import hashlib
from denv.instruments.derivations import items
print(hashlib.sha256(repr(items(3, 2)).encode()).hexdigest())
"""


def test_there_are_enough_templates():
    """Each field has at least ten templates, together there are over sixty, each named once."""
    bank = templates()
    assert tuple(bank) == FIELDS
    assert min(len(field) for field in bank.values()) >= 10
    names = [template.__name__ for field in bank.values() for template in field]
    assert len(names) == len(set(names)) >= 60
    assert Counter(item.template for item in BANK) == dict.fromkeys(names, 3)


def test_every_form_is_asked_for():
    """No convention of the oracle is without items that use it."""
    assert {item.form.kind for item in BANK} == set(KINDS)


def test_prompts_end_with_the_instruction():
    """A prompt is a question, a hint on its form, and the same last lines."""
    for item in BANK:
        question, _, rest = item.prompt.partition("\n\n")
        assert rest == f"{HINTS[item.form.kind]}\n{INSTRUCTION}"
        assert question.endswith((".", "?"))
        assert question.isascii()
        assert item.truth.isascii()


def test_items_differ():
    """No two items are the same, and ids tell them apart."""
    assert len({item.prompt for item in BANK}) == len({item.id for item in BANK}) == len(BANK)


def test_more_items_change_none():
    """The first items of a template do not depend on how many are asked for, or of what else."""
    assert set(items(3, 1)) < set(items(3, 2)) < set(BANK)
    assert items(3, 3, fields=["algebra"]) == tuple(i for i in BANK if i.field == "algebra")
    assert set(items(4)).isdisjoint(BANK)


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_items_are_the_same_in_every_process(hash_seed):
    """Neither the hash seed nor the process has a say in the items."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == hashlib.sha256(repr(items(3, 2)).encode()).hexdigest()


def test_questions_stay_as_published():
    """A changed question would make results of a seed incomparable: this is to be seen."""
    questions = "\n".join(item.prompt for item in items(1))
    assert hashlib.sha256(questions.encode()).hexdigest() == PUBLISHED


def test_importing_costs_no_sympy():
    """SymPy is loaded by those who make items or compare answers alone."""
    script = "import sys, denv.instruments.derivations; print('sympy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"per_template": 0}, "per_template: 0 is below 1"),
        ({"fields": ["alchemy"]}, "fields: there is no 'alchemy'"),
        ({"per_template": 70, "fields": ["number theory"]}, "pell_equation has only .. different"),
    ],
)
def test_what_cannot_be_made(given, named):
    """What is asked wrongly is an error that names it."""
    with pytest.raises(ValueError, match=named):
        items(1, **given)
