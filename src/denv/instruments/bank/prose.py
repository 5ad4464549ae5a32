"""Prompts for prose: telling, explaining, arguing, rewriting, with and without a system message."""

from __future__ import annotations

from denv.instruments.bank.prompt import Message, Prompt, asked, say

CATEGORY = "prose"
MAX_TOKENS = 96

_ASKED = {
    "lighthouse": "Write the opening paragraph of a story about a lighthouse keeper who finds a "
    "door that was not there the day before.",
    "tides": "Explain to a curious adult why there are two high tides on most days, not one.",
    "letter": "Write a short, polite letter to a neighbour whose apple tree has begun to lean "
    "over your fence.",
    "bread": "Describe, step by step, how dough changes between mixing and baking, and why.",
    "argument": "Give the strongest case for and the strongest case against free public "
    "transport in a medium-sized town.",
    "rewrite": 'Rewrite this so that it is clear and half as long: "In the event that the '
    "machine should at any point come to a stop, it is recommended that the person who is "
    "operating it at that time should first of all make sure that the power has been turned "
    'off before making any attempt to look inside."',
    "market": "Describe a street market at dawn by its sounds alone.",
    "glass": "Why does a thick glass sometimes crack when boiling water is poured into it, while "
    "a thin one survives?",
    "obituary": "Write a warm obituary for an invented clockmaker who never owned a watch.",
    "summary": "Summarise in three sentences: The council met on Tuesday to discuss the old "
    "bridge. Engineers reported that two of its five arches had shifted since the flood in "
    "spring, though not beyond what repairs could mend. Shop owners on the far bank asked that "
    "it stay open on weekdays. The council voted, seven to two, to close it at night, to begin "
    "repairs in autumn, and to look again at the cost of a new one within two years.",
    "seeds": "How does a seed in dark soil know which way is up?",
    "interview": "Invent an interview of four questions and answers with the last person who "
    "still repairs umbrellas in a large city.",
    "comparison": "Compare travelling by night train with travelling by early flight, for "
    "someone who has one meeting at ten in the morning.",
    "poem": "Write a poem of eight lines about a staircase, without using the words up or down.",
    "history": "Describe how people kept food cold before there were refrigerators, from the "
    "simplest method to the most elaborate.",
    "dialogue": "Write a dialogue in which two gardeners disagree about a hedge and slowly find "
    "out that they mean different hedges.",
    "review": "Write a review of an imaginary museum of lost luggage, with one complaint in it.",
    "advice": "A friend wants to learn to swim at fifty and is ashamed to start. What would you "
    "tell them?",
}

_WITH_SYSTEM = {
    "terse": (
        "You answer in plain words, without lists, in at most four sentences.",
        "What is the difference between weather and climate?",
    ),
    "guide": (
        "You are a patient guide in a small museum of ships.",
        "My daughter asks why such heavy things float. What do you tell her?",
    ),
    "editor": (
        "You are an editor. You say first what works, then what does not.",
        (
            'Here is my first line: "The rain fell wetly on the wet roofs of the rainy town." What '
            "do you think?"
        ),
    ),
    "pirate": (
        "You speak like the captain of an old sailing ship, whatever you are asked.",
        "How do I keep my houseplants alive while I am away for two weeks?",
    ),
}


def prompts() -> tuple[Prompt, ...]:
    """Give the prompts of this category."""
    plain = [asked(CATEGORY, name, text, max_tokens=MAX_TOKENS) for name, text in _ASKED.items()]
    led = [
        _prompt(name, say("system", lead), say("user", text))
        for name, (lead, text) in _WITH_SYSTEM.items()
    ]
    return (*plain, *led, *_conversations())


def _conversations() -> tuple[Prompt, ...]:
    """Give prompts of several turns, which show whether earlier ones are still seen."""
    return (
        _prompt(
            "turns-name",
            say("user", "I am writing about a cat called Quill who lives in a printing shop."),
            say("assistant", "A good place for a cat: warm machines, paper to sleep on, and ink "
                "to step into. What should happen to Quill?"),
            say("user", "You choose. Give me the first paragraph."),
        ),
        _prompt(
            "turns-correction",
            say("user", "How many legs does a spider have?"),
            say("assistant", "A spider has six legs."),
            say("user", "Are you sure? Explain how spiders and insects differ."),
        ),
    )  # fmt: skip


def _prompt(name: str, *messages: Message) -> Prompt:
    return Prompt(f"{CATEGORY}-{name}", CATEGORY, messages, max_tokens=MAX_TOKENS)
