"""What the faults share: where they are put in."""

from __future__ import annotations

from denv.observe import observe as real_observe

TRIALS = "denv.instruments.trials"
OBSERVE = "denv.instruments.exchanges.observe"

OUT = ("outcome",)
ALL = ("outcome", "observe")


def observing(change):
    """Change what is observed."""

    def patch(m):
        m.setattr(OBSERVE, lambda exchange: change(real_observe(exchange)))
        m.setattr(f"{TRIALS}.observe", lambda exchange: change(real_observe(exchange)))

    return patch


def setting(target, name, value):
    """Replace one name."""
    return lambda m: m.setattr(target, name, value)
