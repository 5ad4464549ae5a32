"""The trials of what reads answers to questions: they need SymPy, which takes a second to import.

``answer`` reads an integer, ``final`` cuts out a declared answer, ``derivation`` judges one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from denv.instruments.answers.extract import Given, Unsure, extract_answer
from denv.instruments.derivations import Item, extract_final, score
from denv.instruments.derivations.forms import form_of
from denv.instruments.derivations.oracle import compare
from denv.records import Json

Found = Mapping[str, Json]


def _answer(given: Mapping[str, Json]) -> Found:
    text = given["text"]
    match extract_answer(text):
        case Given(value, start, end):
            return {"found": "given", "value": value, "said": text[start:end]}
        case Unsure():
            return {"found": "unsure", "value": None, "said": None}
    return {"found": "absent", "value": None, "said": None}


def _final(given: Mapping[str, Json]) -> Found:
    return {"final": extract_final(given["text"])}


def _derivation(given: Mapping[str, Json]) -> Found:
    form = dict(given["form"])
    if "tolerance" in form:
        form["tolerance"] = float(form["tolerance"])
    item = Item("known", "any", "any", "", given["truth"], form_of(form))
    (scored,) = score([item], {item.id: extract_final(given["text"])}, oracle=compare)
    return {"outcome": scored.outcome, "final": scored.final}


ANSWER_TRIALS: Mapping[str, Callable[[Mapping[str, Json]], Found]] = {
    "answer": _answer,
    "final": _final,
    "derivation": _derivation,
}
