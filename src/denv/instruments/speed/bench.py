"""The course of a speed run: warm up, fill the prompt cache once, decode, then load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from denv.errors import HarnessError
from denv.instruments.probes import Cost
from denv.instruments.speed.asking import Strand
from denv.instruments.speed.drafts import Drafting, drafting_of
from denv.instruments.speed.figures import best_of, load_figures
from denv.instruments.speed.notes import notes_of
from denv.instruments.speed.prompts import cut, questions, register
from denv.instruments.speed.servers import Arm, Server, Target
from denv.records import Json, Side

SCHEMA = "denv.bench.speed/1"
NAME = "speed"

CALIBRATED_ON = 600
"""Characters of the text from which a server's tokens per character are taken."""

WARM_UP_TOKENS = 200
"""About so many prompt tokens a warm-up has on average."""


@dataclass(frozen=True, slots=True)
class Speed:
    """A speed run with all its settings.

    ``depths`` are prompt lengths in tokens, ``levels`` numbers of requests at once, ``drafts``
    the draft lengths that are asked of the stage. Each figure is of ``rounds`` answers of at
    most ``tokens`` tokens, after one that is not counted.
    """

    targets: tuple[Target, ...] = (Target("stage", Side.STAGE),)
    rounds: int = 3
    tokens: int = 64
    depths: tuple[int, ...] = (512, 2048, 8192)
    levels: tuple[int, ...] = (1, 2, 4)
    drafts: tuple[int, ...] = ()

    def settings(self) -> Mapping[str, Json]:
        """Give all that decides what is asked, as strict JSON."""
        return {
            "rounds": self.rounds,
            "tokens": self.tokens,
            "depths": list(self.depths),
            "concurrency": list(self.levels),
            "drafts": list(self.drafts),
        }

    def cost(self) -> Mapping[str, Cost]:
        """Estimate what each server will be asked, at the most."""
        return {target.name: self._cost_of(target) for target in self.targets}

    def _cost_of(self, target: Target) -> Cost:
        asked = self._is_asked_for_drafts(target)
        warm_ups = 4 if asked else 2
        warm = Cost(warm_ups, warm_ups * WARM_UP_TOKENS, warm_ups * self.tokens)
        total = warm
        arms = len(self.drafts) if asked else 1
        for before, depth in zip((0, *self.depths), self.depths, strict=False):
            steps = [int(step) for step in _steps(before, depth, self.rounds)]
            total += Cost(len(steps), sum(steps), len(steps))
            each = arms * (1 + self.rounds)
            total += Cost(each, each * depth, each * self.tokens)
        each = sum(self.levels) * (1 + self.rounds)
        return total + Cost(each, each * self.depths[0], each * self.tokens)

    def _is_asked_for_drafts(self, target: Target) -> bool:
        return target.side is Side.STAGE and bool(self.drafts)

    def strand(
        self, rng: Random, *, slots: Mapping[str, int | None] | None = None
    ) -> Strand[Mapping[str, Json]]:
        """Ask everything, and give the document's own part.

        ``slots`` says how many requests a server works on at once, where it has told.
        """
        seed = rng.random()
        warm_text = register(rng, characters=CALIBRATED_ON)
        # One seed: all servers are asked the same questions in the same order.
        servers = [Server(target, questions(Random(seed))) for target in self.targets]  # noqa: S311
        for server in servers:
            yield from self._warm_up(server, cut(warm_text, CALIBRATED_ON))
        drafting = yield from self._drafting(servers[0])
        longest = max(server.characters(self.depths[-1]) for server in servers)
        text = register(rng, characters=int(longest) + 200)
        depths = []
        for before, depth in zip((0, *self.depths), self.depths, strict=False):
            for server in servers:
                yield from self._fill(server, text, before=before, depth=depth)
            depths.append((yield from self._depth(servers, text, depth, drafting)))
        load = yield from self._load(servers, text)
        _check_any(depths, load)
        body: dict[str, Json] = {
            "drafting": {"state": drafting.state, "says": drafting.says},
            "depths": depths,
            "load": load,
        }
        facts = [{**s.facts(), "slots": (slots or {}).get(s.target.name)} for s in servers]
        return {**body, "notes": notes_of(body, facts, self.tokens)}

    # ------------------------------------------------------------ warm-up

    def _warm_up(self, server: Server, text: str) -> Strand[None]:
        """Wake the server, and learn how many tokens it makes of a text."""
        short = yield from server.ask("", self.tokens)
        long = yield from server.ask(text, self.tokens)
        if short.problem is not None:
            raise HarnessError(
                f"the {server.target.name} gives no stream: {' '.join(str(short.problem).split())}"
            )
        server.calibrate(short, long, characters=len(text))

    def _drafting(self, stage: Server) -> Strand[Drafting]:
        if any(target.draft is not None for target in self.targets):
            return Drafting("servers", "each column is a server that was started with its length")
        if not self.drafts:
            return Drafting("not-asked", "no draft lengths were asked for")
        most, least = max(self.drafts), min(self.drafts)
        question = next(stage.asked)
        # The longest first: a cache of drafts would lend its length to the second answer.
        longest = yield from stage.ask("", self.tokens, draft=most, question=question)
        shortest = yield from stage.ask("", self.tokens, draft=least, question=question)
        return drafting_of(longest, shortest, most=most, least=least)

    # ------------------------------------------------------------ depth

    def _fill(self, server: Server, text: str, *, before: int, depth: int) -> Strand[None]:
        """Bring the prompt cache from one depth to the next, in as many steps as there are rounds.

        The cache is paid once, and each step is a measurement of the prefill.
        """
        server.steps = []
        # What the question alone takes is no part of the text that is divided.
        for step in _steps(max(before, server.overhead), depth, self.rounds):
            if server.closed is not None:
                return
            sample = yield from server.ask(cut(text, server.characters(step)), 1)
            server.steps.append(sample)
            if sample.problem is not None:
                server.closed = f"refused at {depth} tokens: {sample.problem}"
                return
        server.filled = True

    def _depth(
        self, servers: Sequence[Server], text: str, depth: int, drafting: Drafting
    ) -> Strand[Mapping[str, Json]]:
        arms = [
            Arm(server, draft)
            for server in servers
            if server.closed is None
            for draft in self._lengths(server.target, drafting)
        ]
        for number in range(1 + self.rounds):
            # Each round begins with another arm, so that none is always asked first.
            for arm in _rotated(arms, number):
                prompt = cut(text, arm.server.characters(depth))
                sample = yield from arm.server.ask(prompt, self.tokens, draft=arm.draft)
                if number > 0:
                    arm.samples.append(sample)
        cells = [arm.cell() for arm in arms]
        return {
            "depth": depth,
            "servers": [server.row() for server in servers],
            "cells": cells,
            "best": {
                side.value: best_of([cell for cell in cells if cell["side"] == side.value])
                for side in Side
            },
        }

    def _lengths(self, target: Target, drafting: Drafting) -> Sequence[int | None]:
        return self.drafts if self._is_asked_for_drafts(target) and drafting.settable else (None,)

    # ------------------------------------------------------------ load

    def _load(self, servers: Sequence[Server], text: str) -> Strand[list[Mapping[str, Json]]]:
        rows: list[Mapping[str, Json]] = []
        for level in self.levels:
            for server in servers:
                if not server.filled:
                    continue
                prompt = cut(text, server.characters(self.depths[0]))
                rounds = []
                for number in range(1 + self.rounds):
                    answers = yield from server.ask_together(prompt, self.tokens, level)
                    if number > 0:
                        rounds.append(answers)
                rows.append({"concurrency": level, **server.names(), **load_figures(rounds)})
        return rows


def _steps(before: float, depth: float, rounds: int) -> list[float]:
    """Give nested depths from one to the next, the last one being the next."""
    return [before + (depth - before) * step / rounds for step in range(1, rounds + 1)]


def _rotated(arms: Sequence[Arm], number: int) -> Sequence[Arm]:
    at = number % len(arms) if arms else 0
    return [*arms[at:], *arms[:at]]


def _check_any(depths: Sequence[Mapping[str, Json]], load: Sequence[Mapping[str, Json]]) -> None:
    cells = [cell for row in depths for cell in row["cells"]] + list(load)
    if any(cell["tokens_per_s"] is not None for cell in cells):
        return
    rows = [row for depth in depths for row in depth["servers"]]
    reasons = [one["reason"] for one in [*cells, *rows] if one["reason"] is not None]
    raise HarnessError(f"nothing could be measured: {reasons[0] if reasons else 'no answers'}")
