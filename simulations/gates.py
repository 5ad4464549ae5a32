"""Gates: how often a server that serves faithfully fails a check that has chance in it.

Samples at temperature 1 and with top_p are tested at 1 %, and a check fails only where a second,
independent batch fits no better: with the square of the chance that is measured. The tolerances
of repeated logprobs are no tests; what noise passes them is enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from denv.instruments.gates.asking import Reply
from denv.instruments.gates.determinism import ANSWER_TOKENS, DRIFT_NATS
from denv.instruments.gates.gates import Gates
from denv.instruments.gates.logprobs_real import factor_check
from denv.instruments.gates.model import State
from denv.instruments.gates.nucleus import nuclei
from denv.instruments.gates.sample_fit import fit_samples
from denv.instruments.gates.sampling import ALPHA, TOP_P
from denv.instruments.gates.texts import QUESTIONS
from denv.records import Observation, TokenLogprob, TopLogprob
from simulations.row import Row, generator

RULE = "gates"
LISTED = 20
HOT, CUT = Gates(None).samples, Gates(None).top_p_samples
"""Samples of a batch at temperature 1, and with top_p."""

COLD = 0.5
LIKELY = 8
"""Alternatives of a position that are likely enough to be compared."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Server:
    """A first token's distribution, the most probable first; some of it is not listed."""

    says: str
    chances: FloatArray

    def at(self, temperature: float) -> FloatArray:
        """Give the distribution at a temperature."""
        weights = self.chances ** (1 / temperature)
        return np.asarray(weights / weights.sum())


def zipf(power: float, *, tokens: int = 100) -> FloatArray:
    """Give probabilities that fall with a power of the rank."""
    weights = np.arange(1.0, tokens + 1) ** -power
    return np.asarray(weights / weights.sum())


SERVERS = (
    Server("flat, a third not listed", zipf(1.0)),
    Server("steep, 2 % not listed", zipf(2.0)),
)


def rows(quick: bool) -> Sequence[Row]:
    """Give the sampling checks, the factor check and the tolerances."""
    servers, runs = (SERVERS[1:], 40) if quick else (SERVERS, 400)
    return [
        *(_hot(server, runs if quick else 1500) for server in servers),
        *(_nucleus(server, runs) for server in servers),
        *(_factor(sigma, 20 if quick else 200) for sigma in (0.001, 0.01, 0.1)),
        *(_drift(sigma) for sigma in (0.002, 0.005, 0.01)),
    ]


# ---------------------------------------------------------------- samples


def _hot(server: Server, runs: int) -> Row:
    setting = f"one batch of {HOT} samples at temperature 1 does not fit, {server.says}"
    rng = generator(RULE, setting)
    cold = _hot_misfits(server, COLD, max(20, runs // 10), rng)
    return Row(
        "level",
        RULE,
        setting,
        ALPHA,
        _hot_misfits(server, 1.0, runs, rng),
        runs=runs,
        power=cold**2,
        against=f"both batches at temperature {COLD:g}",
    )


def _hot_misfits(server: Server, temperature: float, runs: int, rng: np.random.Generator) -> float:
    drawn = rng.multinomial(HOT, server.at(temperature), runs)
    listed = server.chances[:LISTED].tolist()
    found = [
        fit_samples(one[:LISTED].tolist(), listed, rest=int(one[LISTED:].sum()), seed=number)
        for number, one in enumerate(drawn)
    ]
    return sum(one.p_value <= ALPHA for one in found) / runs


def _nucleus(server: Server, runs: int) -> Row:
    setting = f"one batch of {CUT} samples with top_p {TOP_P:g} does not fit, {server.says}"
    rng = generator(RULE, setting)
    size = nuclei(server.chances[:LISTED].tolist(), TOP_P)[0]
    inside = np.where(np.arange(len(server.chances)) < size, server.chances, 0.0)
    whole = _nucleus_misfits(server, server.chances, max(20, runs // 10), rng)
    return Row(
        "level",
        RULE,
        setting,
        ALPHA,
        _nucleus_misfits(server, inside / inside.sum(), runs, rng),
        runs=runs,
        power=whole**2,
        against="both batches as without top_p",
    )


def _nucleus_misfits(
    server: Server, chances: FloatArray, runs: int, rng: np.random.Generator
) -> float:
    drawn = rng.multinomial(CUT, chances, runs)
    return sum(_misfits_nuclei(server, one, number) for number, one in enumerate(drawn)) / runs


def _misfits_nuclei(server: Server, drawn: npt.NDArray[np.int64], seed: int) -> bool:
    """Test against the nucleus; where rounding leaves its size open, against the better one."""
    listed = server.chances[:LISTED].tolist()
    found = []
    for size in nuclei(listed, TOP_P):
        kept = np.array(listed[:size])
        chances, outside = (kept / kept.sum()).tolist(), int(drawn[size:].sum())
        fit = fit_samples(drawn[:size].tolist(), chances, rest=outside, seed=seed)
        found.append(fit.p_value)
    return max(found) <= ALPHA


# ---------------------------------------------------------------- logprobs


def _factor(sigma: float, runs: int) -> Row:
    setting = "logprobs taken for a multiple of the other side's, normal noise of that many nats; σ"
    rng = generator(RULE, f"{setting} {sigma}")
    return Row(
        "characteristic",
        RULE,
        setting,
        None,
        _found_factors(1.0, sigma, runs, rng),
        runs=runs,
        size=f"{sigma:g}",
        power=_found_factors(1.25, sigma, max(20, runs // 10), rng),
        against="a factor of 1.25 is found",
    )


def _found_factors(factor: float, sigma: float, runs: int, rng: np.random.Generator) -> float:
    found = 0
    for _ in range(runs):
        pairs = [_two_sides(factor, sigma, rng) for _ in QUESTIONS]
        stage, reference = zip(*pairs, strict=True)
        found += factor_check(stage, reference).state is State.FAIL
    return found / runs


def _two_sides(factor: float, sigma: float, rng: np.random.Generator) -> tuple[Reply, Reply]:
    """Give the same answer of both sides; the stage's logprobs are scaled, then renormalised."""
    values = -np.sort(rng.exponential(3.0, (ANSWER_TOKENS, LISTED)), axis=1)
    values -= np.log(np.exp(values).sum(axis=1, keepdims=True))
    scaled = values * factor
    scaled -= np.log(np.exp(scaled).sum(axis=1, keepdims=True))
    stage, reference = (
        one + rng.normal(0.0, sigma, one.shape) - 3 * sigma for one in (scaled, values)
    )
    return _reply(stage), _reply(reference)


def _reply(values: FloatArray) -> Reply:
    tokens = []
    for row in values:
        top = tuple(TopLogprob(f"t{n}", float(v), f"t{n}".encode()) for n, v in enumerate(row))
        tokens.append(TokenLogprob("t0", float(row[0]), b"t0", None, top))
    return Reply(Observation(text="t0" * len(tokens), logprobs=tuple(tokens)))


def _drift(sigma: float) -> Row:
    """Enumerate how often normal noise moves any of a batch's logprobs beyond the tolerance."""
    compared = len(QUESTIONS) * ANSWER_TOKENS * LIKELY
    beyond = 2 * float(norm.sf(DRIFT_NATS / (sqrt(2) * sigma)))
    return Row(
        "characteristic",
        RULE,
        f"a side's logprobs move by more than {DRIFT_NATS:g} nats when asked again, normal "
        f"noise of that many nats in {compared} values; σ",
        None,
        float(-np.expm1(compared * np.log1p(-beyond))),
        size=f"{sigma:g}",
    )
