r"""One expression of an answer, from tokens to a SymPy value; no text is ever evaluated.

The grammar, loosest first::

    sum      = term (("+" | "-") term)*
    term     = factor (("*" | "/" | nothing) factor)*
    factor   = "-" factor | power
    power    = postfix ["^" factor]
    postfix  = atom ("!" | "%")*
    atom     = number | constant | symbol | function argument | bracketed sum | "|" sum "|"
             | \frac, \binom, \sqrt with their arguments

``1/2x`` is read in two ways, ``tight`` as 1/(2x) and else as x/2: people write both.

latex2sympy2 is a second opinion in the tests and does not read answers: it takes 2(3) for the
mixed number 5 and sqrt(3) for the letters q, r, s, t, computes binomials while it parses, and
needs half a minute for twenty nested fractions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

import sympy as sp
from sympy import Expr

from denv.instruments.derivations import bounded
from denv.instruments.derivations.notation import (
    GREEK,
    MAX_DIGITS,
    BeyondLimitsError,
    Token,
    Tokens,
    UnreadableError,
)

MAX_NESTING = 60
_ONE, _MINUS = sp.S.One, sp.S.NegativeOne

CONSTANTS: Mapping[str, Expr] = {
    "pi": sp.pi, "Pi": sp.pi, "e": sp.E, "E": sp.E, "i": sp.I, "I": sp.I,
    "oo": sp.oo, "inf": sp.oo, "infty": sp.oo, "infinity": sp.oo, "Infinity": sp.oo,
}  # fmt: skip
_OVERLINE = re.compile(r"(\d*)\.(\d*)\\overline\s*\{(\d+)\}")
_END = Token("op", "")


def symbols_of(names: Iterable[str], *, positive: bool = False) -> dict[str, Expr]:
    """Make the symbols that an answer may hold, positive or real."""
    assumed = {"positive": True} if positive else {"real": True}
    return {name: sp.Symbol(name, **assumed) for name in names}


def parse(tokens: Tokens, symbols: Mapping[str, Expr], *, tight: bool = False) -> Expr:
    """Read one expression.

    Raises
    ------
    UnreadableError
        The tokens are no expression.
    BeyondLimitsError
        It is nested or grows beyond what an answer may cost.
    """
    if not tokens:
        raise UnreadableError("there is nothing to read")
    reader = _Reader(tokens, symbols, tight=tight)
    value = reader.sum()
    reader.done()
    return value


def number_of(text: str) -> Expr:
    r"""Give the exact value of a numeral, such as ``12``, ``0.5``, ``1e-3``, ``0.\overline{3}``."""
    repeating = _OVERLINE.fullmatch(text)
    if repeating is None:
        exponent = text.lower().partition("e")[2]
        if exponent and abs(int(exponent[:6])) > MAX_DIGITS:
            raise BeyondLimitsError(f"a number has the exponent {exponent[:6]}")
        exact = Fraction(text)
    else:
        whole, fixed, period = repeating.groups()
        shift = 10 ** len(fixed)
        tail = Fraction(int(period), 10 ** len(period) - 1)
        exact = Fraction(int((whole + fixed) or "0") + tail) / shift
    return sp.Rational(exact.numerator, exact.denominator)


class _Reader:
    """A recursive descent over tokens."""

    def __init__(self, tokens: Tokens, symbols: Mapping[str, Expr], *, tight: bool) -> None:
        self._tokens = list(tokens)
        self._symbols = symbols
        self._tight = tight
        self._at = 0
        self._nesting = 0

    # ------------------------------------------------------------ tokens

    def _peek(self, ahead: int = 0) -> Token:
        place = self._at + ahead
        return self._tokens[place] if place < len(self._tokens) else _END

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _is(self, *texts: str) -> bool:
        token = self._peek()
        return token.kind != "number" and token.text in texts

    def done(self) -> None:
        """Refuse what stands behind the expression."""
        if self._at < len(self._tokens):
            raise UnreadableError(f"there is {self._peek().text!r} where nothing more should be")

    # ------------------------------------------------------------ grammar

    def sum(self) -> Expr:
        """Read terms with their signs."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise BeyondLimitsError(f"the answer is nested over {MAX_NESTING} deep")
        terms = [self._term()]
        while self._is("+", "-"):
            minus = self._next().text == "-"
            term = self._term()
            terms.append(bounded.product([_MINUS, term]) if minus else term)
        self._nesting -= 1
        return bounded.total(terms)

    def _term(self) -> Expr:
        value = self._operand()
        while True:
            if self._is("*"):
                self._next()
                value = bounded.product([value, self._operand()])
            elif self._is("/"):
                self._next()
                value = bounded.quotient(value, self._operand())
            elif self._starts_atom():
                value = bounded.product([value, self._power()])
            else:
                return value

    def _operand(self) -> Expr:
        """Read what stands between ``*`` and ``/``, in a tight reading with what touches it."""
        value = self._factor()
        while self._tight and not self._peek().spaced and self._starts_atom():
            value = bounded.product([value, self._power()])
        return value

    def _factor(self) -> Expr:
        negative = False
        while self._is("-", "+"):
            negative ^= self._next().text == "-"
        value = self._power()
        return bounded.product([_MINUS, value]) if negative else value

    def _power(self) -> Expr:
        base = self._postfix()
        if not self._is("^"):
            return base
        self._next()
        return bounded.power(base, self._exponent())

    def _exponent(self) -> Expr:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise BeyondLimitsError(f"powers are stacked over {MAX_NESTING} high")
        value = self._factor()
        self._nesting -= 1
        return value

    def _postfix(self) -> Expr:
        value = self._atom()
        while self._is("!", "%"):
            if self._next().text == "!":
                if self._is("!"):
                    raise UnreadableError("there is a double factorial")
                value = bounded.call("factorial", [value])
            else:
                value = bounded.quotient(value, sp.Integer(100))
        return value

    def _starts_atom(self) -> bool:
        token = self._peek()
        if token.kind == "number":
            # Two numerals side by side are no product, except 2^(3) 5 with brackets between.
            return self._at > 0 and self._peek(-1).kind in {"close", "word"}
        return token.kind in {"word", "open"} or (token.text == "|" and self._opens_bar())

    def _opens_bar(self) -> bool:
        """Tell whether an even number of bars, this one counted, is ahead inside this bracket."""
        depth = bars = 0
        for token in self._tokens[self._at :]:
            depth += (token.kind == "open") - (token.kind == "close")
            if depth < 0:
                break
            bars += token.text == "|" and depth == 0
        return bars % 2 == 0

    # ------------------------------------------------------------ atoms

    def _atom(self) -> Expr:
        token = self._next()
        if token.kind == "number":
            return self._numeral(token)
        if token.kind == "open":
            value = self.sum()
            self._close()
            return value
        if token.text == "|":
            value = self.sum()
            if self._next().text != "|":
                raise UnreadableError("a bar is not closed")
            return bounded.call("Abs", [value])
        if token.kind == "word":
            return self._word(token.text)
        shown = repr(token.text) if token.text else "nothing"
        raise UnreadableError(f"there is {shown} where a number should be")

    def _close(self) -> None:
        if self._next().kind != "close":
            raise UnreadableError("a bracket is not closed")

    def _numeral(self, token: Token) -> Expr:
        whole = number_of(token.text)
        part = self._mixed() if token.text.isdecimal() else None
        return whole if part is None else bounded.total([whole, part])

    def _mixed(self) -> Expr | None:
        r"""Read the fraction of a mixed number, ``3 1/2`` or ``3\frac{1}{2}``, if there is one."""
        here, tokens = self._at, list(self._tokens)
        above, below = _ONE, _ONE
        if self._peek().text == "\\frac":
            self._next()
            above, below = self._argument(), self._argument()
        elif self._peek().spaced and self._peek(1).text == "/":
            texts = self._next().text, self._peek(1).text
            if all(text.isdecimal() for text in texts):
                above, below = (sp.Integer(text) for text in texts)
                self._at += 2
        if above.is_Integer and below.is_Integer and 0 < above < below:
            return bounded.quotient(above, below)
        self._at, self._tokens = here, tokens
        return None

    def _argument(self) -> Expr:
        r"""Read what a LaTeX command takes: a group, or else one digit, letter or command."""
        token = self._next()
        if token.kind == "open":
            value = self.sum()
            self._close()
            return value
        if token.kind == "number":
            if len(token.text) > 1 and token.text.isdecimal():
                self._at -= 1
                self._tokens[self._at] = Token("number", token.text[1:])
            return number_of(token.text[0] if token.text.isdecimal() else token.text)
        if token.kind == "word":
            return self._word(token.text)
        raise UnreadableError("a LaTeX command is without its argument")

    def _word(self, word: str) -> Expr:
        if word.startswith("\\"):
            return self._latex(word)
        if word in self._symbols:
            return self._symbols[word]
        if word in bounded.FUNCTIONS or word.startswith("log_"):
            return self._function(word)
        if word in CONSTANTS:
            return CONSTANTS[word]
        if len(word) == 1 or "_" in word or word[1:].isdecimal() or word in GREEK:
            return sp.Symbol(word, real=True)
        return self._run_together(word)

    def _latex(self, command: str) -> Expr:
        if command == "\\sqrt":
            return self._root()
        first, second = self._argument(), self._argument()
        if command == "\\frac":
            return bounded.quotient(first, second)
        return bounded.call("binomial", [first, second])

    def _root(self) -> Expr:
        degree: Expr = sp.Integer(2)
        if self._peek().text == "[":
            degree = self._argument()
        if degree == 0:
            raise UnreadableError("a root of degree 0")
        return bounded.power(self._argument(), bounded.quotient(_ONE, degree))

    def _run_together(self, word: str) -> Expr:
        """Cut ``xsin`` or ``xe`` into names that are all known, or refuse the word."""
        known = [*bounded.FUNCTIONS, *self._symbols, *CONSTANTS]
        names: list[str] = []
        rest = word
        while rest:
            fitting = [name for name in known if rest.startswith(name)]
            if not fitting:
                raise UnreadableError(f"there is the word {word[:20]!r}")
            names.append(max(fitting, key=len))
            rest = rest[len(names[-1]) :]
        self._tokens[self._at : self._at] = [Token("word", name) for name in names[1:]]
        return self._word(names[0])

    # ------------------------------------------------------------ functions

    def _function(self, name: str) -> Expr:
        name, base = _base(name)
        raised: Expr | None = None
        if self._is("^"):
            self._next()
            raised = self._exponent()
            if raised == _MINUS:
                name, raised = bounded.inverse_of(name), None
        arguments = self._arguments(name)
        value = bounded.call(name, [*arguments, *base])
        return value if raised is None else bounded.power(value, raised)

    def _arguments(self, name: str) -> list[Expr]:
        if self._peek().kind != "open":
            single = name in {"sqrt", "cbrt"}
            return [self._postfix() if single else self._bare_argument()]
        self._next()
        arguments = [self.sum()]
        while self._is(","):
            self._next()
            arguments.append(self.sum())
        self._close()
        return arguments

    def _bare_argument(self) -> Expr:
        """Read the argument of ``sin 2x cos x``: a factor and the plain ones that touch it."""
        value = self._factor()
        while self._is_plain():
            value = bounded.product([value, self._power()])
        return value

    def _is_plain(self) -> bool:
        token = self._peek()
        plain = token.text in self._symbols or token.text in {"pi", "\\frac"}
        return token.kind == "word" and (plain or (len(token.text) == 1 and token.text != "e"))


def _base(name: str) -> tuple[str, list[Expr]]:
    if not name.startswith("log_"):
        return name, []
    base = name[4:]
    if base == "e":
        return "log", []
    if not base.isdecimal() or int(base) < 2:
        raise UnreadableError(f"a logarithm of base {base}")
    return "log", [sp.Integer(base)]
