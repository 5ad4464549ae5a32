"""Profiles of Hypothesis: everyday runs keep its own settings; mutants meet few, fixed examples."""

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
if profile := os.environ.get("HYPOTHESIS_PROFILE"):
    settings.load_profile(profile)
