"""The page on traps: each number is computed again, and what it names is there."""

from __future__ import annotations

import ast
import json
import re
from fractions import Fraction
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest

from denv.instruments.answers.bank import COUNT, items
from denv.instruments.answers.extract import Given, extract_answer
from denv.instruments.gates.serving_path import SHORT_TRACE
from denv.instruments.speed.drafts import drafting_of
from denv.instruments.speed.sample import Sample
from denv.instruments.tokens.decision import LEAST_KL, LEAST_TEXTS
from denv.instruments.tokens.pairing import compare
from denv.observe import observe
from denv.records import Exchange, TokenLogprob, TopLogprob
from denv.stats.clustered import clustered_mean
from denv.stats.contingency import exact_test
from denv.stats.divergence import kl_lower_bound, pinsker, total_variation
from denv.stats.multiplicity import family_wise_error
from denv.stats.paired import PairedCounts, mcnemar, tango
from denv.stats.power import cases_for_confidence, least_passes, pass_chance
from denv.stats.truncation import accuracy_bounds
from tests.docs.examples import outcome_of, verdict_of
from tests.docs.pages import DOCS, ROOT, all_commands, options_in, options_of
from tests.docs.pages import text_of as text

PAGE = text(DOCS / "traps.md")
PARTS = ("What happens.", "In numbers.", "What stands in the way.")
THRESHOLD = Fraction("0.95")

TRAPS = {
    title.strip(): body
    for title, body in re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
}


def percent(share, digits=0):
    return f"{100 * share:.{digits}f} %"


def right_answer(content="391"):
    message = {"content": content}
    return {"status": 200, "body": {"choices": [{"message": message, "finish_reason": "stop"}]}}


# ---------------------------------------------------------------- the numbers, computed again


def cut_answers():
    found = accuracy_bounds(63, 7, truncated=30)
    assert 63 + 7 + 30 == 100
    assert found.complete_case is not None
    return [
        f"63 of the other {63 + 7}",
        f"make {percent(found.lower)}",
        f"right in {percent(found.complete_case)}",
        f"between {percent(found.lower)} and {percent(found.upper)}",
    ]


def errors_as_no_call():
    expect = {"tool-call": {"name": "get_weather", "arguments": {"city": "Paris"}}}
    down = {"status": 503, "body": {"error": {"message": "overloaded"}}}
    said = outcome_of({"expect": expect, "stage": down, "reference": None})
    called = [False] * 100
    wanted = [False] * 40 + [True] * 60
    right = sum(did is should for did, should in zip(called, wanted, strict=True))
    return [f"right in {percent(right / 100)}", f"`{said}`"]


def refusals_as_answers():
    message = "cannot answer 'Is 17 * 23 equal to 391?'"
    refused = {"status": 400, "body": {"error": {"message": message}}}
    said = outcome_of(
        {"expect": {"contains": "391"}, "stage": refused, "reference": right_answer()}
    )
    assert "391" in message
    return [f"counts {40 // 4} more", said.partition(":")[0]]


def rate_of_the_answered():
    said = verdict_of(
        {"pass": "exact=95%", "kinds": {"exact": {"planned": 100, "pass": 60, "unmeasured": 40}}}
    )
    verdict, reason = said.split("\n")
    assert reason == "exact: only 60 of 100 cases could be counted, 90 % are needed"
    return [percent(60 / 60), f"`{verdict}`", "only 60 of 100 cases could be counted", "90 %"]


def last_numbers():
    told = "31 * 43 is 1333. I checked it 3 times."
    assert not isinstance(extract_answer(told), Given)
    declared = extract_answer(f"{told}\nANSWER: 1333")
    assert isinstance(declared, Given)
    assert declared.value == 31 * 43
    last = re.findall(r"\d+", told)[-1]
    return [told, f"its last number is {last}", f"number read is {declared.value}"]


def typed_truths():
    assert len(items()) == COUNT == 240
    best = (COUNT - 5) / COUNT
    assert best < 0.98
    return [f"among {COUNT} items", f"right in {percent(best, 1)}", f"answers {17 * 23}"]


def two_paths():
    reference_chat, stage_raw, stage_chat = 92, 70, 92
    return [
        f"{reference_chat - stage_raw} points lost",
        f"{stage_chat - stage_raw} points are the",
        f"{reference_chat - stage_chat} the weights'",
    ]


def closed_thoughts():
    p = mcnemar(16, 0).exact_p
    assert p == pytest.approx(2 * 0.5**16)
    return [f"p = {p:.5f}"]


REFERENCE = [(" sevent", -2.0), ("een", -0.1), (" apples", -1.5), (" fell", -3.0), (" down", -0.7)]
STAGE = [(" seventeen", -2.1), (" apples", -1.5), (" fell", -3.0), (" down", -0.7)]


def entry(token, logprob):
    other = TopLogprob(" other", -6.0, b" other", None)
    own = TopLogprob(token, logprob, token.encode(), None)
    return TokenLogprob(token, logprob, token.encode(), None, (own, other))


def paired_by_index():
    gaps = [abs(p - q) for (_, p), (_, q) in zip(REFERENCE, STAGE, strict=False)]
    found = compare(
        tuple(entry(*one) for one in REFERENCE),
        tuple(entry(*one) for one in STAGE),
        same_ids=False,
    )
    apart = np.abs(found.p_own - found.q_own)
    assert found.count == 3
    for said in (REFERENCE, STAGE):
        listed = ", ".join(f'"{token}"' for token, _ in said)
        assert listed in flat("Tokens paired by their index")
    return [
        f"differ by {max(gaps):.1f} nats at most and {np.mean(gaps):.3f} on average",
        f"the three tokens which both have differ by {apart.max():.0f}",
    ]


def sampled():
    return [f"in {percent(0.9**50, 1)} of runs"]


def placeholders():
    def logprob_of(value):
        content = [{"token": "a", "logprob": value, "bytes": [97], "top_logprobs": []}]
        message = {"role": "assistant", "content": "a"}
        choice = {"message": message, "finish_reason": "stop", "logprobs": {"content": content}}
        body = json.dumps({"choices": [choice]}).encode()
        (found,) = observe(Exchange(status=200, body=body)).logprobs or (None,)
        return found and found.logprob

    assert logprob_of(-9999.0) is None
    assert logprob_of(-0.5) == -0.5
    return [
        f"mean difference of {abs(-9999 + 0.5) / 100:.3f} nats",
        f"perplexity of exactly {exp(0.0):.0f}",
    ]


def renormalised():
    p, q = np.array([0.5, 0.3]), np.array([0.25, 0.15])
    ours, theirs = p / p.sum(), q / q.sum()
    naive = float((ours * np.log(ours / theirs)).sum())
    bound = float(kl_lower_bound(np.log(p), np.log(q)))
    return [
        f"both are {ours[0]:.3f} and {ours[1]:.3f}",
        f"the divergence is {abs(naive):.0f}",
        f"{1 - p.sum():.1f} against {1 - q.sum():.1f}",
        f"at least {bound:.3f} nats",
    ]


def bound_as_sameness():
    p = np.log([0.5, 0.3])
    bound, distance = float(kl_lower_bound(p, p)), total_variation(p, p)
    return [
        f"bound of the divergence is {bound:.0f}",
        f"anything up to {float(distance.upper):.1f}",
        f"{pinsker(LEAST_KL):.4f} is what a divergence of {LEAST_KL} nats allows",
    ]


def dependent_tokens():
    values = [1.0] * 75 + [1.0] * 15 + [0.0] * 10
    found = clustered_mean(values, [text for text in range(4) for _ in range(25)])
    naive = sqrt(found.value * (1 - found.value) / 100)
    assert found.standard_error is not None
    return [
        f"Agreement is {percent(found.value)}",
        f"standard error of {100 * naive:.0f} points",
        f"they are, {100 * found.standard_error:.0f} points",
        f"fewer than {LEAST_TEXTS} texts",
    ]


def luck():
    chance = pass_chance(20, 0.9, threshold=THRESHOLD)
    assert pass_chance(20, 0.9, threshold=THRESHOLD, confidence=0.95) == 0
    needed = cases_for_confidence(THRESHOLD, confidence=0.95)
    assert needed is not None
    assert 0.95**needed <= 0.05 < 0.95 ** (needed - 1)
    return [
        f"{least_passes(20, THRESHOLD)} must pass",
        f"in {percent(chance)} of runs",
        f"{needed} cases without a failure",
    ]


def looking_on():
    chance = pass_chance(20, 0.9, threshold=THRESHOLD)
    return [
        f"one of five runs in {percent(1 - (1 - chance) ** 5)}",
        f"false alarm in {percent(family_wise_error(5, alpha=0.05))}",
    ]


def above_the_floor():
    return [f"passes in {percent(pass_chance(100, 0.93, threshold=THRESHOLD))} of runs"]


def unpaired():
    both, stage_only, reference_only = 68, 2, 12
    assert (both + reference_only, both + stage_only) == (80, 70)
    fisher, paired = exact_test([(80, 20), (70, 30)]), mcnemar(reference_only, stage_only)
    alike = PairedCounts(both=60, ref_only=20, cand_only=20, neither=0)
    assert alike.difference == 0
    return [
        f"p = {fisher.p_value:.2f}",
        f"mid-p = {paired.mid_p:.4f}",
        f"with {alike.both + alike.ref_only} each",
        f"differ on {alike.ref_only + alike.cand_only} questions",
    ]


def not_significant():
    counts = PairedCounts(both=24, ref_only=3, cand_only=0, neither=3)
    assert counts.pairs == 30
    found = tango(counts, confidence=0.95)
    return [f"p = {mcnemar(3, 0).exact_p:.2f}", f"up to {100 * found.high:.1f} points (95 %)"]


def warm_on_one_side():
    cold, warm = (new / 1000 + 0.02 for new in (2000, 20))
    return [f"after {cold:.2f} s", f"after {warm:.2f} s", f"{cold / warm:.0f} times as fast"]


def speculation():
    sample = Sample(
        tokens=24, drafted=20, accepted=20, first_s=0.1, last_s=0.4, arrivals=4, answered_s=0.1
    )
    assert sample.tokens_per_s is not None
    assert sample.ms_per_evaluation is not None
    return [
        f"{sample.tokens_per_s:.1f} tokens a second",
        f"{sample.ms_per_evaluation:.0f} ms an evaluation",
        f"would make {1000 / sample.ms_per_evaluation:.0f}.",
    ]


def ignored_setting():
    recorded = Sample(tokens=24, drafted=20, accepted=20)
    found = drafting_of(recorded, recorded, most=8, least=1)
    assert found.state == "ignored"
    return [f"drafted {recorded.drafted} in {recorded.evaluations} steps", percent(1 / 4)]


NUMBERS = {
    "A cut answer counted as wrong": cut_answers,
    'Errors counted as "no call"': errors_as_no_call,
    "A refused request turned into an answer": refusals_as_answers,
    "A rate over what was answered": rate_of_the_answered,
    "The last number taken for the answer": last_numbers,
    "Truths typed by hand": typed_truths,
    "Two paths compared, and the weights blamed": two_paths,
    "Raw completion that closes its thoughts": closed_thoughts,
    "Tokens paired by their index": paired_by_index,
    "Temperature 0 that samples": sampled,
    "Placeholders read as logprobs": placeholders,
    "A list of the likeliest tokens made into a distribution": renormalised,
    "A lower bound read as sameness": bound_as_sameness,
    "Tokens taken as independent": dependent_tokens,
    "A threshold met by luck": luck,
    "Looking until one passes": looking_on,
    "A threshold above the reference's own floor": above_the_floor,
    "Two accuracies without the table of pairs": unpaired,
    "No significant difference taken for none": not_significant,
    "A prompt cache that is warm on one side": warm_on_one_side,
    "Tokens per second under speculation": speculation,
    "A setting that the server ignores": ignored_setting,
}


def flat(title):
    """Give a section as one line, so that a sentence may go over a line's end."""
    return " ".join(TRAPS[title].split())


def guard(title):
    return flat(title).partition(f"**{PARTS[2]}**")[2]


def code(title):
    return re.findall(r"`([^`]+)`", guard(title))


# ---------------------------------------------------------------- the page


def test_every_trap_has_its_numbers():
    """The page and these computations have the same traps, at least twelve."""
    assert list(TRAPS) == list(NUMBERS)
    assert len(TRAPS) >= 12


@pytest.mark.parametrize("title", TRAPS)
def test_every_trap_has_its_parts(title):
    """What happens, an example in numbers, and a guard stand in this order."""
    assert re.findall(r"\*\*([A-Z][^*]+)\*\*", TRAPS[title]) == list(PARTS)


@pytest.mark.parametrize("title", TRAPS)
def test_numbers_are_what_is_computed(title):
    """Each figure stands on the page as it is computed here."""
    section = flat(title)
    for figure in NUMBERS[title]():
        assert figure in section, figure


@pytest.mark.parametrize("title", TRAPS)
def test_what_guards_is_there(title):
    """Each guard names a file of this repository, and all that it names are there."""
    paths = [one for one in code(title) if "/" in one and not one.startswith("/")]
    assert paths
    for path in paths:
        assert (ROOT / path).is_file(), path


def test_options_are_the_programs():
    """No option is named that no command has."""
    known = set().union(*(options_of(command) for _, command in all_commands()))
    assert options_in(PAGE) <= known | _unregistered()


def _unregistered():
    """Give the options of commands that stand in files of their own."""
    from denv.cli.bench import bench  # noqa: PLC0415
    from denv.cli.tokens import tokens  # noqa: PLC0415

    return set().union(*map(options_of, (*bench.commands.values(), tokens)))


def test_gates_have_the_checks_that_are_named():
    """What stands in brackets behind a gate is a check of that name in the gates' code."""
    folder = Path(ROOT / "src" / "denv" / "instruments" / "gates")
    there = {
        node.value
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    named = re.findall(r"gate (G\d)\s+\(([^)]*)\)", " ".join(PAGE.split()), re.IGNORECASE)
    assert {gate for gate, _ in named} == {"G2", "G4", "G5", "G6"}
    checks = {check for _, listed in named for check in re.findall(r"`([^`]+)`", listed)}
    assert checks
    assert checks <= there
    assert set(re.findall(r"\bG\d\b", PAGE)) <= {f"G{n}" for n in range(1, 7)}
    assert f"traces of {SHORT_TRACE} characters or fewer" in " ".join(PAGE.split())
