"""Answers and derivations as tables on a terminal and as web pages."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pytest
from rich.console import Console

from denv.instruments.answers import Answers, items
from denv.instruments.derivations import Comparison
from denv.instruments.derivations.instrument import Derivations
from denv.report import answers, derivations
from denv.report.paired import between_points, number, points, share, whole
from tests.instruments.paired.documents import measure
from tests.stubs.models import answered, cut, declared, unsure

BAD = "<script>alert(1)</script>\x1b[2J\u202e"

REPORTS = {"answers": answers, "derivations": derivations}


@lru_cache
def measured(name: str) -> Mapping[str, Any]:
    """Measure a stage that differs, with items that are neither right nor wrong."""
    if name == "answers":
        instrument: Any = Answers(items=40)
        prompts = [(item.prompt(c), item.truth) for c in instrument.conditions for item in items()]
        reference = {prompt: answered(truth) for prompt, truth in prompts}
        wrong = {prompt: answered(truth + 1, logprob=-2) for prompt, truth in prompts[::4]}
        odd = {prompts[1][0]: cut(), prompts[2][0]: unsure()}
    else:
        instrument = Derivations(judge, per_template=1, fields=("algebra",))
        texts = [item.prompt for item in instrument.items()]
        reference = {prompt: declared("equal") for prompt in texts}
        wrong = {prompt: declared("different") for prompt in texts[::4]}
        odd = {texts[1]: cut(), texts[2]: declared("undecided")}
    return measure(instrument, {**reference, **wrong, **odd}, {**reference, **wrong})


def judge(answer: str, truth: str, form: object) -> Comparison:
    """Find what the answer says that is to be found."""
    return Comparison(answer, "so it is")  # type: ignore[arg-type]


def terminal(name: str, document: Mapping[str, Any]) -> str:
    stream = io.StringIO()
    Console(file=stream, width=160).print(REPORTS[name].render(document))
    return stream.getvalue()


@pytest.mark.parametrize("name", REPORTS)
def test_lengths_stand_ahead_of_the_verdict(name):
    """On the terminal and on the page the traces' lengths come before any count of right ones."""
    document = measured(name)
    shown = terminal(name, document)
    assert shown.index("characters, median") < shown.index(document["verdict"].upper())
    assert shown.index("characters, median") < shown.index("Both sides on the same items")
    page = REPORTS[name].page(document)
    assert page.index("characters, median") < page.index("Both sides on the same items")


@pytest.mark.parametrize("name", REPORTS)
def test_all_that_counts_is_shown(name):
    """States that occur, open pairs, the drop and both tests stand on terminal and page."""
    document = measured(name)
    page = REPORTS[name].page(document)
    for shown in (terminal(name, document), page):
        for word in ("cut off, open", "open (", "drop of right answers", "McNemar", "equivalence"):
            assert word in shown


def test_calibration_has_a_picture_with_a_text():
    """The picture says in words what is on it."""
    page = answers.page(measured("answers"))
    assert 'id="picture-calibration-forced"' in page
    assert "reference, confidence 0.905: right 30 of 30" in page
    none = measured("answers")["conditions"]["forced"]
    for side in none["sides"].values():
        assert sum(one["right"]["of"] for one in side["calibration"]) == side["with_confidence"]


@pytest.mark.parametrize("name", REPORTS)
def test_hostile_texts_do_nothing(name):
    """Texts of servers and files are escaped on the page and shown as codes on the terminal."""
    document = {**measured(name), "warnings": [BAD], "reasons": [BAD]}
    page = REPORTS[name].page(document)
    for shown in (page, terminal(name, document)):
        assert "\x1b[2J" not in shown
        assert "\u202e" not in shown
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("name", "instrument"),
    [("answers", Answers(gates={})), ("derivations", Derivations(judge, gates={}))],
)
def test_what_was_not_measured(name, instrument):
    """A refused measurement has a verdict, a reason and nothing else to show."""
    document = measure(instrument, {}, {})
    assert f"do not admit {name}" in terminal(name, document)
    page = REPORTS[name].page(document)
    assert "Nothing was asked" in page
    assert "Both sides on the same items" not in page


def test_figures_are_written():
    """Nothing counted is a dash, a difference bears its sign, a share its counts."""
    assert (number(None), whole(None), points(None), between_points(None)) == ("–",) * 4
    assert (number(0.01234), whole(1234.5), points(-0.0312)) == ("0.0123", "1,234", "-3.1 points")
    assert between_points((-0.01, 0.2)) == "-1.0 … +20.0 points"
    nothing = {"count": 0, "of": 0, "value": None, "interval": None}
    assert share(nothing) == "–"
    some = {"count": 1, "of": 4, "value": 0.25, "interval": [0.05, 0.7]}
    assert share(some) == "25 %, 1 of 4 (5 – 70 %)"
