"""Faults in how answers to questions are read and judged."""

from __future__ import annotations

import re

from denv.instruments.answers import extract
from denv.instruments.derivations import equality, final, oracle
from denv.instruments.derivations.scoring import Comparison
from tests.instruments.faults.seams import setting


def first_label(m):
    """Take the first line ANSWER and not the last."""
    last = extract._answer_place

    def first(plain):
        for end in (found.end() for found in re.finditer(r"[^\n]*\n?", plain)):
            place = last(plain[:end])
            if place is not None and place[1] > place[0]:
                return place
        return last(plain)

    m.setattr(extract, "_answer_place", first)


def any_number(m):
    """Take the last number of a text that has no line ANSWER."""

    def place(plain):
        found = list(re.finditer(r"[0-9]+", plain))
        return (found[-1].start(), len(plain)) if found else None

    right = extract._answer_place
    m.setattr(extract, "_answer_place", lambda plain: right(plain) or place(plain))


def first_mark(m):
    """Take the first FINAL and not the last."""

    class Once:
        def finditer(self, text):
            return list(MARK.finditer(text))[:1]

    m.setattr(final, "_MARK", Once())


MARK = final._MARK


def any_kind(name, function):
    """Judge one form otherwise."""
    return lambda m: m.setitem(oracle._AGREE, name, function)


def is_near(difference, point):
    """Take two equal digits for equality."""
    return abs(complex(difference.evalf(15, subs=dict(point)))) < 1e-2


def gives_up_as(result):
    """Say something else of what is beyond the limits."""

    def patch(m):
        right = oracle.compare

        def compare(answer, truth, form):
            found = right(answer, truth, form)
            return Comparison(result, found.reason) if found.result == "undecided" else found

        m.setattr("denv.instruments.trials_answers.compare", compare)

    return patch


ANSWER, FINAL, DERIVATION = ("answer",), ("final",), ("derivation",)

FAULTS = {
    "the first answer wins": (first_label, ANSWER, "answer-last answer-unsure-last"),
    "any number is an answer": (any_number, ANSWER, "answer-absent answer-absent-boxed"),
    "UNSURE is a word like others": (
        setting(extract, "_UNSURE", re.compile("(?!)")), ANSWER, "answer-unsure answer-unsure-last",
    ),
    "what follows a number is not looked at": (
        setting(extract, "_GOES_ON", re.compile("(?!)")), ANSWER, "answer-ratio answer-power",
    ),
    "digits are those of ASCII": (
        setting(extract, "_plain_character", lambda one: one), ANSWER,
        "answer-scripts answer-full-width answer-minus-sign",
    ),
    "the first FINAL wins": (first_mark, FINAL, "final-last final-last-wrong"),
    "the instruction is an answer": (
        setting(final, "_PLACEHOLDER", re.compile("(?!)")), FINAL,
        "final-echo final-placeholder",
    ),
    "nothing is taken off": (
        setting(final, "_trimmed", lambda answer: answer), FINAL, "final-stop final-boxed-outside",
    ),
    "a matrix ends with its line": (
        setting(final, "_OPENED", re.compile("(?!)")), FINAL, "final-matrix",
    ),
    "sets have an order": (
        any_kind("set", oracle._tuples), DERIVATION,
        "derivation-set-order derivation-set-twice",
    ),
    "ends of intervals are not looked at": (
        any_kind("interval", lambda *_: Comparison("equal", "both are intervals")), DERIVATION,
        "derivation-closed derivation-outside",
    ),
    "tuples have no order": (
        any_kind("tuple", oracle._sets), DERIVATION, "derivation-tuple-swapped",
    ),
    "decimals are met to a percent": (
        setting(equality, "TOLERANCE", 1e-2), DERIVATION, "derivation-decimal-coarse",
    ),
    "every short decimal may be rounded": (
        setting(equality, "_is_short", lambda _: False), DERIVATION, "derivation-decimal-integer",
    ),
    "what is near is equal": (
        setting(equality, "_is_zero", is_near), DERIVATION,
        "derivation-root-near derivation-pi-coarse",
    ),
    "what is not decided is wrong": (
        gives_up_as("different"), DERIVATION, "derivation-powers derivation-factorial-huge",
    ),
}  # fmt: skip
