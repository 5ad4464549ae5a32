"""The private part of a run: cases asked among the suite's own, and shown as counts alone."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from denv.encode import dump
from denv.errors import UsageError
from denv.records import Case, Json, LogprobsClose
from denv.runner.drawing import Drawn, Shapes
from denv.suite import Suite

SHAPES_TAG = b"denv.shapes-digest/1\0"
DRAW_TAG = "denv.draw/1"


@dataclass(frozen=True, slots=True)
class PrivatePart:
    """Private cases, made as the suite's own under a secret seed.

    With ``shapes`` each takes on parameters that are drawn from those of traffic, always the same.
    """

    suite: Suite
    shapes: Shapes | None = None

    @property
    def identity(self) -> dict[str, Json]:
        """What must be the same for a run to be continued."""
        return {
            "sha256": self.suite.sha256,
            "cases": self.suite.cases,
            "shapes": None if self.shapes is None else _digest(self.shapes),
        }

    def check(self, suite: Suite) -> None:
        """Refuse a private part that is the suite itself, or of other checks.

        Raises
        ------
        UsageError
            Says what does not fit.
        """
        if self.suite.sha256 == suite.sha256:
            raise UsageError("the private part is the suite itself: nothing of it is private")
        foreign = sorted(self.suite.checks.keys() - suite.checks.keys())
        if foreign:
            raise UsageError(
                f"the private part has {foreign[0]} cases and {suite.name} has none: there is "
                "nothing to compare them with"
            )

    def drawn(self, case: Case) -> Drawn | None:
        """Give what is drawn for a case; None where it is asked as it is written."""
        if self.shapes is None or isinstance(case.check, LogprobsClose):
            return None  # streams often lack logprobs
        seed = f"{DRAW_TAG}/{self.suite.sha256}/{_digest(self.shapes)}/{case.id}"
        return self.shapes.draw(random.Random(seed))  # noqa: S311 - a draw, not a secret

    def iter_cases(self, first: int, last: int, *, offset: int, max_tokens: int) -> Iterator[Case]:
        """Stream the cases ``first`` to ``last``, as cases of the run from ``offset`` on."""
        for case in self.suite.iter_cases(lambda index: first <= index <= last):
            yield self._shaped(replace(case, index=offset + case.index), max_tokens=max_tokens)

    def _shaped(self, case: Case, *, max_tokens: int) -> Case:
        """Raise the case's own ``max_tokens`` to the drawn one, as far as the run's limit."""
        drawn, own = self.drawn(case), case.fields.get("max_tokens")
        if drawn is None or drawn.max_tokens is None or own is None:
            return case
        raised = max(int(own), min(drawn.max_tokens, max_tokens))
        fields: Mapping[str, Json] = {**case.fields, "max_tokens": raised}
        return replace(case, fields=fields)


def _digest(shapes: Shapes) -> str:
    pairs = sorted([d.stream, d.max_tokens or 0, count] for d, count in shapes.pairs)
    return hashlib.sha256(SHAPES_TAG + dump(pairs)).hexdigest()
