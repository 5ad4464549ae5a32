"""Cases that were written by hand, a file a part; each has its argument beside it."""

from denv.recipes.making.authored import (
    code,
    exact,
    languages,
    logprobs,
    no_call,
    output,
    shapes,
    texts,
    turns,
    values,
)
from denv.recipes.making.authored.golden import GOLDEN

CASES = (
    *values.CASES,
    *shapes.CASES,
    *texts.CASES,
    *turns.CASES,
    *no_call.CASES,
    *output.CASES,
    *languages.CASES,
    *code.CASES,
    *exact.CASES,
    *logprobs.CASES,
)

__all__ = ["CASES", "GOLDEN"]
