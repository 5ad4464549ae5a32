"""Simulations: how often each rule of decision is wrong, and how often each interval covers.

A rule a file; each gives its rows. What can be enumerated is not simulated.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulations import (
    bake,
    combined,
    floor,
    gaming,
    gates,
    intervals,
    looks,
    pairs,
    replicas,
    threshold,
    tokens,
)
from simulations.row import Rule

RULES: Mapping[str, Rule] = {
    "threshold": threshold.rows,
    "floor": floor.rows,
    "replicas": replicas.rows,
    "gaming": gaming.rows,
    "tokens": tokens.rows,
    "pairs": pairs.rows,
    "all": combined.rows,
    "gates": gates.rows,
    "looks": looks.rows,
    "bake": bake.rows,
    "intervals": intervals.rows,
}
"""By the name on the command line: asked whether to be quick, each gives its rows."""
