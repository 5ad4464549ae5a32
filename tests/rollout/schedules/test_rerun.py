"""Two runs' answers beside each other: flips of each side, and the divergence between them."""

from __future__ import annotations

import json
from math import log

import pytest

from denv.records import Side
from denv.rollout.plan import freeze
from denv.rollout.schedules.scheduled import fire
from denv.rollout.schedules.timing import Timing
from denv.store import ScheduleRecord
from tests import suites
from tests.rollout.schedules.sides import DAY, RELEASE, START
from tests.stubs import answers

WORDS = [" one", " two", " three", " four", " five", " six", " seven", " eight"]


class Model:
    """Says eight words, each with the chance ``p`` and one other word with the rest."""

    def __init__(self, p):
        self.p = p

    def __call__(self, request, n):
        body = answers.completion("".join(WORDS))
        if request.get("logprobs"):
            body["choices"][0]["logprobs"] = {"content": [self._entry(word) for word in WORDS]}
        return body

    def _entry(self, word):
        listed = [(word, log(self.p)), (" other", log(1 - self.p))]
        top = [{"token": t, "logprob": v, "bytes": list(t.encode())} for t, v in listed]
        return {**top[0], "top_logprobs": top}


@pytest.fixture
async def schedule(tmp_path, store, serve, release_of):
    """Give a schedule of logprobs cases over two models, and what fires it."""
    stage, reference = Model(0.8), Model(0.9)
    lines = [
        suites.line(f"c{n}", f"say {n}", {"logprobs-close": {"tolerance": 0.5}}) for n in range(30)
    ]
    suites.write(tmp_path, lines)
    suites.write(tmp_path, suites.numbered(1), "golden.jsonl")
    urls = {"stage": (await serve(stage)).url, "reference": (await serve(reference)).url}
    text = RELEASE.format(**urls, rate="50%").replace("exact", "logprobs")
    plan = freeze(release_of(text), data_folder=tmp_path / "home")
    timing = Timing(every_s=DAY)
    store.schedules.add_schedule(
        ScheduleRecord("s", START, timing.to_json(), json.loads(plan.to_json()))
    )

    async def go(number):
        await fire(store, "s", START + number * DAY)
        return store.schedules.history("s")[-1].document

    return stage, go


async def test_divergence_is_that_of_the_lists(schedule):
    """0.9 and 0.1 against 0.8 and 0.2 are 0.9 ln(9/8) + 0.1 ln(1/2) nats at each of 240 tokens."""
    _, go = schedule
    document = await go(1)
    assert document["kl"] == pytest.approx(0.9 * log(9 / 8) + 0.1 * log(1 / 2))
    assert document["kl_tokens"] == 30 * len(WORDS)


@pytest.mark.slow
async def test_logprobs_are_held_against_the_sides_own(schedule):
    """A stage that moves further than the tolerance from its own earlier values has changed."""
    stage, go = schedule
    await go(1)
    assert (await go(2))["drift"]["stage"]["largest_logprob_delta"] == pytest.approx(0)
    stage.p = 0.4
    drift = (await go(3))["drift"]
    assert drift["verdict"] == "stage"
    assert drift["stage"]["largest_logprob_delta"] == pytest.approx(log(2))
    assert drift["stage"]["same_texts"] == {"cases": 30, "same": 30}
    assert drift[Side.REFERENCE.value]["flips"] == 0
