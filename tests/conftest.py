"""Profiles of Hypothesis: no deadlines, which busy machines miss; mutants meet few examples."""

from __future__ import annotations

import os

from hypothesis import Phase, settings

settings.register_profile(
    "mutants",
    max_examples=30,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
)
settings.register_profile("everyday", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))
