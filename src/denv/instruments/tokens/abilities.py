"""What a side can do, found out by small probes: how it shows its prompts, and how it is forced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.bank import Prompt
from denv.instruments.gates.rendering import Renderer, find_renderer
from denv.instruments.gates.tokenizing import Tokenizer, find_tokenizer
from denv.instruments.probes import CHAT, Probe, SideFacts, Strand, json_of
from denv.instruments.tokens.forcing import (
    PATHS,
    PREFILL,
    PROMPT_LOGPROBS,
    STEPWISE,
    CompletionSteps,
    Echo,
    Forcer,
    ForcingError,
    InputLogprobs,
    PromptLogprobs,
    tops,
)
from denv.instruments.tokens.prefill import FORMS, Prefill
from denv.instruments.tokens.runs import SlotRuns
from denv.instruments.tokens.targets import Target, Text, Unusable, text_of
from denv.observe import observe
from denv.records import Exchange, Json, Side

TOP_OF_CHAT = 20

TRIAL = Prompt(
    "trial",
    "trial",
    ({"role": "user", "content": "Name the four seasons of the year, in their order."},),
    max_tokens=8,
)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one side offers.

    ``special`` says that its prompts begin with a token which their text does not show.
    ``forcers`` are the paths that the trial has shown to work. ``shows_ids`` says that chat
    takes ``return_token_ids``. ``slots`` is how many texts it holds at once, None where it does
    not say. ``warnings`` are for the document.
    """

    side: Side
    tokenizer: Tokenizer | None
    renderer: Renderer | None
    special: bool
    forcers: Mapping[str, Forcer]
    shows_ids: bool
    slots: int | None
    warnings: tuple[str, ...] = ()

    def lanes(self, facts: SideFacts) -> int:
        """Give how many texts are forced side by side."""
        return min(self.slots or facts.concurrency, facts.concurrency)

    def rendered(self, prompt: Prompt) -> Strand[tuple[int, ...] | None]:
        """Give a prompt's ids as the side's chat makes them, None where it does not show them."""
        if self.renderer is None:
            return None
        fields = prompt.fields()
        del fields["max_tokens"]
        found = yield from self.renderer.render(fields)
        if found is None:
            return None
        if self.special and self.tokenizer is not None and found.text is not None:
            cut = yield from self.tokenizer.cut(found.text, special=True)
            return None if cut is None else cut.ids
        return found.ids


def chat_body(prompt: Prompt, *, max_tokens: int, shows_ids: bool) -> dict[str, Json]:
    """Write the greedy chat request for a prompt."""
    body = {
        **prompt.fields(),
        "max_tokens": min(max_tokens, prompt.max_tokens),
        "temperature": 0,
        "seed": 0,
        "stream": False,
        "logprobs": True,
        "top_logprobs": TOP_OF_CHAT,
    }
    return {**body, "return_token_ids": True} if shows_ids else body


def read_text(prompt: Prompt, exchange: Exchange, *, side: Side) -> Text | Unusable:
    """Read a chat's exchange as a text."""
    document = json_of(exchange)
    given = document if isinstance(document, dict) else {}
    return text_of(prompt, observe(exchange), given, side=side)


def find_abilities(side: Side, *, top: int, wanted: Sequence[str] = PATHS) -> Strand[Abilities]:
    """Probe one side.

    ``top`` is how many alternatives are asked for on raw paths. Of ``wanted`` paths, prefill is
    tried only where no other works: each of its positions costs a whole chat request.
    """
    text, shows_ids = yield from _trial_text(side)
    tokenizer = yield from find_tokenizer(side)
    renderer = yield from find_renderer(side, tokenizer)
    bare = Abilities(side, tokenizer, renderer, False, {}, shows_ids, (yield from _slots(side)))
    prompt, special, warnings = yield from _trial_prompt(bare, text)
    forcers: dict[str, Forcer] = {}
    if prompt:
        target = Target(Text(TRIAL, None, (), None), prompt[:-2], prompt[-2:], same_ids=True)
        plain = yield from _plain_token(tokenizer)
        for path in (PROMPT_LOGPROBS, STEPWISE):
            if path in wanted:
                candidates = _candidates(side, path, top=top, plain=plain)
                found = yield from _first_working(candidates, target)
                forcers |= {} if found is None else {path: found}
    if PREFILL in wanted and not forcers and isinstance(text, Text):
        prefill = yield from _prefill(side, text)
        forcers |= {} if prefill is None else {PREFILL: prefill}
    return Abilities(
        side, tokenizer, renderer, special, forcers, shows_ids, bare.slots, tuple(warnings)
    )


def _plain_token(tokenizer: Tokenizer | None) -> Strand[int | None]:
    """Give the id of a token that is a whole character, None where it cannot be had."""
    if tokenizer is None:
        return None
    cut = yield from tokenizer.cut(",")
    return None if cut is None or not cut.ids else cut.ids[-1]


def _trial_text(side: Side) -> Strand[tuple[Text | Unusable, bool]]:
    """Ask the trial prompt, with ids and where they are refused without."""
    for asks_ids in (True, False):
        body = chat_body(TRIAL, max_tokens=TRIAL.max_tokens, shows_ids=asks_ids)
        exchange = yield Probe(side, CHAT, body)
        text = read_text(TRIAL, exchange, side=side)
        if isinstance(text, Text):
            return text, asks_ids
    return text, False


def _slots(side: Side) -> Strand[int | None]:
    exchange = yield Probe(side, "/props")
    document = json_of(exchange)
    slots = document.get("total_slots") if isinstance(document, dict) else None
    return slots if type(slots) is int and slots > 0 else None


def _trial_prompt(
    bare: Abilities, text: Text | Unusable
) -> Strand[tuple[tuple[int, ...] | None, bool, list[str]]]:
    """Render the trial prompt and hold it against the tokens that chat counted."""
    if bare.renderer is None:
        return None, False, []
    fields = TRIAL.fields()
    del fields["max_tokens"]
    shown = yield from bare.renderer.render(fields)
    if shown is None or shown.ids is None:
        return None, False, []
    counted = text.prompt_tokens if isinstance(text, Text) else None
    whole = yield from bare.renderer.counted(shown, counted)
    warnings = []
    if counted is not None and len(whole.ids or ()) != counted:
        warnings.append(
            f"{bare.side}: chat counts {counted} tokens in a prompt that it renders as "
            f"{len(shown.ids)}: what is forced may stand behind another prompt"
        )
    return whole.ids, whole.ids != shown.ids, warnings


def _candidates(side: Side, path: str, *, top: int, plain: int | None) -> list[Forcer]:
    if path == PROMPT_LOGPROBS:
        kinds = (PromptLogprobs, InputLogprobs, Echo)
        return [kind(side, count) for kind in kinds for count in tops(top)]
    steps = [CompletionSteps(side, count, push) for count in tops(top) for push in (True, False)]
    return [SlotRuns(side, top, plain), *steps]


def _first_working(candidates: Sequence[Forcer], target: Target) -> Strand[Forcer | None]:
    """Give the first that reads a distribution at each token of the trial."""
    for forcer in candidates:
        try:
            forced = yield from forcer.force(target, repeat=0)
            if isinstance(forcer, CompletionSteps) and forcer.pushes:
                raw = yield from forcer.moves_nothing(target)
                if not raw:
                    continue
        except ForcingError:
            continue
        if all(entry is not None and len(entry.top) > 1 for entry in forced):
            return forcer
    return None


def _prefill(side: Side, text: Text) -> Strand[Prefill | None]:
    for form in FORMS:
        forcer = Prefill(side, form)
        try:
            works = yield from forcer.trial(text)
        except ForcingError:
            continue
        if works:
            return forcer
    return None
