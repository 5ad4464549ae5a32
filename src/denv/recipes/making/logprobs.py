"""Cases that compare logprobs: the same words must be as likely on both sides.

No answer is right or wrong here. The tolerance is for the worst of 32 tokens. Over these cases
and SmolLM2-135M, two llama.cpp servers of the same weights differ by nothing, and the same weights
rounded once more, to q5_0 or q4_0, by 0.45 nats in the median case: every case that counts then
fails. Two kernels in 16 bits differ by some hundredths of a nat. ``TOLERANCE`` lies between.
"""

from __future__ import annotations

from random import Random

from denv.recipes.making import words
from denv.recipes.making.drafts import Draft, Family, request, user
from denv.recipes.making.drawing import a, two

TOLERANCE = 0.2
SHIFT = 0.5
"""What a wrong answer's logprobs are off by: what a coarser format costs on a bad token."""

MAX_TOKENS = 32


def drafted(wish: str, likely: str, *, before: tuple[dict[str, str], ...] = ()) -> Draft:
    """Give the draft of a case whose answer may be any, such as ``likely``."""
    return Draft(
        request=request(*before, user(wish), max_tokens=MAX_TOKENS),
        expect={"logprobs-close": {"tolerance": TOLERANCE}},
        right={"content": likely, "finish_reason": "stop"},
        wrong={"content": likely, "finish_reason": "stop", "logprob_shift": SHIFT},
        why=f"Both sides say the same. Wrong: every logprob is {SHIFT} nats off.",
    )


def story(rng: Random, _at: int) -> Draft:
    """Ask for an opening that many words could follow: the distribution is broad."""
    animal, place, thing = (
        rng.choice(words.ANIMALS),
        rng.choice(words.PLACES),
        rng.choice(words.PLAIN_WORDS),
    )
    wish = f"Begin a story with one sentence about {a(animal)}, {a(thing)} and {a(place)}."
    likely = f"Long ago, {a(animal)} carried {a(thing)} through the {place} before anyone woke up."
    return drafted(wish, likely)


def compared(rng: Random, _at: int) -> Draft:
    """Ask for an explanation, where most words are nearly certain."""
    first, second = two(rng, words.PRODUCTS)
    wish = f"Explain in one sentence how {first} differ from {second}."
    likely = f"While {first} serve one purpose in a home, {second} serve quite another one."
    return drafted(wish, likely)


FAMILIES = (
    Family("logprobs-story", "logprobs", 12, story),
    Family("logprobs-compared", "logprobs", 12, compared),
)
