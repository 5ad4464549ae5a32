"""llama.cpp, whose slots keep their prompt: texts are forced at the speed of their generation.

The server is asked to go on greedily behind the forced part. As long as it says what the text
says, its answer holds the distribution at each of the text's tokens, read in the very state in
which it would generate them; behind the first other token the rest is thrown away, and the next
request puts the text's own token in its place. Where it is expected to part soon, one token is
asked for at a time, biased towards the text's own, whose raw logprob is then listed even where
it is not among the likeliest.

How a prompt is read depends on what is read beside it, and its logprobs with it, by some tenths
of a nat. So texts go on in rounds: all slots ask for as many tokens at once, which the server
computes side by side, and a text begins between two rounds, while nothing else is under way.
Single tokens have the same values alone and beside others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from denv.instruments.probes import Strand, Together
from denv.instruments.tokens.forcing import STEPWISE, Forced, ForcingError, asked
from denv.instruments.tokens.readings import Readings, centred, of_entries
from denv.instruments.tokens.targets import Target
from denv.records import Json, Side, TokenLogprob

COMPLETION = "/completion"

BIAS = 1000.0
"""Added to a logit, it outweighs every other; the listed values are those from before it."""

RUNS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
"""Tokens that one request may ask for."""

OVERHEAD_ALONE, OVERHEAD_TOGETHER = 0.25, 0.55
"""What a request costs besides its tokens, in tokens.

Of several that are sent at once the server begins with the first alone, so that the others lose
a token's time.
"""

PRIOR_AGREED, PRIOR_SEEN = 19, 20
"""Before anything was seen, 19 of 20 tokens are expected to agree."""

MOST_NEW_TOKENS = 8
"""A prompt of which more is new than this was not kept from the request before."""

FIELDS = ("completion_probabilities", "tokens_evaluated", "tokens_predicted", "timings/prompt_n")


@dataclass(slots=True)
class Pace:
    """How many tokens are asked for at once.

    ``agreed`` of ``seen`` tokens were what the server would have said; ``single`` says that it
    cannot take back what it generated, and so must be asked one token at a time.
    """

    agreed: int = 0
    seen: int = 0
    single: bool = False

    def best_run(self, texts: int = 1) -> int:
        r"""Give the length of run with the most tokens taken for what it costs.

        With agreement :math:`a` a run of m gives :math:`(1-a^m)/(1-a)` tokens, the one that
        differs among them, and costs m and the overhead of a request.

        Examples
        --------
        >>> [Pace(agreed=n, seen=100).best_run(texts=4) for n in (50, 90, 99, 100)]
        [1, 3, 8, 12]
        """
        overhead = OVERHEAD_ALONE if texts == 1 else OVERHEAD_TOGETHER
        agreement = (self.agreed + PRIOR_AGREED) / (self.seen + PRIOR_SEEN)
        return max(RUNS, key=lambda m: (1 - agreement**m) / (1 - agreement) / (m + overhead))

    def learn(self, taken: Sequence[TokenLogprob]) -> None:
        """Take note of tokens of a text, and of what the server would have said."""
        self.seen += len(taken)
        self.agreed += sum(map(_is_likeliest, taken))


@dataclass(slots=True)
class Progress:
    """A text on its slot: what was read so far, and why no more can be.

    Up to the token ``alone_to`` each is asked for by itself.
    """

    target: Target
    slot: int
    repeat: int
    found: list[TokenLogprob] = field(default_factory=list)
    alone_to: int = 1
    failure: str | None = None

    @property
    def left(self) -> int:
        """How many tokens are to be read."""
        return len(self.target.ids) - len(self.found)

    @property
    def over(self) -> bool:
        """Whether nothing more is asked."""
        return self.left == 0 or self.failure is not None


@dataclass(frozen=True, slots=True)
class SlotRuns:
    """``/completion`` with ids, each text on a slot of its own.

    ``plain`` is the id of a token that is text by itself: of a token that is only a part of a
    character nothing is listed, so this one is chosen in its place where there is one.
    """

    side: Side
    top: int
    plain: int | None = None
    path: ClassVar[str] = STEPWISE
    needs_ids: ClassVar[bool] = True

    def force(self, target: Target, *, repeat: int) -> Strand[Forced]:
        """Read the distribution at each token of one text."""
        (found,) = yield from self.force_all([target], slots=1, repeat=repeat)
        if isinstance(found, str):
            raise ForcingError(found)
        return found

    def force_all(
        self, targets: Sequence[Target], *, slots: int, repeat: int
    ) -> Strand[list[Forced | str]]:
        """Read those of many texts over the slots, in their order; a failed one is its reason."""
        texts = [Progress(target, -1, repeat) for target in targets]
        waiting, pace = deque(texts), Pace()
        # With another first slot the second pass is not the first one again.
        free = deque((number + repeat) % slots for number in range(slots))
        active: list[Progress] = []
        while waiting or active:
            while waiting and free:
                text = waiting.popleft()
                text.slot = free.popleft()
                yield from self._advance(text, 1, pace)
                active.append(text)
            count = pace.best_run(len(active))
            going_on = [text for text in active if not text.over]
            yield Together([self._advance(text, count, pace) for text in going_on])
            free.extend(text.slot for text in active if text.over)
            active = [text for text in active if not text.over]
        return [text.failure or tuple(text.found) for text in texts]

    def _advance(self, text: Progress, count: int, pace: Pace) -> Strand[None]:
        """Read as many tokens of a text as one request gives."""
        at = len(text.found)
        alone = count == 1 or pace.single or at < text.alone_to
        try:
            if alone:
                taken = [(yield from self._single(text, pace))]
            else:
                taken = yield from self._several(text, min(count, text.left), pace)
        except ForcingError as error:
            text.failure = str(error)
            return
        pace.learn(taken)
        text.found += taken

    def _single(self, text: Progress, pace: Pace) -> Strand[TokenLogprob]:
        token_id = text.target.ids[len(text.found)]
        for pushed in (token_id, self.plain):
            if pushed is not None:
                entries, _ = yield from self._run(text, 1, pace, pushed=pushed)
                if entries:
                    return centred(entries[0], token_id=token_id)
        raise ForcingError(f"{COMPLETION} gave no probabilities")

    def _several(self, text: Progress, count: int, pace: Pace) -> Strand[list[TokenLogprob]]:
        at = len(text.found)
        entries, whole = yield from self._run(text, count, pace)
        taken = _taken(entries, text.target.ids[at:]) if whole else []
        if not taken:
            # Its token is not listed, or some are missing and which ones cannot be told.
            text.alone_to = at + (1 if whole else count)
        return taken

    def _run(
        self, text: Progress, count: int, pace: Pace, *, pushed: int | None = None
    ) -> Strand[tuple[Readings, bool]]:
        """Ask once; give the entries, and whether there is one for each generated token."""
        target, at = text.target, len(text.found)
        body: dict[str, Json] = {
            "prompt": [*target.prompt, *target.ids[:at]],
            "n_predict": count,
            "n_probs": self.top,
            "temperature": 0,
            "seed": 0,
            "cache_prompt": at > 0,
            "id_slot": text.slot,
            "response_fields": list(FIELDS),
            "stream": False,
        }
        if pushed is not None:
            body["logit_bias"] = [[pushed, BIAS]]
        document = yield from asked(self.side, COMPLETION, body, repeat=text.repeat)
        if at > 0 and _count(document, "timings/prompt_n") > MOST_NEW_TOKENS:
            pace.single = True
        entries = of_entries(document.get("completion_probabilities")) or ()
        return entries, len(entries) == _count(document, "tokens_predicted")


def _taken(entries: Readings, ids: Sequence[int]) -> list[TokenLogprob]:
    """Give the entries of the text's own tokens, up to the first where the server would part."""
    taken = []
    for entry, token_id in zip(entries, ids, strict=False):
        own = centred(entry, token_id=token_id)
        if own.logprob is not None:
            taken.append(own)
        if entry.id != token_id:
            break
    return taken


def _is_likeliest(entry: TokenLogprob) -> bool:
    listed = [one.logprob for one in entry.top if one.logprob is not None]
    return bool(listed) and entry.logprob is not None and entry.logprob >= max(listed)


def _count(document: Mapping[str, Json], name: str) -> int:
    count = document.get(name)
    return count if type(count) is int else 0
