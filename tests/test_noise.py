"""The noise floor: a side against itself, judged on the check's outcome."""

import pytest

from denv.evidence.steadiness import condition
from denv.noise import Noise
from denv.outcome import Answer, decide
from denv.records import (
    Case,
    Cause,
    Contains,
    Kind,
    LogprobsClose,
    Observation,
    Problem,
    ProblemKind,
    TokenLogprob,
)

FIELDS = {"messages": [{"role": "user", "content": "?"}]}
LOST = Observation(problem=Problem(ProblemKind.TRANSPORT, Cause.AVAILABILITY, "gone"))


def texts(*given):
    return [Answer(Observation(text=text, finish_reason="stop"), 16) for text in given]


def tokens(*logprobs):
    """Give an answer of ten tokens whose first ones have these logprobs."""
    values = [*logprobs, *[-0.5] * (10 - len(logprobs))]
    entries = tuple(TokenLogprob("a ", value, b"a ") for value in values)
    return Answer(Observation(text="a " * 10, logprobs=entries, finish_reason="stop"), 16)


def result(check, stage, reference, name="c-1"):
    return decide(
        Case(id=name, index=0, line=1, fields=FIELDS, check=check),
        stage=stage,
        reference=reference,
        search=lambda pattern, text: False,
    )


def document(*results, deterministic=None):
    noise = Noise()
    for each in results:
        noise.add(each)
    return noise.document(deterministic=deterministic)


def test_answers_are_asked_cold_then_warm_and_alone():
    """The first comes from a cold cache, later ones warm among others and alone, in turn."""
    assert [condition(n) for n in range(5)] == ["first", "warm", "alone", "warm", "alone"]


def test_one_answer_says_nothing():
    """A case that was asked once has no noise floor."""
    once = result(Contains("12"), texts("12"), texts("12"))
    assert "steadiness" not in once.detail
    assert document(once) is None


def test_other_words_that_pass_all_the_same_agree():
    """Agreement is about the check, identity about the text."""
    steady = result(Contains("12"), texts("12", "it is 12"), texts("12", "12")).detail["steadiness"]
    assert steady["stage"]["agree"] is True
    assert steady["stage"]["identical"] == {"warm": False}
    assert steady["reference"] == {
        "answers": 2,
        "agree": True,
        "identical": {"warm": True},
        "logprob_delta": None,
    }


def test_lost_repeats_say_nothing():
    """An answer that never came neither agrees nor disagrees."""
    lost = [*texts("12"), Answer(LOST, 16)]
    steady = result(Contains("12"), texts("12", "12"), lost).detail["steadiness"]
    assert steady["reference"] is None
    assert steady["stage"]["answers"] == 2


def test_conditions_are_told_apart():
    """What changes only under load is not blamed on every repeat."""
    stage = texts("12", "twelve", "12", "dozen", "12")
    steady = result(Contains("1"), stage, texts("12")).detail["steadiness"]
    assert steady["stage"]["identical"] == {"warm": False, "alone": True}
    assert steady["stage"]["agree"] is False


def test_logprobs_are_held_to_the_tolerance_against_the_own_first():
    """A side's later logprobs are compared with its first ones, and the largest change is kept."""
    check = LogprobsClose(0.05)
    found = result(check, [tokens(), tokens(-0.53)], [tokens(), tokens(-0.6)]).detail["steadiness"]
    assert found["tolerance"] == 0.05
    assert found["stage"]["agree"] is True
    assert found["stage"]["logprob_delta"] == pytest.approx(0.03)
    assert found["reference"]["agree"] is False
    assert found["reference"]["logprob_delta"] == pytest.approx(0.1)


def test_counts_over_cases():
    """Agreement is counted for each kind; 1 of 2 agree has Wilson's interval 0.0945 to 0.9055."""
    results = [
        result(Contains("12"), texts("12", "12"), texts("12", "12"), "same"),
        result(Contains("12"), texts("12", "12"), texts("12", "no"), "other"),
        result(LogprobsClose(0.1), [tokens(), tokens(-0.53)], [tokens(), tokens()], "tokens"),
    ]
    shown = document(*results)
    reference = shown["reference"]["kinds"]["exact"]
    assert (reference["agree"], reference["cases"]) == (1, 2)
    assert reference["interval"] == pytest.approx([0.0945, 0.9055], abs=1e-4)
    # one-sided upper limit of 1 in 2: 1 - p = sqrt(0.05)... p² = 0.95
    assert reference["upper"] == pytest.approx(0.95**0.5)
    assert shown["reference"]["changed"] == ["other"]
    assert shown["reference"]["logprob_delta"] == {"median": 0.0, "p99": 0.0, "max": 0.0}
    assert shown["stage"]["logprob_delta"]["max"] == pytest.approx(0.03)
    assert shown["tolerances"] == [0.1, 0.1]
    assert shown["cases"] == 3


@pytest.mark.parametrize("declared", [True, False, None])
def test_a_declared_determinism_is_held_to(declared):
    """A changed answer of a stage that was declared deterministic is a finding of its own."""
    changed = document(result(Contains("1"), texts("1", "1!"), texts("1")), deterministic=declared)
    kept = document(result(Contains("1"), texts("1", "1"), texts("1")), deterministic=declared)
    assert changed["deterministic"]["held"] is False
    assert (
        "1 of 1 repeated answers of the stage changed (first: c-1)"
        in (changed["deterministic"]["finding"])
    )
    says = "the engine is declared deterministic" in changed["deterministic"]["finding"]
    assert says is (declared is True)
    assert kept["deterministic"] == {
        "declared": declared,
        "held": True,
        # with none of 1 changed, up to 95 % may: 1 - 0.05
        "finding": "the stage repeats itself to the last bit in 1 of 1 comparisons: at most "
        "95.00% of such answers change, with 95 % confidence",
    }


def test_the_reference_against_itself_is_what_thresholds_meet():
    """Only the reference's agreement, and only of kinds that were asked twice, is handed on."""
    noise = Noise()
    noise.add(result(Contains("12"), texts("12", "no"), texts("12", "12")))
    assert noise.agreement() == {Kind.EXACT: (1, 1)}
