"""Deliberate faults of the instruments, each as a change that a careless hand could make.

A fault replaces one function, constant or rule through pytest's monkeypatch. ``FAULTS`` gives for
each its name, the change, the instruments that are tried, and known cases that must show it.
"""

from tests.instruments.faults import answers, calls, logprobs, outcomes, rates, text

FAULTS = (
    text.FAULTS | calls.FAULTS | logprobs.FAULTS | outcomes.FAULTS | rates.FAULTS | answers.FAULTS
)
