"""G6, sampling: whether temperature 1 and top_p 0.5 are applied as they are sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from denv.instruments.gates.asking import Reply, chat, greedy, user
from denv.instruments.gates.model import Check, State
from denv.instruments.gates.nucleus import nuclei
from denv.instruments.gates.positions import key_of, nameless, probabilities
from denv.instruments.gates.sample_fit import Fit, fit_samples
from denv.instruments.gates.texts import OPEN_QUESTIONS
from denv.instruments.probes import Strand, Together, Work
from denv.records import Json, ProblemKind, Side, TokenLogprob

ALPHA = 0.01
"""Samples that fit worse are taken anew, and fail only where those fit no better: 1e-4 in all."""

TOP_P = 0.5
MOST_CERTAIN = 0.9
"""A first token more probable than this leaves nothing to sample."""

READABLE = 0.95
_MOST_MASS = 1.01
_MOST_NAMELESS = 0.01
_UNTOUCHED: Mapping[str, Json] = {"top_k": 0, "min_p": 0}
"""Switch off what an engine cuts by default; not every API knows them."""

Keys = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Forced:
    """A question, and the distribution of its first token that teacher forcing reports.

    ``listed`` holds tokens and probabilities, the most probable first. ``extra`` is what is sent
    beside temperature and top_p.
    """

    question: str
    listed: tuple[tuple[object, float], ...]
    extra: Mapping[str, Json]

    @property
    def probabilities(self) -> list[float]:
        """The probabilities alone."""
        return [chance for _, chance in self.listed]

    def counts(self, samples: Sequence[object]) -> tuple[list[int], int]:
        """Count samples by listed token, and those that are none of them."""
        counts = [sum(one == key for one in samples) for key, _ in self.listed]
        return counts, len(samples) - sum(counts)


@dataclass(frozen=True, slots=True)
class Tried:
    """One batch of samples: its fit, and what of it is shown."""

    fit: Fit
    figures: Mapping[str, Json]


def sampling_checks(side: Side, *, hot: int, cut: int, seed: int) -> Strand[list[Check]]:
    """Sample the question whose first token is the most open, and test against its distribution.

    ``hot`` samples are taken at temperature 1 and ``cut`` with top_p 0.5 beside it; ``seed``
    draws the resamples of the tests.
    """
    forced: Forced | str = yield from _force(side)
    if isinstance(forced, str):
        said = f"the {side} {forced}"
        return [Check(name, State.UNKNOWN, said, side) for name in ("temperature", "top-p")]
    known = forced

    def whole(keys: Keys) -> Tried:
        return _whole(known, keys, seed=seed)

    def nucleus(keys: Keys) -> Tried:
        return _nucleus(known, keys, seed=seed)

    first = yield from _checked(side, known, "temperature", count=hot, test=whole)
    if not nuclei(known.probabilities, TOP_P):
        said = f"the {side}'s alternatives hold less than {TOP_P:g} of the probability"
        return [first, Check("top-p", State.UNKNOWN, said, side, needed=False)]
    second = yield from _checked(side, known, "top-p", count=cut, test=nucleus)
    return [first, second]


# ---------------------------------------------------------------- asking


def _force(side: Side) -> Strand[Forced | str]:
    """Give the most open question's distribution; a text says why there is none."""
    found: list[tuple[str, TokenLogprob]] = []
    for question in OPEN_QUESTIONS:
        body = greedy(user(question), max_tokens=1, logprobs=True)
        reply: Reply = yield from chat(side, body)
        entries = reply.observation.logprobs or ()
        if entries and probabilities(entries[0]) and nameless(entries[0]) <= _MOST_NAMELESS:
            found.append((question, entries[0]))
    if not found:
        return "gives no first-token distribution whose tokens can be told apart"
    question, entry = max(found, key=lambda pair: _openness(pair[1]))
    listed = tuple(probabilities(entry))
    if listed[0][1] > MOST_CERTAIN:
        return f"is certain of each first token ({listed[0][1]:.2f} and more)"
    if sum(chance for _, chance in listed) > _MOST_MASS:
        return "gives logprobs that are no distribution's"
    body = _body(question, {**_UNTOUCHED, "top_p": 1}, seed=1)
    reply = yield from chat(side, body)
    problem = reply.observation.problem
    refused = problem is not None and problem.kind is ProblemKind.REFUSED
    return Forced(question, listed, {} if refused else _UNTOUCHED)


def _openness(entry: TokenLogprob) -> float:
    """Give the variance of the listed logprobs, which is what a temperature shows by."""
    chances = np.array([chance for _, chance in probabilities(entry)])
    if chances[0] > MOST_CERTAIN:
        return -float(chances[0])
    weights, values = chances / chances.sum(), np.log(np.maximum(chances, 1e-300))
    mean = float(weights @ values)
    return float(weights @ (values - mean) ** 2) * min(1.0, float(chances.sum()))


def _body(question: str, fields: Mapping[str, Json], *, seed: int) -> dict[str, Json]:
    body = greedy(user(question), max_tokens=1)
    return {**body, "temperature": 1, "seed": seed, "logprobs": True, "top_logprobs": 1, **fields}


def _sample(side: Side, forced: Forced, name: str, *, seeds: range) -> Strand[Keys]:
    """Take one token for each seed; an answer that shows none is left out."""
    fields = {**forced.extra, "top_p": TOP_P if name == "top-p" else 1}
    asked = [chat(side, _body(forced.question, fields, seed=seed)) for seed in seeds]
    replies: list[Reply] = yield Together(asked)
    first = [(reply.observation.logprobs or ())[:1] for reply in replies]
    return tuple(key_of(entries[0]) for entries in first if entries)


# ---------------------------------------------------------------- judging


def _checked(
    side: Side, forced: Forced, name: str, *, count: int, test: Callable[[Keys], Tried]
) -> Strand[Check]:
    """Test one batch, and where it does not fit another one."""
    tried: list[Tried] = []
    for batch in range(2):
        seeds = range(1 + batch * count, 1 + (batch + 1) * count)
        keys = yield from _sample(side, forced, name, seeds=seeds)
        if len(keys) < READABLE * count:
            said = f"{count - len(keys)} of {count} samples of the {side} show no token"
            return Check(name, State.UNKNOWN, said, side)
        one: Tried = yield Work(partial(test, keys))
        tried.append(one)
        if one.fit.p_value > ALPHA:
            break
    return _check(side, name, tried, forced)


def _check(side: Side, name: str, tried: Sequence[Tried], forced: Forced) -> Check:
    fit, figures = tried[-1].fit, tried[-1].figures
    what = "at temperature 1" if name == "temperature" else f"with top_p {TOP_P:g}"
    evidence: dict[str, Json] = {
        "question": forced.question,
        "samples": fit.samples,
        "batches": len(tried),
        "not_listed": fit.rest,
        "statistic": fit.statistic,
        "cells": fit.cells,
        "p_values": [one.fit.p_value for one in tried],
        "alpha": ALPHA,
        "neutral_fields": sorted(forced.extra),
        **figures,
    }
    if fit.p_value > ALPHA:
        said = f"{fit.samples} samples of the {side} {what} follow its logprobs"
        return Check(name, State.PASS, f"{said} (p = {fit.p_value:.2g})", side, evidence=evidence)
    twice = " and ".join(f"{one.fit.p_value:.1e}" for one in tried)
    said = f"samples of the {side} {what} {_how(name, fit, figures)} (p = {twice})"
    return Check(name, State.FAIL, said, side, evidence=evidence)


def _how(name: str, fit: Fit, figures: Mapping[str, Json]) -> str:
    if figures["different"] == 1 and figures.get("nucleus") != 1:
        return f"are {fit.samples} times the same token"
    if name == "top-p":
        return (
            f"do not keep to its {figures['nucleus']} most probable tokens, "
            f"{figures['outside']} of {fit.samples} are others"
        )
    like = figures["fitting_temperature"]
    if not isinstance(like, float):
        return "do not follow its logprobs"
    return f"do not follow its logprobs, they look like temperature {like:.2g}"


def _whole(forced: Forced, keys: Keys, *, seed: int) -> Tried:
    counts, rest = forced.counts(keys)
    fit = fit_samples(counts, forced.probabilities, rest=rest, seed=seed)
    return Tried(fit, {"different": len(set(keys)), "fitting_temperature": fit.temperature})


def _nucleus(forced: Forced, keys: Keys, *, seed: int) -> Tried:
    """Test against the nucleus; where rounding leaves its size open, against the better one."""
    counts, rest = forced.counts(keys)
    found = []
    for size in nuclei(forced.probabilities, TOP_P):
        kept = forced.probabilities[:size]
        outside = rest + sum(counts[size:])
        chances = [chance / sum(kept) for chance in kept]
        fit = fit_samples(counts[:size], chances, rest=outside, seed=seed)
        figures = {"different": len(set(keys)), "nucleus": size, "outside": outside}
        found.append(Tried(fit, figures))
    return max(found, key=lambda one: one.fit.p_value)
