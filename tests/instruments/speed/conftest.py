"""The whole course of a run against machines of known speeds, and the command in this process."""

from __future__ import annotations

from random import Random

import pytest

from denv.instruments.speed import Speed, Target
from denv.records import Side
from tests.cli.conftest import denv, home, serve
from tests.client.test_proxy_tls import authority, server_tls

__all__ = ["authority", "bench", "denv", "home", "serve", "server_tls"]


def run(speed: Speed, machines, *, slots=None):
    """Run a strand to its end, each server a machine."""
    strand = speed.strand(Random(11), slots=slots)
    try:
        asks = next(strand)
        while True:
            assert len({ask.server for ask in asks}) == 1
            asks = strand.send(machines[asks[0].server].answer(asks))
    except StopIteration as end:
        return end.value


@pytest.fixture
def bench():
    """Measure one machine as the stage, and any others by their names."""

    def measured(machine, *, slots=None, others=None, **settings):
        targets = [Target("stage", Side.STAGE)]
        machines = {"stage": machine}
        for target, other in (others or {}).items():
            targets.append(target)
            machines[target.name] = other
        speed = Speed(targets=tuple(targets), **settings)
        return run(speed, machines, slots=slots)

    return measured
