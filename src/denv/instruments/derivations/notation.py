r"""The notation of mathematics in models' texts, plain or LaTeX, cut into tokens.

``√2·x²``, ``\sqrt{2} \cdot x^{2}`` and ``sqrt(2)*x**2`` become the same tokens. The text is
only ever cut, within limits that are checked before any arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MAX_LENGTH = 2000
MAX_TOKENS = 500
MAX_DIGITS = 400
MAX_DEPTH = 30


class UnreadableError(ValueError):
    """The text is not an answer in a notation that is known here."""


class BeyondLimitsError(ValueError):
    """The text asks for more work than an answer may cost."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of an answer; ``spaced`` tells whether a space stands before it."""

    kind: Literal["number", "word", "op", "open", "close"]
    text: str
    spaced: bool = False


Tokens = tuple[Token, ...]

# ---------------------------------------------------------------- characters

_ALIKE = str.maketrans({
    **dict.fromkeys("−–—‒﹣－‑⁻", "-"),
    **dict.fromkeys("×·⋅∙•✕✖∗⨯", "*"),
    **dict.fromkeys("÷⁄∕", "/"),
    **dict.fromkeys("\u00a0\u2009\u202f\u2002\u2003\u2007\u2008\u200a\u3000\n\t\r", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff$`", ""),
    "（": "(", "）": ")", "［": "[", "］": "]", "｛": "{", "｝": "}", "，": ",", "；": ";",
    "：": ":", "＝": "=", "＋": "+", "％": "%", "∣": "|", "⟨": "(", "⟩": ")", "〈": "(", "〉": ")",
    "≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "≠": "!=", "≃": "≈", "≅": "≈", "º": "°",
    "∧": r"\land ", "∨": r"\lor ", "√": r"\surd ", "∛": r"\cbrt ", "∞": r"\infty ",
    "∪": r"\cup ", "∅": r"\emptyset ", "ℝ": r"\R ", "ℤ": r"\Z ", "∖": r"\setminus ", "π": r"\pi ",
    "θ": r"\theta ", "λ": r"\lambda ", "α": r"\alpha ", "β": r"\beta ", "ℯ": " e ", "ⅇ": " e ",
    "ⅈ": " i ", "½": " 1/2", "⅓": " 1/3", "⅔": " 2/3", "¼": " 1/4", "¾": " 3/4", "⅕": " 1/5",
    "⅙": " 1/6", "⅛": " 1/8",
})  # fmt: skip

_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˣ]+")
_FROM_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿˣ", "0123456789+-nx")
_FROM_LOWERED = str.maketrans({
    char: f"_{n}" for n, char in enumerate("₀₁₂₃₄₅₆₇₈₉")
})  # fmt: skip

# ---------------------------------------------------------------- LaTeX

_REWRITTEN = (
    (re.compile(r"\\(?:left|right)\s*\."), " "),
    (
        re.compile(
            r"\\(?:text|textrm|textbf|textit|textnormal|mathrm|mathbf|mathit|mathsf|mbox"
            r"|operatorname\*?)\s*\{([^{}]*)\}"
        ),
        r" \1 ",
    ),
    (re.compile(r"\\mathbb\s*(?:\{R\}|R)|\\R(?![A-Za-z])"), " reals "),
    (re.compile(r"\\mathbb\s*(?:\{Z\}|Z)|\\Z(?![A-Za-z])"), " integers "),
    (re.compile(r"\\begin\s*\{(?:[a-zA-Z]?matrix|smallmatrix)\*?\}"), "["),
    (re.compile(r"\\begin\s*\{array\}\s*(?:\{[^{}]*\})?"), "["),
    (re.compile(r"\\end\s*\{(?:[a-zA-Z]?matrix\*?|smallmatrix|array)\}"), "]"),
    (re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ)|\\degree(?![A-Za-z])"), "°"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"(?<!\\)\b(?:approximately|approx\.?|about)(?![A-Za-z])"), "≈"),
    (re.compile(r"\bper\s?cent(?:age)?\b|\bpct\b"), "%"),
)

_DROPPED = frozenset({
    "left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl",
    "biggr", "Biggl", "Biggr", "displaystyle", "textstyle", "limits", "quad", "qquad", "boxed",
    "fbox", "rm", "bf", "it", "space",
})  # fmt: skip
_COMMANDS = {
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "pm": "±", "mp": "∓", "le": "<=",
    "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=", "lt": "<",
    "gt": ">", "ne": "!=", "neq": "!=", "equiv": "≡", "approx": "≈", "in": "∈", "colon": ":",
    "lvert": "|", "rvert": "|", "vert": "|", "mid": "|",
}  # fmt: skip
_BRACKETS = {
    "lbrace": "{", "rbrace": "}", "langle": "(", "rangle": ")", "lbrack": "[", "rbrack": "]",
}  # fmt: skip
_WORDS = {
    "frac": "\\frac", "dfrac": "\\frac", "tfrac": "\\frac", "cfrac": "\\frac",
    "sqrt": "\\sqrt", "surd": "sqrt", "cbrt": "cbrt", "binom": "\\binom", "dbinom": "\\binom",
    "tbinom": "\\binom", "infty": "oo", "cup": "cup", "cap": "and", "lor": "or", "vee": "or",
    "land": "and", "wedge": "and", "setminus": "setminus", "backslash": "setminus",
    "emptyset": "empty", "varnothing": "empty", "pmod": "mod", "bmod": "mod", "mod": "mod",
}  # fmt: skip
GREEK = frozenset({
    "alpha", "beta", "gamma", "delta", "theta", "lambda", "mu", "sigma", "phi", "omega",
})  # fmt: skip
_NAMES = GREEK | {
    "sin", "cos", "tan", "sec", "csc", "cot", "sinh", "cosh", "tanh", "arcsin", "arccos",
    "arctan", "ln", "log", "exp", "pi",
}  # fmt: skip

_PIECES = r"""
    (?P<space>\s+|~|\\[,;:!>\s]|&nbsp;)
  | (?P<number>(?:\d+\.\d*|\.)\\overline\s*\{\d+\}
      | (?:\d+(?:\.\d*)?|\.\d+)EXPONENT)
  | (?P<word>log(?:2|10)(?=\s*\()
      | (?<![A-Za-z])[A-Za-z]\d+(?![A-Za-z(])
      | [A-Za-z]+(?:_\{?[A-Za-z0-9]+\}?)?)
  | (?P<command>\\[a-zA-Z]+(?:_(?:\{[A-Za-z0-9]+\}|[A-Za-z0-9]))?)
  | (?P<escaped>\\[^a-zA-Z])
  | (?P<op>\*\*|<=|>=|!=|={1,3}|\+/-|[-+*/^<>!%,;:|°&±∓∈≡≈'])
  | (?P<open>[(\[{])
  | (?P<close>[)\]}])
    """
_PIECE = re.compile(_PIECES.replace("EXPONENT", r"(?:[eE][+-]?\d+(?![\w.]))?"), re.VERBOSE)
_PIECE_WITH_EULER = re.compile(_PIECES.replace("EXPONENT", ""), re.VERBOSE)
_SAME_OP = {"**": "^", "==": "=", "===": "≡", "+/-": "±", "&": ","}
_KINDS: Mapping[str, Literal["number", "open", "close"]] = {
    "number": "number", "open": "open", "close": "close",
}  # fmt: skip
_ESCAPED = {"\\\\": ";", "\\%": "%", "\\|": "|"}
_DELIMITERS = frozenset({"\\(", "\\)", "\\[", "\\]", "\\$"})

_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:,| |\\,|\\!)\d{3})+(?![\d]|,\d)")
_SEPARATOR = re.compile(r",| |\\,|\\!")


def tokenise(text: str, *, thousands: bool = False, euler: bool = False) -> Tokens:
    r"""Cut an answer into tokens.

    Parameters
    ----------
    text
        The answer as it was declared.
    thousands
        Read ``1,234`` and ``1 234`` as one number.
    euler
        Read ``2e-1`` as twice Euler's number, less 1, and not as 0.2.

    Raises
    ------
    UnreadableError
        There is a character or a LaTeX command that stands for nothing known here.
    BeyondLimitsError
        The text is longer, deeper or has longer numbers than an answer may.

    Examples
    --------
    >>> [token.text for token in tokenise(r"\frac12 x²")]
    ['\\frac', '12', 'x', '^', '(', '2', ')']
    """
    if len(text) > MAX_LENGTH:
        raise BeyondLimitsError(f"the answer has {len(text)} characters")
    text = _plain(text)
    if thousands:
        text = _THOUSANDS.sub(lambda found: _SEPARATOR.sub("", found[0]), text)
    pieces = _PIECE_WITH_EULER if euler else _PIECE
    tokens: list[Token] = []
    position, spaced, depth = 0, False, 0
    while position < len(text):
        piece = pieces.match(text, position)
        if piece is None:
            raise UnreadableError(f"there is a {text[position]!r}")
        position = piece.end()
        token = _token(piece, spaced)
        spaced = token is None and (spaced or piece.lastgroup == "space")
        if token is not None:
            tokens.append(token)
            depth += (token.kind == "open") - (token.kind == "close")
            _check(tokens, depth)
    return tuple(tokens)


def _plain(text: str) -> str:
    text = _RAISED.sub(lambda found: f"^({found[0].translate(_FROM_RAISED)})", text)
    text = text.translate(_FROM_LOWERED).translate(_ALIKE)
    for pattern, replacement in _REWRITTEN:
        text = pattern.sub(replacement, text)
    return text


def _check(tokens: list[Token], depth: int) -> None:
    if len(tokens) > MAX_TOKENS:
        raise BeyondLimitsError(f"the answer has over {MAX_TOKENS} tokens")
    if depth > MAX_DEPTH:
        raise BeyondLimitsError(f"the answer is nested over {MAX_DEPTH} deep")
    last = tokens[-1]
    if last.kind == "number" and len(last.text) > MAX_DIGITS:
        raise BeyondLimitsError(f"a number has {len(last.text)} digits")


def _token(piece: re.Match[str], spaced: bool) -> Token | None:
    found = piece[0]
    match piece.lastgroup:
        case "space":
            return None
        case "command":
            return _command(found[1:], spaced)
        case "escaped":
            return _escaped(found, spaced)
        case "word":
            return _word(found.replace("{", "").replace("}", ""), spaced)
        case "op":
            return Token("op", _SAME_OP.get(found, found), spaced)
    return Token(_KINDS[piece.lastgroup or ""], found, spaced)


def _word(found: str, spaced: bool) -> Token:
    if found == "in":
        return Token("op", "∈", spaced)
    return Token("word", "mod" if found == "modulo" else found, spaced)


def _escaped(found: str, spaced: bool) -> Token | None:
    if found in _ESCAPED:
        return Token("op", _ESCAPED[found], spaced)
    if found[1] in "{}":
        return Token("open" if found[1] == "{" else "close", found[1], spaced)
    if found in _DELIMITERS:
        return None
    raise UnreadableError(f"there is a {found!r}")


def _command(name: str, spaced: bool) -> Token | None:
    if name in _DROPPED:
        return None
    if name in _COMMANDS:
        return Token("op", _COMMANDS[name], spaced)
    if name in _BRACKETS:
        bracket = _BRACKETS[name]
        return Token("open" if bracket in "([{" else "close", bracket, spaced)
    if name in _WORDS:
        return Token("word", _WORDS[name], spaced)
    name, _, lowered = name.partition("_")
    if name in _NAMES:
        index = lowered.strip("{}")
        return Token("word", f"{name}_{index}" if index else name, spaced)
    raise UnreadableError(f"there is a \\{name}")


# ---------------------------------------------------------------- structure


def split(tokens: Tokens, at: frozenset[str]) -> list[Tokens]:
    """Part tokens at operators and words that stand outside of all brackets."""
    parts: list[Tokens] = []
    start = depth = 0
    for n, token in enumerate(tokens):
        depth += (token.kind == "open") - (token.kind == "close")
        if depth == 0 and token.kind in {"op", "word"} and token.text in at:
            parts.append(tokens[start:n])
            start = n + 1
    return [*parts, tokens[start:]]


def enclosed(tokens: Tokens) -> bool:
    """Tell whether the first token opens a bracket that the last one closes."""
    if len(tokens) < 2 or tokens[0].kind != "open" or tokens[-1].kind != "close":
        return False
    depth = 0
    for n, token in enumerate(tokens):
        depth += (token.kind == "open") - (token.kind == "close")
        if depth == 0:
            return n == len(tokens) - 1
    return False
