"""What gates ask: texts that tokenizers cut differently, and a few questions."""

from __future__ import annotations

TRICKY: tuple[tuple[str, str], ...] = (
    ("prose", "The lighthouse keeper's daughter wouldn't leave before the fog had lifted."),
    ("spaces", "a  b   c    d     e\t\tf\t g \u00a0h"),
    ("lines", "first\n\nsecond\r\nthird\n\n\n  indented\n\ttabbed\n"),
    ("digits", "7 42 365 1024 86400 3.14159265 1,000,000 0x1F 2026-11-30 00012"),
    ("code", "def f(x: int) -> str:\n    return f'{x:>08b}' if x != 0 else \"zero\"\n"),
    ("json", '{"a": [1, -2.5e10, null], "b": {"c": "\\u00e9\\n", "d": true}}'),
    ("mathematics", "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−f(a)|<ε; ∑ᵢ xᵢ² ≤ ∫₀^∞ e^{-t} dt"),
    ("accents", "Über façade, naïve; Łódź, Škoda, Đà Nẵng; e\u0301 is not é"),
    ("greek-cyrillic", "Καλημέρα κόσμε. Широкая электрификация южных губерний."),
    ("chinese-japanese", "今天的天气怎么样？吾輩は猫である。名前はまだ無い。"),
    ("arabic-hindi", "مرحبا بالعالم، كيف الحال؟ नमस्ते दुनिया, आप कैसे हैं?"),
    ("emoji", "🚢👩🏽‍🚀🇳🇴 ok 👍🏿 ❤️‍🔥 done ☑️"),
    ("control-words", "<|im_start|>user\n</s><s>[INST] <think> <|endoftext|> <tool_call>"),
    ("capitals", "SHOUTING CamelCaseIdentifier snake_case_name kebab-case MiXeD"),
)
"""A name and a text; what looks like a control word must be cut alike as well."""

QUESTIONS: tuple[str, ...] = (
    "Why is the sky blue?",
    "A train leaves at 9:40 and arrives at 12:15. How long does the journey take?",
    "Write a short poem about a river.",
)
"""Asked greedily again and again; they need some thought and more than a few tokens."""

FILLERS: tuple[str, ...] = (
    "Name three rivers of Europe.",
    "What does a compiler do? Answer in two sentences.",
    "Hi",
    "Translate to French: the bread is on the table, and the knife lies beside it.",
)
"""Asked beside the questions, so that batches have another composition each time."""

OPEN_QUESTIONS: tuple[str, ...] = (
    "Hi",
    "Say something.",
    "Name a city.",
    "Name an animal.",
)
"""Many first tokens answer these."""

REPETITION = "Continue this list: ha ha ha ha ha ha ha ha ha ha ha ha ha"

LONG_ANSWER = "Describe in detail how a bicycle is built, part by part."
"""Takes longer than the smallest default limits of servers."""

_SENTENCES = (
    "The market opens at dawn and the stalls are set up along the canal.",
    "A ferry crosses the bay every hour, and in winter it carries the mail.",
    "Behind the mill there is a garden where pears and plums are grown.",
    "The clock in the tower is wound by hand on the first day of the month.",
    "Old maps of the valley show a road that nobody has used for years.",
)

TOKENS_A_SENTENCE = 15


def long_prompt(tokens: int, *, north: str, south: str) -> str:
    """Write a text of about so many tokens with a code at its head and one in its middle."""
    count = max(2, tokens // TOKENS_A_SENTENCE)
    lines = [_SENTENCES[number % len(_SENTENCES)] for number in range(count)]
    lines.insert(count // 2, f"The code of the south gate is {south}.")
    return (
        f"The code of the north gate is {north}. "
        + " ".join(lines)
        + " What are the codes of the north gate and of the south gate? Give both numbers."
    )
