"""llama.cpp, whose slots keep their prompt: texts are forced at the speed of their generation.

The server is asked to go on greedily behind the forced part. As long as it says what the text
says, its answer holds the distribution at each of the text's tokens, read in the very state in
which it would generate them; behind the first other token the rest is thrown away, and the next
request puts the text's own token in its place. Where it is expected to part soon, one token is
asked for at a time, biased towards the text's own, whose raw logprob is then listed even where
it is not among the likeliest.

How a prompt is read depends on what is read beside it, and its logprobs with it, by some tenths
of a nat. So texts go on in rounds: one request names the prompts of all slots and asks for as
many tokens of each, which the server computes side by side; a text begins between two rounds,
while nothing else is under way. Single tokens have the same values alone and beside others.

The server finds the slot of each prompt by itself. Where it read a prompt anew, that was beside
others: the whole answer is dropped, the texts begin again one by one, and from then on each has
a request of its own that names its slot.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from denv.instruments.probes import Probe, Strand, Together
from denv.instruments.tokens.forcing import STEPWISE, Forced, ForcingError, asked, parsed
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

Of several requests that are sent at once the server begins with the first alone, so that the
others lose a token's time; one request for several texts begins with all.
"""

PRIOR_AGREED, PRIOR_SEEN = 19, 20
"""Before anything was seen, 19 of 20 tokens are expected to agree."""

MOST_NEW_TOKENS = 8
"""A prompt of which more is new than this was not kept from the request before."""

FIELDS = (
    "index",
    "completion_probabilities",
    "tokens_evaluated",
    "tokens_predicted",
    "timings/prompt_n",
)


@dataclass(slots=True)
class Pace:
    """How many tokens are asked for at once.

    ``agreed`` of ``seen`` tokens were what the server would have said. ``apart`` says that it
    does not take several prompts or loses their slots, so that each text has a request of its
    own; ``single`` that it cannot take back what it generated, and is asked one token at a time.
    """

    agreed: int = 0
    seen: int = 0
    apart: bool = False
    single: bool = False

    def best_run(self, texts: int) -> int:
        r"""Give the length of run with the most tokens taken for what it costs.

        With agreement :math:`a` a run of m gives :math:`(1-a^m)/(1-a)` tokens, the one that
        differs among them, and costs m and the overhead of a request.

        Examples
        --------
        >>> [Pace(n, 100, apart=True).best_run(texts=4) for n in (50, 90, 99, 100)]
        [1, 3, 8, 12]
        >>> [Pace(n, 100).best_run(texts=4) for n in (50, 90, 99, 100)]
        [1, 2, 6, 8]
        """
        if self.single:
            return 1
        overhead = OVERHEAD_TOGETHER if self.apart and texts > 1 else OVERHEAD_ALONE
        agreement = (self.agreed + PRIOR_AGREED) / (self.seen + PRIOR_SEEN)
        return max(RUNS, key=lambda m: (1 - agreement**m) / (1 - agreement) / (m + overhead))

    def learn(self, taken: Sequence[TokenLogprob]) -> None:
        """Take note of tokens of a text, and of what the server would have said."""
        self.seen += len(taken)
        self.agreed += sum(map(_is_likeliest, taken))


@dataclass(slots=True)
class Progress:
    """A text on its slot: what was read so far, and why no more can be.

    ``held`` says that the slot holds its prompt and what was read; else it begins alone. Up to
    the token ``alone_to`` each is asked for by itself.
    """

    target: Target
    slot: int = -1
    found: list[TokenLogprob] = field(default_factory=list)
    held: bool = False
    alone_to: int = 1
    failure: str | None = None

    @property
    def left(self) -> tuple[int, ...]:
        """The ids that are to be read."""
        return self.target.ids[len(self.found) :]

    @property
    def over(self) -> bool:
        """Whether nothing more is asked."""
        return not self.left or self.failure is not None

    @property
    def alone(self) -> bool:
        """Whether its next token is asked for by itself."""
        return len(self.found) < self.alone_to

    @property
    def prompt(self) -> list[int]:
        """Everything ahead of the next token."""
        return [*self.target.prompt, *self.target.ids[: len(self.found)]]

    def lost(self, document: Mapping[str, Json]) -> bool:
        """Whether the server read anew what its slot should have held."""
        return self.held and _count(document, "timings/prompt_n") > MOST_NEW_TOKENS

    def take(self, taken: Sequence[TokenLogprob], pace: Pace) -> None:
        """Go on by what was read."""
        pace.learn(taken)
        self.found += taken
        self.held = True


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
        """Read many texts over the slots, in their order; a text that failed is its reason.

        With ``repeat`` 1 the first one goes to another slot.
        """
        texts = [Progress(target) for target in targets]
        waiting, pace = deque(texts), Pace()
        free = deque((number + repeat) % slots for number in range(slots))
        active: list[Progress] = []
        while waiting or active:
            while waiting and free:
                active.append(waiting.popleft())
                active[-1].slot = free.popleft()
            for text in active:
                if not text.held:
                    yield from self._read_one(text, pace, repeat=repeat)
            going_on = [text for text in active if not text.over]
            yield Together(self._round(going_on, pace, repeat=repeat))
            free.extend(text.slot for text in active if text.over)
            active = [text for text in active if not text.over]
        return [text.failure or tuple(text.found) for text in texts]

    def _round(self, texts: Sequence[Progress], pace: Pace, *, repeat: int) -> list[Strand[None]]:
        """Give the requests by which each text goes on once."""
        count = pace.best_run(len(texts))
        # A run of one token is asked for by itself, too, where it does not spare a request.
        one_each = count == 1 and (pace.apart or pace.single)
        ones = [text for text in texts if one_each or text.alone]
        runs = [text for text in texts if not (one_each or text.alone)]
        strands = [self._read_one(text, pace, repeat=repeat) for text in ones]
        if pace.apart or len(runs) == 1:
            strands += [self._read_run(text, count, pace, repeat=repeat) for text in runs]
        elif runs:
            strands.append(self._read_runs(runs, count, pace, repeat=repeat))
        return strands

    def _read_one(self, text: Progress, pace: Pace, *, repeat: int) -> Strand[None]:
        """Read the next token by itself, pushed so that it is listed."""
        for pushed in (text.left[0], self.plain):
            if pushed is None:
                continue
            body = self._body(text.prompt, 1, cached=text.held)
            body |= {"id_slot": text.slot, "logit_bias": [[pushed, BIAS]]}
            try:
                document = yield from asked(self.side, COMPLETION, body, repeat=repeat)
            except ForcingError as error:
                text.failure = str(error)
                return
            pace.single |= text.lost(document)
            entries = of_entries(document.get("completion_probabilities"))
            if entries:
                text.take([centred(entries[0], token_id=text.left[0])], pace)
                return
        text.failure = f"{COMPLETION} gave no probabilities"

    def _read_run(self, text: Progress, count: int, pace: Pace, *, repeat: int) -> Strand[None]:
        """Read a run of one text, from its own slot."""
        body = self._body(text.prompt, min(count, len(text.left)), cached=True)
        body["id_slot"] = text.slot
        try:
            document = yield from asked(self.side, COMPLETION, body, repeat=repeat)
        except ForcingError as error:
            text.failure = str(error)
            return
        pace.single |= text.lost(document)
        _take_run(text, document, count, pace)

    def _read_runs(
        self, texts: Sequence[Progress], count: int, pace: Pace, *, repeat: int
    ) -> Strand[None]:
        """Read runs of several texts by one request; drop all of it where that did not work."""
        count = min(count, max(len(text.left) for text in texts))
        body = self._body([text.prompt for text in texts], count, cached=True)
        exchange = yield Probe(self.side, COMPLETION, body, repeat)
        documents = _in_order(parsed(exchange), len(texts))
        pairs = list(zip(texts, documents or (), strict=False))
        if documents is None or any(text.lost(document) for text, document in pairs):
            pace.apart = True
            for text in texts:
                text.held = False
            return
        for text, document in pairs:
            _take_run(text, document, count, pace)

    def _body(self, prompt: Json, count: int, *, cached: bool) -> dict[str, Json]:
        return {
            "prompt": prompt,
            "n_predict": count,
            "n_probs": self.top,
            "temperature": 0,
            "seed": 0,
            "cache_prompt": cached,
            "response_fields": list(FIELDS),
            "stream": False,
        }


def _in_order(answer: Json, count: int) -> list[Mapping[str, Json]] | None:
    """Give one answer for each of so many prompts, in their order; None where any is not told."""
    found = [one for one in answer if isinstance(one, dict)] if isinstance(answer, list) else []
    by_index = {one["index"]: one for one in found if type(one.get("index")) is int}
    if len(found) != count or by_index.keys() != set(range(count)):
        return None
    return [by_index[number] for number in range(count)]


def _take_run(text: Progress, document: Mapping[str, Json], count: int, pace: Pace) -> None:
    """Take what the server said as the text does, and the token at which it parts."""
    entries = of_entries(document.get("completion_probabilities")) or ()
    whole = len(entries) == _count(document, "tokens_predicted")
    taken = _taken(entries, text.left) if whole else []
    if not taken:
        # Its token is not listed, or some are missing and which ones cannot be told.
        text.alone_to = len(text.found) + (1 if whole else count)
    text.take(taken, pace)


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
