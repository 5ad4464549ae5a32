"""All measurements as one: their order, their verdict, and where they stop."""

from dataclasses import dataclass

import pytest

from denv.instruments.measure_all import LOOKS, All
from denv.instruments.probes import Cost, Finding, Probe, SideFacts, play
from denv.records import Exchange, Side

FACTS = {side: SideFacts("m") for side in Side}


@dataclass(frozen=True)
class Says:
    """An instrument that asks once and says what it is told to."""

    name: str
    word: str
    body: dict
    alpha: float = 0.05
    schema: str = "denv.parity.test/1"

    def settings(self):
        return {"alpha": self.alpha}

    def cost(self):
        return {Side.STAGE: Cost(1, 2, 3), Side.REFERENCE: Cost(10, 20, 30)}

    def strand(self, facts):
        yield Probe(Side.STAGE, f"/{self.name}")
        return Finding(self.word, self.body)


def gates(**admissible):
    admitted = {**dict.fromkeys(LOOKS, True), **admissible}
    failing = {"id": "G3", "name": "template", "state": "fail", "finding": "they part"}
    rows = [failing] if not all(admitted.values()) else []
    return Says("gates", "fail" if rows else "pass", {"gates": rows, "admissible": admitted})


def measured(*words, gate=None, force=False):
    """Play all looks; give the finding, the paths in the order of asking, and the alphas."""
    asked, alphas = [], []

    def look(name, word):
        def make(document, alpha):
            alphas.append((name, alpha, bool(document)))
            return Says(name, word, {"verdict": word, "reasons": [f"{name} so"]}, alpha)

        return make

    looks = {name: look(name, word) for name, word in zip(LOOKS, words, strict=True)}
    instrument = All(gate or gates(), looks, force=force)

    def answer(probe):
        asked.append(probe.path)
        return Exchange(200)

    return play(instrument.strand(FACTS), answer), asked, instrument, alphas


def test_order_is_from_the_cheapest_and_strongest_on():
    """Gates come first, then tokens, answers, derivations; the looks are handed the gates."""
    finding, asked, _, alphas = measured("faithful", "faithful", "faithful")
    assert asked == ["/gates", "/tokens", "/answers", "/derivations"]
    assert all(gated for _, _, gated in alphas)
    assert finding.body["tokens"]["verdict"] == "faithful"


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (("faithful", "faithful", "faithful"), "faithful"),
        (("faithful", "undecided", "faithful"), "undecided"),
        (("faithful", "faithful", "different"), "different"),
        (("different", "undecided", "faithful"), "different"),
        (("undecided", "undecided", "undecided"), "undecided"),
    ],
)
def test_verdict_is_the_worst_and_faithful_needs_all(words, verdict):
    """One look that says different decides; faithful needs all three."""
    finding, _, _, _ = measured(*words)
    assert (finding.exit_verdict, finding.body["verdict"]) == (verdict, verdict)
    assert finding.body["reasons"][0] == f"tokens: {words[0]} (tokens so)"


def test_looks_share_the_level():
    """Three looks decide at a third of the level each, and the document says so."""
    finding, _, instrument, alphas = measured("faithful", "faithful", "faithful")
    assert {alpha for _, alpha, _ in alphas} == {0.05 / 3}
    assert finding.body["looks"] == {
        "number": 3,
        "alpha": 0.05,
        "alpha_each": 0.05 / 3,
        "method": "bonferroni",
    }
    assert instrument.settings()["tokens"] == {"alpha": 0.05 / 3}


def test_costs_are_those_of_all():
    """What is said before is the sum over gates and looks."""
    _, _, instrument, _ = measured("faithful", "faithful", "faithful")
    assert instrument.cost()[Side.REFERENCE] == Cost(40, 80, 120)


def test_it_stops_where_the_gates_admit_nothing():
    """Nothing is asked past gates that make all of it meaningless, and the gate is named."""
    shut = gates(tokens=False, answers=False, derivations=False)
    finding, asked, _, _ = measured("faithful", "faithful", "faithful", gate=shut)
    assert asked == ["/gates"]
    assert finding.exit_verdict == "undecided"
    assert finding.body["stopped"] == "G3 template: they part"
    assert [finding.body[name] for name in LOOKS] == [None, None, None]


def test_force_goes_on_all_the_same():
    """Where it is forced, everything is measured."""
    shut = gates(tokens=False, answers=False, derivations=False)
    _, asked, _, _ = measured("faithful", "faithful", "faithful", gate=shut, force=True)
    assert len(asked) == 4


def test_one_look_that_is_not_admitted_stops_no_other():
    """The instruments refuse by themselves; the others are measured."""
    _, asked, _, _ = measured("undecided", "faithful", "faithful", gate=gates(tokens=False))
    assert len(asked) == 4
