"""Whole answers by their form: numbers, sets, tuples, matrices, residues and their notations.

Every form comes down to rows of scalars, which the oracle then compares one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp
from sympy import Expr

from denv.instruments.derivations import bounded
from denv.instruments.derivations.expressions import CONSTANTS, parse, symbols_of
from denv.instruments.derivations.forms import Form
from denv.instruments.derivations.notation import (
    BeyondLimitsError,
    Token,
    Tokens,
    UnreadableError,
    enclosed,
    split,
)
from denv.instruments.derivations.units import Unit, part_unit, unit_of

MAX_PARTS = 64
_PARTING = frozenset({",", ";", "or", "and"})
_EQUATING = frozenset({"=", "≈"})
_LABELLING = frozenset({"=", "∈", "≡"})
_NOTHING = (
    "empty", "none", "no solution", "no solutions", "no real solution", "no real solutions",
    "the empty set", "empty set", "{ }",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value, and whether decimals stood in its text, which may be rounded."""

    value: Expr
    decimal: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """One of the ways in which an ambiguous notation may be meant."""

    tight: bool = False
    thousands: bool = False
    percent: bool = True


class OtherKindError(ValueError):
    """The answer is readable and cannot be the truth: another unit, modulus or shape."""


# ---------------------------------------------------------------- one value


def read_values(tokens: Tokens, form: Form, *, way: Way) -> list[Scalar]:
    """Read a number or expression; ``±`` and ``or`` give more than one, and all must be right."""
    if not way.thousands:
        tokens = _with_point(tokens)
    pieces = [piece for piece in split(tokens, _PARTING) if piece]
    pieces = [piece for piece in pieces if piece[0].text != "≈"] or pieces
    _limit(pieces)
    return [
        _scaled(variant, form, way=way)
        for piece in pieces
        for variant in plus_minus(value_part(piece))
    ]


def _scaled(tokens: Tokens, form: Form, *, way: Way) -> Scalar:
    """Read one value in the unit of the form."""
    unit = None
    if form.kind in {"number", "quantity", "decimal"}:
        tokens, unit = part_unit(tokens)
    read = scalar(tokens, form, way=way)
    if form.kind == "quantity" and unit is not None:
        factor = _conversion(unit, unit_of(form.unit or ""))
        return Scalar(bounded.product([read.value, factor]), read.decimal)
    if form.kind == "percent" and way.percent:
        return Scalar(bounded.product([read.value, sp.Integer(100)]), read.decimal)
    return read


def _conversion(given: Unit, wanted: Unit) -> Expr:
    if given.powers != wanted.powers:
        raise OtherKindError("the unit is of another kind")
    factor = given.factor / wanted.factor
    return sp.Rational(factor.numerator, factor.denominator)


def scalar(tokens: Tokens, form: Form, *, way: Way) -> Scalar:
    """Read one expression without looking at units or signs of many values."""
    value = parse(tokens, symbols_of(form.symbols, positive=form.positive), tight=way.tight)
    return Scalar(value, any(t.kind == "number" and not t.text.isdecimal() for t in tokens))


def _with_point(tokens: Tokens) -> Tokens:
    """Read ``3,5``, when it is the whole answer, as a decimal comma."""
    match tokens:
        case (Token("number", whole), Token("op", ",", False), Token("number", part, False)):
            if whole.isdecimal() and part.isdecimal():
                return (Token("number", f"{whole}.{part}"),)
    return tokens


# ---------------------------------------------------------------- labels


def value_part(tokens: Tokens) -> Tokens:
    """Cut ``x =`` off, and of ``x = 2√3 ≈ 3.46`` take what is exact."""
    if tokens and _is_rounded(tail := _last_group(tokens)[1:]) and len(tail) < len(tokens) - 1:
        tokens = tokens[: -len(tail) - 1]
    parts = split(tokens, _EQUATING)
    if len(parts) == 1:
        return tokens
    values = [part for n, part in enumerate(parts) if part and not (n == 0 and _is_label(part))]
    exact = [part for part in values if not any("." in token.text for token in part)]
    if not values:
        raise UnreadableError("there is nothing behind the sign of equality")
    return (exact or values)[-1]


def _is_rounded(tokens: Tokens) -> bool:
    return bool(tokens) and tokens[0].text in _EQUATING


def _last_group(tokens: Tokens) -> Tokens:
    """Give the bracketed group at the end, or nothing."""
    for start in range(len(tokens)):
        if enclosed(tokens[start:]):
            return tokens[start:]
    return ()


def _is_label(tokens: Tokens) -> bool:
    """Tell whether the left side of an equation only names what is on its right."""
    first = tokens[0]
    if first.kind == "word" and first.text not in CONSTANTS:
        primes = tuple(token for token in tokens[1:] if token.text != "'")
        return not primes or enclosed(primes) or "/" in [token.text for token in primes]
    return enclosed(tokens) and all(t.kind == "word" or t.text == "," for t in tokens[1:-1])


def _without_label(tokens: Tokens) -> Tokens:
    """Cut off what names a whole bracketed answer, as in ``(x, y) = (1, 2)``."""
    last = split(tokens, _LABELLING)[-1]
    return last if enclosed(last) and len(split(tokens, frozenset({","}))) == 1 else tokens


def plus_minus(tokens: Tokens, *, independent: bool = False) -> Iterator[Tokens]:
    """Write out ``±`` and ``∓``: the upper signs, then the lower ones, or every combination."""
    places = [n for n, token in enumerate(tokens) if token.text in {"±", "∓"}]
    if not places:
        yield tokens
        return
    free = len(places) if independent and all(tokens[n].text == "±" for n in places) else 1
    if free > 3:
        raise BeyondLimitsError("there are over three ±")
    for choice in range(2**free):
        signs = {
            place: bool(choice >> (n if free > 1 else 0) & 1) ^ (tokens[place].text == "∓")
            for n, place in enumerate(places)
        }
        yield tuple(
            Token("op", "-" if signs[n] else "+") if n in signs else token
            for n, token in enumerate(tokens)
        )


def _limit(parts: Sequence[object]) -> None:
    if len(parts) > MAX_PARTS:
        raise BeyondLimitsError(f"the answer has over {MAX_PARTS} parts")
    if not parts:
        raise UnreadableError("there is nothing to read")


# ---------------------------------------------------------------- many values


def is_nothing(tokens: Tokens) -> bool:
    """Tell whether the answer says that nothing fulfils what is asked."""
    return " ".join(token.text for token in tokens).lower() in _NOTHING


def read_set(tokens: Tokens, form: Form, *, way: Way) -> list[Scalar]:
    """Read the elements of a set, in braces or not, with or without ``x =`` before each."""
    tokens = _without_label(tokens)
    if is_nothing(tokens):
        return []
    pieces = _opened(tokens)
    _limit(pieces)
    return [
        scalar(variant, form, way=way)
        for piece in pieces
        for variant in plus_minus(value_part(piece), independent=True)
    ]


def read_tuple(tokens: Tokens, form: Form, *, way: Way) -> list[Scalar]:
    """Read components in their order, or in that of their names where all are named."""
    pieces = _opened(_without_label(tokens))
    _limit(pieces)
    names = [piece[0].text if piece[1:2] and piece[1].text == "=" else "" for piece in pieces]
    if form.symbols and sorted(names) == sorted(form.symbols):
        pieces = [pieces[names.index(name)] for name in form.symbols]
    return [scalar(value_part(piece), _plain(form), way=way) for piece in pieces]


def _plain(form: Form) -> Form:
    """Take the names of components away: no component may hold another."""
    return Form(form.kind)


def read_matrix(tokens: Tokens, form: Form, *, way: Way) -> list[list[Scalar]]:
    """Read the rows of a matrix, and a factor before it into its entries."""
    tokens = split(tokens, _LABELLING)[-1]
    group = _last_group(tokens)
    before = tokens[: len(tokens) - len(group)]
    if before and before[-1].text in {"Matrix", "matrix", "array", "*"}:
        before = before[:-1]
    factor = _factor(before, form, way=way)
    rows = [[_times(factor, scalar(entry, form, way=way)) for entry in row] for row in _rows(group)]
    if len({len(row) for row in rows}) != 1:
        raise UnreadableError("the rows of the matrix are of unlike length")
    return rows


def _factor(before: Tokens, form: Form, *, way: Way) -> Expr:
    match before:
        case ():
            return sp.S.One
        case (Token("op", "-"),):
            return sp.S.NegativeOne
    return scalar(before, form, way=way).value


def _times(factor: Expr, entry: Scalar) -> Scalar:
    return Scalar(bounded.product([factor, entry.value]), entry.decimal)


def _rows(group: Tokens) -> list[list[Tokens]]:
    if not group:
        raise UnreadableError("there is no matrix")
    inner = group[1:-1]
    rows = [row for row in split(inner, frozenset({";"})) if row]
    if len(rows) == 1:
        pieces = [piece for piece in split(inner, frozenset({","})) if piece]
        if len(pieces) == 1 and enclosed(pieces[0]) and _has_many(pieces[0]):
            return _rows(pieces[0])
        if pieces and all(enclosed(piece) for piece in pieces):
            rows = [piece[1:-1] for piece in pieces]
    _limit(rows)
    entries = [[entry for entry in split(row, frozenset({","})) if entry] for row in rows]
    _limit([entry for row in entries for entry in row])
    return entries


def _has_many(group: Tokens) -> bool:
    """Tell whether a group inside a group is a matrix of its own, and not its only row."""
    inner = group[1:-1]
    parts = split(inner, frozenset({",", ";"}))
    return enclosed(parts[0]) or len(split(inner, frozenset({";"}))) > 1


# ---------------------------------------------------------------- residues


def read_residues(tokens: Tokens, form: Form, *, way: Way) -> list[Scalar]:
    """Read residues, each reduced to the least that is not negative."""
    modulus = form.modulus or 1
    pieces = [
        variant
        for part in _opened(tokens)
        if not _is_any_integer(part)
        for piece in _opened(_residue_part(part, modulus))
        for variant in plus_minus(piece, independent=True)
    ]
    _limit(pieces)
    return [Scalar(sp.Integer(_residue(piece, modulus, way=way))) for piece in pieces]


def _opened(tokens: Tokens) -> list[Tokens]:
    """Give the parts of a list in whatever brackets it stands."""
    while enclosed(tokens):
        tokens = tokens[1:-1]
    return [piece for piece in split(tokens, _PARTING) if piece]


def _is_any_integer(tokens: Tokens) -> bool:
    """Tell whether a part only says, as ``k ∈ Z`` does, what a letter stands for."""
    return len(tokens) > 2 and tokens[-2].text == "∈" and tokens[-1].text in {"Z", "integers"}


def _residue_part(tokens: Tokens, modulus: int) -> Tokens:
    """Cut ``x ≡`` and ``(mod m)`` off; another modulus is another answer."""
    while enclosed(tokens):
        tokens = tokens[1:-1]
    tokens = split(tokens, _LABELLING)[-1]
    words = [token.text for token in tokens]
    if "mod" not in words:
        return tokens
    place = words.index("mod")
    stated = [word for word in words[place + 1 :] if word not in {"(", ")", "{", "}"}]
    if stated != [str(modulus)]:
        raise OtherKindError(f"the modulus is {' '.join(stated)[:20]}, not {modulus}")
    bracketed = place > 0 and words[place - 1] == "("
    return tokens[: place - 1 if bracketed else place]


def _residue(tokens: Tokens, modulus: int, *, way: Way) -> int:
    """Reduce a number, or ``17 + 31k`` with the modulus before a letter that may be any."""
    value = scalar(tokens, Form("residue"), way=way).value
    for letter in value.free_symbols:
        if abs(value.diff(letter)) == modulus:
            value = value.subs(letter, 0)
    if not value.is_Integer:
        raise OtherKindError("a residue is no integer")
    return int(value) % modulus
