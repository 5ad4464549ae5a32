"""What a reader of the figures must know, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from denv.records import Json

CUT_BELOW = 0.75
"""A prompt with fewer tokens than this share of what was sent has been cut by the server."""

FRESH_AT_MOST = 100
"""So many prompt tokens are new to a warm cache at the most: the question, and the template's."""

APART = 0.2
"""Client and server whose decode rates differ by more have something between them."""


def notes_of(
    body: Mapping[str, Json], servers: Sequence[Mapping[str, Json]], tokens: int
) -> list[str]:
    """Give the sentences, each once."""
    cells = [(row["depth"], cell) for row in body["depths"] for cell in row["cells"]]
    found = [
        *(note for server in servers for note in _of_server(server)),
        *(note for depth, cell in cells for note in _of_cell(depth, cell, tokens)),
        *_of_drafts(body, [cell for _, cell in cells]),
        *_of_load(body["load"], {server["server"]: server["slots"] for server in servers}),
    ]
    return list(dict.fromkeys(found))


def _of_server(server: Mapping[str, Json]) -> Iterator[str]:
    name = server["server"]
    if server["counted_by"] == "events":
        yield f"the {name} tells no token counts: events of its stream are counted as tokens"
    if server["hidden"]:
        yield f"the {name} does not stream its thoughts: they are in the time to the first token"
    if not server["tells_drafts"]:
        yield f"the {name} does not tell its drafts, so the time of one evaluation is not known"


def _of_cell(depth: int, cell: Mapping[str, Json], tokens: int) -> Iterator[str]:
    name, prompt, cached = cell["server"], cell["prompt_tokens"], cell["cached_tokens"]
    if prompt is not None and prompt["median"] < CUT_BELOW * depth:
        yield (
            f"the {name} counted {prompt['median']:.0f} tokens of a prompt of about {depth}: "
            "it cut the prompt, or counts otherwise"
        )
    if prompt is not None and cached is not None and _pays_again(prompt, cached):
        yield (
            f"the {name} had cached {cached['median']:.0f} of {prompt['median']:.0f} prompt "
            f"tokens at depth {depth}: each request pays the prompt again"
        )
    if cell["usable"] and cell["completion_tokens"] < 0.9 * tokens * cell["usable"]:
        yield f"answers of the {name} ended before {tokens} tokens at depth {depth}"
    if cell["retried"]:
        yield f"{cell['retried']} tries of requests to the {name} failed at depth {depth}"
    yield from _of_rates(depth, cell)


def _pays_again(prompt: Mapping[str, Json], cached: Mapping[str, Json]) -> bool:
    paid = float(prompt["median"]) - float(cached["median"])
    return paid > max(FRESH_AT_MOST, float(prompt["median"]) / 2)


def _of_rates(depth: int, cell: Mapping[str, Json]) -> Iterator[str]:
    rate, told = cell["tokens_per_s"], cell["server_side"]
    if rate is None:
        if cell["asked"]:
            yield (
                f"only {cell['usable']} of {cell['asked']} answers of the {cell['server']} at "
                f"depth {depth} could be used ({cell['reason']})"
            )
    elif told is not None:
        own = told["tokens_per_s"]["median"]
        if abs(rate["median"] - own) > APART * own:
            yield (
                f"at depth {depth} the {cell['server']} itself tells {own:.1f} tokens/s where "
                f"{rate['median']:.1f} arrive: something lies between"
            )


def _of_drafts(body: Mapping[str, Json], cells: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    drafting = body["drafting"]
    if any(cell["drafts"] is not None for cell in cells):
        yield (
            "drafts are accepted as often as the text is foreseeable: these rates hold for "
            "stories, and other texts have others"
        )
        if drafting["state"] == "not-asked":
            yield "drafts were made: --draft or --draft-server compares their lengths"
    for cell in cells:
        drafts, length = cell["drafts"], cell["draft"]
        if drafts is None or length is None:
            continue
        if drafts["drafted"] > length * (drafts["evaluations"] + cell["usable"]):
            yield (
                f"the {cell['server']} drafted {drafts['drafted']} tokens in "
                f"{drafts['evaluations']} evaluations, more than {length} a step"
            )


def _of_load(load: Sequence[Mapping[str, Json]], slots: Mapping[str, int | None]) -> Iterator[str]:
    for row in load:
        has = slots[row["server"]]
        if has is not None and row["concurrency"] > has:
            yield f"the {row['server']} has {has} slots: more requests at once wait for one"
        if row["tokens_per_s"] is None:
            yield (
                f"only {row['usable']} of {row['asked']} answers of the {row['server']} with "
                f"{row['concurrency']} at once could be used ({row['reason']})"
            )
