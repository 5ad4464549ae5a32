"""Logprobs of two answers: values, their scale, and what holds of all."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.records import Observation, Score, TokenLogprob, TopLogprob
from tests.checks.answers import said, says, token, words, written
from tests.checks.closeness import EIGHT, REFERENCE, close, moved

# ---------------------------------------------------------------- values


def test_equal_values_pass_with_their_figures() -> None:
    """Every aligned token within tolerance passes; the figures are kept."""
    passed = close(written(*moved(0.1, -0.05)), REFERENCE)
    assert (passed.passed, passed.reason, passed.cause, passed.warnings) == (True, "", None, ())
    figures = dict(passed.detail)
    assert figures.pop("max") == pytest.approx(0.1)
    assert figures.pop("median") == pytest.approx(0.0)
    assert figures.pop("p99") == pytest.approx(0.1)
    worst = figures.pop("worst")
    assert worst == {"index": 0, "token": " w0", "stage": pytest.approx(0.0), "reference": -0.1}
    assert figures == {
        "aligned": 8,
        "aligned_by": "bytes",
        "whole": True,
        "skipped": 0,
        "without_value": 0,
        "set_aside": {"stage": 0, "reference": 0},
        "end_tokens": {"stage": 0, "reference": 0},
        "parted": None,
        "share_over": 0.0,
    }


def test_one_token_over_tolerance_fails() -> None:
    """A single token decides, and is named."""
    failed = close(written(*moved(0.0, -0.4, 0.2)), REFERENCE)
    assert says(failed) == (False, "unknown")
    assert failed.reason == (
        '2 of 8 tokens differ by more than 0.15 nats, at most by 0.4 at token 1 " w1"'
    )
    assert failed.detail["share_over"] == 0.25
    assert failed.detail["worst"]["index"] == 1
    assert failed.warnings == ()


@pytest.mark.parametrize(
    ("stage", "reference", "tolerance", "passes"),
    [
        (-0.31, -0.26, 0.05, True),
        (-0.26, -0.31, 0.05, True),
        (-0.3, -0.1, 0.2, True),
        (-0.2501, -0.2, 0.05, False),
        (-0.2, -0.2501, 0.05, False),
        (-0.2, -0.2, 0.0, True),
        (-0.2, -0.200001, 0.0, False),
    ],
)
def test_the_tolerance_is_inclusive(
    stage: float, reference: float, tolerance: float, passes: bool
) -> None:
    """A difference equal to the tolerance passes, rounding of floats forgiven."""
    assert close(written(token("x", stage)), written(token("x", reference)), tolerance).passed is (
        passes
    )


def test_a_few_jumps_among_close_tokens_are_said() -> None:
    """Jumps of nats among close tokens show in the reason, and the cause stays unknown."""
    failed = close(
        written(*words(-0.11, -6.3, -9.7, -8.1)), written(*words(-0.1, -0.2, -0.3, -0.4))
    )
    assert says(failed) == (False, "unknown")
    assert failed.reason == (
        '3 of 4 tokens differ by more than 0.15 nats, at most by 9.4 at token 2 " w2"'
        "; these jump while the others are close, as a fault of the engine shows"
    )
    assert failed.detail["median"] == pytest.approx(6.9)
    assert failed.detail["p99"] == pytest.approx(9.4)
    assert failed.detail["share_over"] == 0.75


@pytest.mark.parametrize("by", [(-0.2, -3.0), (-0.9,), (-2.0,) * 8])
def test_shifts_that_are_no_lone_jumps_are_not_called_such(by: tuple[float, ...]) -> None:
    """A shift in between, a small one, or one of all tokens is no local fault."""
    assert "jump" not in close(written(*moved(*by)), REFERENCE).reason


def test_a_jump_is_held_against_the_tolerance_too() -> None:
    """With a wide tolerance a jump is ten times that."""
    assert "jump" not in close(written(*moved(-2.0)), REFERENCE, 0.5).reason
    assert "jump" in close(written(*moved(-5.5)), REFERENCE, 0.5).reason
    assert "jump" in close(written(*moved(-1.5)), REFERENCE, 0.15).reason
    assert "jump" in close(written(*moved(-1.0)), REFERENCE, 0.1).reason


def test_rounding_is_no_lone_jump_and_hides_none() -> None:
    """A difference that is forgiven as rounding, or none at all, is close, at tolerance 0 too."""
    reference = written(*words(0.0, *EIGHT))
    stage = written(*words(-1e-9, *EIGHT[:-1], EIGHT[-1] - 2))
    assert close(stage, reference, 0.0).reason == (
        '1 of 9 tokens differ by more than 0 nats, at most by 2 at token 8 " w8"'
        "; these jump while the others are close, as a fault of the engine shows"
    )


def test_of_tokens_as_far_apart_the_first_is_named() -> None:
    """Between equals, order decides."""
    stage = written(*words(-1.0, -1.5, -1.0, -1.5))
    failed = close(stage, written(*words(-1.0, -1.0, -1.0, -1.0)))
    assert failed.reason.endswith('at most by 0.5 at token 1 " w1"')
    assert failed.detail["worst"]["token"] == " w1"


def test_the_99th_percentile_is_one_of_the_values() -> None:
    """Of 200 differences the 198th in order is the 99th percentile."""
    stage = written(*words(*(-1 - i / 1000 for i in range(200))))
    passed = close(stage, written(*words(*(-1.0,) * 200)), 1.0)
    assert passed.detail["p99"] == pytest.approx(0.197)
    assert passed.detail["max"] == pytest.approx(0.199)
    assert passed.detail["median"] == pytest.approx(0.0995)


# ---------------------------------------------------------------- what cannot be measured


def test_without_a_reference_nothing_is_measured() -> None:
    """The check needs a pair."""
    assert close(REFERENCE, None) == Score(None, "no answer of the reference to compare with")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (said("hi", logprobs_absent="logprobs is null"), "no logprobs: logprobs is null"),
        (said("hi"), "no logprobs: none came"),
        (said("hi", logprobs=()), "no logprobs: none came"),
        (said(None, logprobs=words(-1.0)), "no text"),
        (said("<think>", reasoning_open=True, logprobs=words(-1.0)), "no text"),
        (written(*words(None, None)), "logprobs not real: no value is a logprob"),
        (written(*words(0.0, None)), "logprobs not real: every value is 0"),
        (written(*words(0.0, -0.0, 0.0)), "logprobs not real: every value is 0"),
        (written(token("a", 0.0, {"a": 0.0, "b": None})), "logprobs not real: every value is 0"),
        (written(*words(5.0, 5.0)), "logprobs not real: 5 is above 0"),
        (written(*words(-1.0, 0.0011)), "logprobs not real: 0.0011 is above 0"),
        (written(token("a", -1.0, {"a": -1.0, "b": 0.5})), "logprobs not real: 0.5 is above 0"),
    ],
)
def test_absent_and_unreal_values_are_unmeasured(answer: Observation, reason: str) -> None:
    """Missing logprobs, sentinels, zeros all over and what is above 0 neither pass nor fail."""
    assert close(answer, REFERENCE) == Score(None, f"stage: {reason}")
    assert close(REFERENCE, answer) == Score(None, f"reference: {reason}")
    assert close(answer, answer).passed is None


def test_a_certain_answer_is_real_where_its_alternatives_are() -> None:
    """A token may have logprob 0: its alternatives then tell that values are real."""
    sure = written(token("a", 0.0, {"a": 0.0, "b": -17.5}))
    assert close(sure, sure).passed is True


def test_what_rounding_leaves_above_zero_is_real() -> None:
    """A probability of 1 may be reported a thousandth of a nat too high."""
    rounded = written(*words(*(-0.5,) * 9, 0.001))
    assert close(rounded, rounded).passed is True


def test_a_missing_value_is_skipped_and_never_zero() -> None:
    """Up to a tenth of the tokens may lack a value; a pass says how many did."""
    values = (None,) + (-0.5,) * 9
    passed = close(written(*words(*values)), written(*words(*(-0.5,) * 10)))
    assert passed.passed is True
    assert passed.warnings == ("1 tokens could not be compared",)
    assert passed.detail["without_value"] == 1
    assert passed.detail["whole"] is False
    more = (None, None) + (-0.5,) * 9
    for sides in ((more, (-0.5,) * 11), ((-0.5,) * 11, more)):
        stage, reference = (written(*words(*side)) for side in sides)
        unmeasured = close(stage, reference)
        assert unmeasured.passed is None
        assert unmeasured.reason == "only 9 of 11 aligned tokens have logprobs"


def test_a_missing_value_of_a_short_answer_leaves_it_unmeasured() -> None:
    """A short answer counts only as a whole."""
    unmeasured = close(written(*words(-0.1, None)), written(*words(-0.1, -0.2)))
    assert unmeasured.passed is None
    assert unmeasured.reason == "only 1 tokens aligned, not the whole answer"


@pytest.mark.parametrize(("count", "passed"), [(7, None), (8, True)])
def test_fewer_than_eight_aligned_tokens_tell_too_little(count: int, passed: bool | None) -> None:
    """Unless they are the whole answer, seven tokens neither pass nor fail."""
    same = words(*(-0.5,) * count)
    stage = written(*same, token("\n\n", -1.0))
    reference = written(*same, token("\n", -1.0), token("\n", -1.0))
    assert close(stage, reference).passed is passed
    off = words(*(-1.5,) * count)
    worse = written(*off, token("\n\n", -1.0))
    assert close(worse, reference).passed is (None if passed is None else False)


def test_answers_of_no_token_are_unmeasured() -> None:
    """Two empty texts show nothing."""
    empty = said("", logprobs=(token("", -0.1),))
    assert close(empty, empty).reason == "only 0 tokens aligned, not the whole answer"


# ---------------------------------------------------------------- scaled values


def spread(factor: float, noise: float = 0.0) -> tuple[TokenLogprob, ...]:
    """Eight tokens with two alternatives each, gaps times a factor and a little noise."""
    tops = ((-0.3, -1.4, -2.6), (-0.1, -2.7, -4.0), (-0.5, -1.3, -3.1), (-0.2, -1.9, -3.0))
    made = []
    for i, (own, first, second) in enumerate(tops * 2):
        shift = noise * (1 if i % 2 else -1)
        top = {
            f" w{i}": own * factor,
            "x": first * factor + shift,
            "y": second * factor - shift,
        }
        made.append(token(f" w{i}", own * factor, top))
    return tuple(made)


@pytest.mark.parametrize("factor", [2.0, 0.5, 1.43, 1.25, 1.12, 0.88])
def test_values_after_a_temperature_are_unmeasured(factor: float) -> None:
    """A common factor on the gaps of all positions shows other settings, not other weights."""
    unmeasured = close(written(*spread(factor)), written(*spread(1.0)))
    assert unmeasured.passed is None
    assert unmeasured.reason == (
        f"the stage's logprobs are scaled by about {factor:.3g}: other settings"
    )
    mirrored = close(written(*spread(1.0)), written(*spread(factor)))
    assert mirrored.reason == (
        f"the stage's logprobs are scaled by about {1 / factor:.3g}: other settings"
    )


def test_scaled_values_do_not_pass_within_tolerance_either() -> None:
    """A tolerance wide enough for them makes scaled values no pass."""
    assert close(written(*spread(2.0)), written(*spread(1.0)), 10.0).passed is None


def test_one_position_shows_a_temperature_of_one_half_alone() -> None:
    """Gaps of 2.0 and 1.0 are a temperature; of 1.7 and 1.0 they are a difference."""
    reference = written(token("x", -0.313, {"x": -0.313, "y": -1.313}))
    scaled = written(token("x", -0.127, {"x": -0.127, "y": -2.127}))
    assert close(scaled, reference).reason == (
        "the stage's logprobs are scaled by about 2: other settings"
    )
    assert close(reference, scaled).reason == (
        "the stage's logprobs are scaled by about 0.5: other settings"
    )
    for gap in (1.7, 1.98, 2.02, 4.0):
        other = written(token("x", -0.127, {"x": -0.127, "y": -0.127 - gap}))
        assert close(other, reference).passed is False
    mixed = written(
        token("x", -0.127, {"x": -0.127, "y": -2.127}), token("z", -0.313, {"w": -1.313})
    )
    against = written(
        token("x", -0.313, {"x": -0.313, "y": -1.313}), token("z", -0.127, {"w": -2.127})
    )
    assert close(mixed, against).passed is False


@pytest.mark.parametrize(
    "stage",
    [
        spread(1.0, 0.3),
        spread(1.08),
        spread(2.0, 0.4),
        tuple(replace(t, logprob=(t.logprob or 0) - 0.4) for t in spread(1.0)),
    ],
)
def test_noise_is_not_taken_for_a_temperature(stage: tuple[TokenLogprob, ...]) -> None:
    """Scattered gaps, a factor near one, or a shift are measured as they are."""
    assert close(written(*stage), written(*spread(1.0)), 0.01).passed in {True, False}


@pytest.mark.parametrize(("gaps", "scaled"), [(3, False), (4, True)])
def test_four_gaps_show_any_factor(gaps: int, scaled: bool) -> None:
    """Four gaps with one factor are a temperature, three are chance."""
    stage = written(*(token(f" w{i}", -0.2, {"x": -0.2 - 1.7 * (i + 1)}) for i in range(gaps)))
    reference = written(*(token(f" w{i}", -0.5, {"x": -0.5 - (i + 1)}) for i in range(gaps)))
    assert close(stage, reference).passed is (None if scaled else False)


def test_alternatives_are_matched_by_bytes_whatever_they_are_called() -> None:
    """Two servers may name the same bytes differently."""

    def entry(name: str, own: float, other: float) -> TokenLogprob:
        return replace(token("x", own), top=(TopLogprob(name, other, b"\xf0\x9f"),))

    stage, reference = (
        written(entry("\\xf0\\x9f", -0.127, -2.127)),
        written(entry("bytes:\\xf0\\x9f", -0.313, -1.313)),
    )
    assert "scaled by about 2" in close(stage, reference).reason


def test_alternatives_show_a_factor_by_id_where_ids_are_shared() -> None:
    """Two servers may name an id differently, and say bytes of it on one side alone."""
    ours = TopLogprob("token_id:7", -2.127, None, 7)
    theirs = TopLogprob("y", -1.313, b"y", 7)
    stage = written(replace(token("x", -0.127, token_id=1), top=(ours,)))
    reference = written(replace(token("x", -0.313, token_id=1), top=(theirs,)))
    assert "scaled by about 2" in close(stage, reference).reason


def test_where_nothing_is_aligned_there_are_no_figures() -> None:
    """No figure is made up where no token was compared."""
    detail = close(written(token("a", -0.5)), written(token("b", -0.5))).detail
    for figure in ("max", "median", "p99", "share_over", "worst"):
        assert detail[figure] is None
    assert detail["aligned"] == 0


def test_small_gaps_show_no_factor() -> None:
    """Gaps under half a nat are too near to rounding to tell a factor."""
    stage = written(*(token(f" w{i}", -0.9, {"x": -1.3}) for i in range(8)))
    reference = written(*(token(f" w{i}", -0.9, {"x": -1.1}) for i in range(8)))
    assert close(stage, reference).passed is True


def test_the_parting_position_shows_a_factor_too() -> None:
    """Where answers part at once, their alternatives may still show a temperature."""
    stage = written(token("a", -0.2, {"b": -2.2, "c": -4.2, "d": -6.2, "e": -8.2}))
    reference = written(token("b", -1.2, {"a": -0.2, "c": -2.2, "d": -3.2, "e": -4.2}))
    assert "scaled by about 2" in close(stage, reference).reason


# ---------------------------------------------------------------- laws

logprobs = st.floats(-12, 0, allow_nan=False)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4)
tokens_ = st.builds(
    token, names, st.none() | logprobs, st.dictionaries(names, logprobs, max_size=3)
)
answers = st.lists(tokens_, min_size=1, max_size=14).map(lambda listed: written(*listed))


@given(answers, st.floats(0, 1))
def test_identical_answers_never_fail(answer: Observation, tolerance: float) -> None:
    """An answer against itself passes, or is unmeasured."""
    assert close(answer, answer, tolerance).passed is not False


@given(answers, answers, st.floats(0, 2))
def test_swapping_the_sides_changes_no_decision(
    left: Observation, right: Observation, tolerance: float
) -> None:
    """What is compared, and how far it is apart, is the same from both sides."""
    one, other = close(left, right, tolerance), close(right, left, tolerance)
    assert one.passed == other.passed
    for figure in ("aligned", "max", "median", "p99", "share_over", "skipped"):
        assert one.detail.get(figure) == other.detail.get(figure)


@given(st.lists(logprobs.filter(bool), min_size=1, max_size=12), st.data())
def test_every_difference_is_measured(values: list[float], data: st.DataObject) -> None:
    """Over one text the largest difference is what it is by hand."""
    others = data.draw(st.lists(logprobs.filter(bool), min_size=len(values), max_size=len(values)))
    result = close(written(*words(*values)), written(*words(*others)), 1.0)
    by_hand = max(abs(a - b) for a, b in zip(values, others, strict=True))
    assert result.detail["max"] == by_hand
    assert result.passed is (by_hand <= 1.0 + 1e-9)


@given(answers, answers)
def test_details_are_strict_json(left: Observation, right: Observation) -> None:
    """A score can be written as it is."""
    json.dumps(close(left, right).detail, allow_nan=False)


@given(st.lists(tokens_, min_size=1, max_size=10), st.data())
def test_hidden_bytes_never_make_identical_answers_fail(
    listed: list[TokenLogprob], data: st.DataObject
) -> None:
    """However many tokens hide their bytes, equal answers do not fail."""
    hidden = [
        replace(t, bytes=None, token="\ufffd") if data.draw(st.booleans()) else t for t in listed
    ]
    text = "".join(t.token for t in listed)
    assert close(written(*hidden, text=text), written(*hidden, text=text)).passed is not False
