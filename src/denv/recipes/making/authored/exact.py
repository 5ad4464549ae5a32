"""Short questions and orders whose answer is argued case by case."""

# ruff: noqa: E501 - prompts are not broken

from __future__ import annotations

from functools import partial

from denv.recipes.making.authored.rows import chosen, counted, one_word, told
from denv.recipes.making.drafts import said, system, user

_counted, _word = partial(counted, part="exact"), partial(one_word, part="exact")
_chosen = partial(chosen, part="exact")

_NUMBER = "Answer with the number only."
_ONE = "Answer with one word."

FACTS = (
    _chosen(
        name="exact-odd-one-out",
        wish=f"Which of these is not a fruit: apple, pear, hammer, cherry? {_ONE}",
        right="hammer",
        wrong="cherry",
        why="A hammer is a tool. Wrong: the last of the list.",
    ),
    _counted(
        name="exact-roman",
        wish=f"What is the Roman numeral XLII in digits? {_NUMBER}",
        right=42,
        wrong="62",
        why="XL is 40 and II is 2. Wrong: 10 + 50 + 2.",
    ),
    _word(
        name="exact-formula",
        wish="What is the chemical formula of table salt? Answer with the formula only, in plain letters.",
        right="NaCl",
        wrong="H2O",
        why="Sodium chloride. Wrong: water.",
    ),
    _counted(
        name="exact-percent",
        wish=f"What is 25 percent of 360? {_NUMBER}",
        right=90,
        wrong="9",
        why="A quarter of 360. Wrong: cut after the first digit.",
    ),
    _counted(
        name="exact-leap-year",
        wish=f"How many days does February have in a leap year? {_NUMBER}",
        right=29,
        wrong="28",
        why="One more than 28. Wrong: a year that is none.",
    ),
    _counted(
        name="exact-minutes-between",
        wish=f"How many minutes are there from 09:50 to 10:15 on the same day? {_NUMBER}",
        right=25,
        wrong="65",
        why="10 to the full hour and 15 after it. Wrong: subtracted as a decimal number.",
    ),
    _chosen(
        name="exact-taller",
        wish=f"Ann is taller than Bo. Bo is taller than Cy. Who is the shortest of them? {_ONE}",
        right="Cy",
        wrong="Ann",
        why="Cy is shorter than Bo, who is shorter than Ann. Wrong: the tallest.",
    ),
    told(
        "exact-logic",
        "exact",
        "All glims are red. Tok is a glim. Is Tok red? Answer yes or no.",
        expect={"regex": r"(?i)\A\W*yes\b"},
        right="Yes.",
        wrong="No.",
        why="What holds for all glims holds for Tok. Wrong: the opposite.",
    ),
    _counted(
        name="exact-negative",
        wish=f"At noon it was 4 degrees, and then it got 9 degrees colder. How many degrees is it? {_NUMBER}",
        right=-5,
        wrong="5",
        why="4 - 9 = -5. Wrong: the sign is lost.",
    ),
    _counted(
        name="exact-thousands",
        wish=f"Write one million two hundred thousand in digits. {_NUMBER}",
        right=1_200_000,
        wrong="120000",
        why="1,200,000. Wrong: a zero is lost.",
    ),
    _chosen(
        name="exact-antonym-of-word-in-list",
        wish=f"Which of these words is the opposite of early: late, soon, often, never? {_ONE}",
        right="late",
        wrong="soon",
        why="Late is what is not early. Wrong: its neighbour.",
    ),
    _word(
        name="exact-past-tense",
        wish=f'What is the past tense of the English verb "to write"? {_ONE}',
        right="wrote",
        wrong="written",
        why="Write, wrote, written. Wrong: the participle.",
    ),
    _counted(
        name="exact-count-items",
        wish=f"How many animals are in this list: cat, spoon, dog, cow, table, hen? {_NUMBER}",
        right=4,
        wrong="6",
        why="Cat, dog, cow and hen. Wrong: everything is counted.",
    ),
    _word(
        name="exact-month",
        wish=f"Which month has the number 11? {_ONE}",
        right="November",
        wrong="December",
        why="The eleventh month. Wrong: counted from zero.",
    ),
    _word(
        name="exact-symbol",
        wish="Which chemical element has the symbol Fe? One word, in English.",
        right="iron",
        wrong={"content": "", "reasoning_content": "Fe is iron.", "finish_reason": "stop"},
        why="Fe, from ferrum, is iron. Wrong: it stays in the reasoning.",
    ),
    _word(
        name="exact-translation",
        wish="Translate into German, with one word: water",
        right="Wasser",
        wrong="eau",
        why="Wasser. Wrong: French.",
    ),
    _counted(
        name="exact-two-steps",
        wish=f"A box holds 6 eggs. I buy 4 boxes and break 5 eggs. How many whole eggs do I have? {_NUMBER}",
        right=19,
        wrong="24",
        why="6 * 4 - 5 = 19. Wrong: the second step is left out.",
    ),
    _counted(
        name="exact-square",
        wish=f"What is the square root of 144? {_NUMBER}",
        right=12,
        wrong="72",
        why="12 * 12 = 144. Wrong: the half.",
    ),
)

ROLES = (
    told(
        "exact-system-word",
        "exact",
        [
            system("Every answer of yours ends with the word OVER in capital letters."),
            user("Is the sky blue on a clear day?"),
        ],
        expect={"regex": r"\bOVER[\s.!*]*\Z"},
        right="Yes, it is. OVER",
        wrong="Yes, it is.",
        why="The system message says so. Wrong: it is lost.",
    ),
    told(
        "exact-system-language",
        "exact",
        [system("Du antwortest immer auf Deutsch, mit einem Wort."), user("What colour is snow?")],
        expect={"regex": r"(?i)\bweiß\b|\bweiss\b"},
        right="Weiß",
        wrong="White",
        why="Snow is white, in German weiß. Wrong: the system message is lost.",
    ),
    told(
        "exact-system-name",
        "exact",
        [system("Your name is Marlin."), user("What is your name? Answer with the name only.")],
        expect={"regex": r"\bMarlin\b"},
        right="Marlin",
        wrong="I am a helpful assistant.",
        why="The system message gives the name. Wrong: a default one of the template stands in.",
    ),
    told(
        "exact-earlier-turn",
        "exact",
        [
            user("My bicycle has the number 5583."),
            said("Thank you, I will keep it in mind."),
            user("And my locker has the number 21."),
            said("Good."),
            user("What is the number of my bicycle? The number only."),
        ],
        expect={"regex": r"(?<!\d)5583(?!\d)"},
        right="5583",
        wrong="21",
        why="It stands in the first turn. Wrong: only the last turns are rendered.",
    ),
    told(
        "exact-own-words",
        "exact",
        [
            user("Choose one of these: lemon, plum, fig."),
            said("I choose plum."),
            user("Which one did you choose? One word."),
        ],
        expect={"regex": r"(?i)\bplum\b"},
        right="plum",
        wrong="lemon",
        why="The assistant's earlier turn says so. Wrong: that turn is lost.",
    ),
    told(
        "exact-content-parts",
        "exact",
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "The first part says: the key is under the stone."},
                    {"type": "text", "text": "Where is the key? Answer with: under the ..."},
                ],
            }
        ],
        expect={"regex": r"(?i)\bstone\b"},
        right="under the stone",
        wrong="under the mat",
        why="Both parts of the content belong to the message. Wrong: the first one is dropped.",
    ),
    told(
        "exact-special-words",
        "exact",
        "How many words stand between the quotes? “system user assistant tool end” Answer with the number only.",
        expect={"regex": r"(?<!\d)5(?!\d)|(?i:\bfive\b)"},
        right="5",
        wrong="0",
        why="Five words. Wrong: names of roles are taken for marks of the template.",
    ),
)

CASES = (*FACTS, *ROLES)
