"""What a list says of measurements: a verdict, or in its place what there is without one."""

from __future__ import annotations

import pytest

from denv.instruments.gates.admissible import MEASUREMENTS
from denv.report.speed import headline
from denv.serve.pages.results import Result, admitted, result_of
from denv.store import MeasureRow
from tests.instruments.speed.scripted import Machine
from tests.instruments.speed.test_report import document as speed_document
from tests.serve.pages.furnishing import DOCUMENTS, sentinel


def row(instrument, *, verdict=None, state="finished"):
    return MeasureRow("m", instrument, 1.0, 2.0, state, verdict, "", "", None, None)


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        ((), "all admitted"),
        (("logprobs-close", "tokens"), "text only"),
        (("equals",), "all but equals"),
        (("equals", "logprobs-close", "tokens"), "all but equals, logprobs-close, tokens"),
        (
            ("equals", "logprobs-close", "tokens", "answers", "derivations"),
            "only contains, regex, tool-call",
        ),
        (tuple(name for name in MEASUREMENTS if name != "speed"), "none admitted"),
    ],
)
def test_gates_say_what_they_admit(refused, said):
    """The shorter of what is and what is not; speed, which stands on nothing, is not named."""
    assert admitted({"admissible": {name: name not in refused for name in MEASUREMENTS}}) == said


def test_gates_have_the_word_of_their_page():
    """The badge is the worst state of the gates, as on the page; what they admit is beside it."""
    document = DOCUMENTS["gates"]()
    result = result_of(row("gates"), document)
    assert (result.word, result.tone) == ("fail", "fail")
    assert result.says == admitted(document)


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        ([], Result("calm", "pass")),
        (["it fails a"], Result("escalate", "inconclusive", "it fails a")),
        (["it fails a", "b", "c"], Result("escalate", "inconclusive", "it fails a, and 2 more")),
    ],
)
def test_sentinels_say_what_they_saw(why, expected):
    """A calm one is only that; one that asks for a full run says why."""
    assert result_of(row("sentinel"), {**sentinel(), "why": why}) == expected


def test_a_speed_run_has_a_figure_and_no_word():
    """There is no badge and so no colour; both sides stand in one figure, which names its depth."""
    both = speed_document({"stage": Machine(), "reference": Machine(evaluation_s=0.01)})
    result = result_of(row("speed"), both)
    assert result.word is None
    assert result.says == "stage 50.0, reference 100.0 tokens/s at depth 300"
    alone = result_of(row("speed"), speed_document())
    assert alone.says.startswith("stage ")
    assert "reference" not in alone.says


def test_a_run_without_rates_has_no_figure():
    """A depth without a rate is passed over; where none has one there is a dash, and no zero."""
    cell = {"side": "stage", "tokens_per_s": None}
    assert headline({"depths": [{"depth": 8, "cells": [cell]}]}) == "–"
    assert headline({"depths": []}) == "–"
    rated = {"side": "stage", "tokens_per_s": {"median": 12.0}}
    rows = [{"depth": 8, "cells": [cell]}, {"depth": 2048, "cells": [rated]}]
    assert headline({"depths": rows}) == "stage 12.0 tokens/s at depth 2,048"


def test_verdicts_stay_what_they_are():
    """A verdict is shown in its colour; a word of a later version in none."""
    assert result_of(row("tokens", verdict="different"), None) == Result("different", "fail")
    assert result_of(row("dreams", verdict="vivid"), None) == Result("vivid", "ungated")


@pytest.mark.parametrize("document", [None, {}, {"schema": "denv.parity.gates/2"}])
def test_what_is_not_known_is_not_guessed(document):
    """Without a document, or with one of a later form, the state is all that is said."""
    assert result_of(row("gates", state="stopped"), document) == Result(None, says="stopped")
