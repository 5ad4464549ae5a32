r"""Unions of intervals, as brackets, chains of inequalities, or sentences with ``or``.

``(-oo, 1] U (2, 3)``, ``x \le 1 \text{ or } 2 < x < 3`` and ``\{x : x \le 1\} \cup (2,3)`` are
the same set.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp
from sympy import Expr

from denv.instruments.derivations.forms import Form
from denv.instruments.derivations.notation import Token, Tokens, UnreadableError, enclosed, split
from denv.instruments.derivations.readings import Scalar, Way, is_nothing, plus_minus, scalar

MAX_PIECES = 16
_COMMA, _UNEQUAL = frozenset({","}), frozenset({"!="})
_UNITING = frozenset({"cup", "U", "u", "or", "union", ","})
_RELATIONS = frozenset({"<", "<=", ">", ">=", "!=", "="})
_REALS = frozenset({"reals", "R"})
_ALL = ("all real numbers", "all reals", "all real x", "reals", "R")
_WITHOUT = frozenset({"setminus", "-", "except"})


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval of a union, its ends as the oracle compares them."""

    low: Scalar
    high: Scalar
    low_open: bool
    high_open: bool


def read_union(tokens: Tokens, form: Form, *, way: Way) -> list[Piece]:
    """Read a union and put it into its one normal form: disjoint pieces in order.

    Raises
    ------
    UnreadableError
        It is no union of intervals, or its ends cannot be put in order.
    """
    decimal = any(token.kind == "number" and "." in token.text for token in tokens)
    read = _union(tokens, form, way)
    pieces = [piece for part in _parts(read) for piece in _pieces(part, decimal=decimal)]
    return sorted(pieces, key=lambda piece: float(piece.low.value))


def _parts(read: sp.Set) -> tuple[sp.Set, ...]:
    if isinstance(read, sp.Union):
        return tuple(read.args)
    return (sp.Interval(-sp.oo, sp.oo),) if read is sp.S.Reals else (read,)


def _pieces(part: sp.Set, *, decimal: bool) -> list[Piece]:
    if part is sp.S.EmptySet:
        return []
    if isinstance(part, sp.FiniteSet):
        points = [Scalar(point, decimal) for point in part]
        return [Piece(point, point, low_open=False, high_open=False) for point in points]
    if not isinstance(part, sp.Interval):
        raise UnreadableError("the ends of the intervals cannot be put in order")
    low, high = part.start, part.end
    return [
        Piece(
            Scalar(low, decimal),
            Scalar(high, decimal),
            low_open=bool(part.left_open) or low == -sp.oo,
            high_open=bool(part.right_open) or high == sp.oo,
        )
    ]


def _union(tokens: Tokens, form: Form, way: Way) -> sp.Set:
    """Unite what is parted by ``or`` or a comma, but take away what ``, x != 3`` excludes."""
    tokens = _membership(tokens)
    parts = [part for part in split(tokens, _COMMA) if part]
    taken = [part for part in parts if len(split(part, _UNEQUAL)) > 1]
    if 0 < len(taken) < len(parts) <= MAX_PIECES:
        kept = [part for part in parts if part not in taken]
        given = sp.Union(*(_union(part, form, way) for part in kept))
        return sp.Intersection(given, *(_single(part, form, way) for part in taken))
    pieces = [piece for piece in split(tokens, _UNITING) if piece]
    if not 0 < len(pieces) <= MAX_PIECES:
        raise UnreadableError(f"there are {len(pieces)} pieces")
    return sp.Union(*(_intersection(piece, form, way) for piece in pieces))


def _intersection(tokens: Tokens, form: Form, way: Way) -> sp.Set:
    parts = [part for part in split(tokens, frozenset({"and"})) if part]
    if len(parts) > MAX_PIECES:
        raise UnreadableError(f"there are {len(parts)} conditions")
    return sp.Intersection(*(_single(part, form, way) for part in parts))


def _membership(tokens: Tokens) -> Tokens:
    """Cut ``x ∈`` or ``x =`` off before a set; ``x = 3`` alone stays a condition."""
    parts = split(tokens, frozenset({"∈"}))
    if len(parts) == 2 and len(parts[0]) == 1:
        return parts[1]
    match tokens:
        case (Token("word"), Token("op", "="), Token("open"), *_):
            return tokens[2:]
    return tokens


def _single(tokens: Tokens, form: Form, way: Way) -> sp.Set:
    tokens = _membership(tokens)
    if is_nothing(tokens):
        return sp.S.EmptySet
    if " ".join(token.text for token in tokens) in _ALL:
        return sp.S.Reals
    taken = split(tokens, _WITHOUT)
    if len(taken) == 2 and [token.text for token in taken[0]] in [[word] for word in _REALS]:
        return sp.Complement(sp.S.Reals, _points(taken[1], form, way))
    if len(split(tokens, _RELATIONS)) > 1:
        return _chain(tokens, form, way)
    if enclosed(tokens):
        return _bracketed(tokens, form, way)
    raise UnreadableError("there is no interval")


def _bracketed(tokens: Tokens, form: Form, way: Way) -> sp.Set:
    opening, inner, closing = tokens[0].text, tokens[1:-1], tokens[-1].text
    if opening == "{":
        return _braced(inner, form, way)
    ends = split(inner, frozenset({",", ";"}))
    if len(ends) != 2:
        return _union(inner, form, way)
    low, high = (_end(end, form, way) for end in ends)
    return sp.Interval(low, high, opening == "(", closing == ")")


def _braced(inner: Tokens, form: Form, way: Way) -> sp.Set:
    """Read what fulfils a condition, some points, or only a union that braces hold together."""
    parts = split(inner, frozenset({"|", ":"}))
    if len(parts) == 2:
        conditions = [part for part in split(parts[1], _COMMA) if part]
        if not 0 < len(conditions) <= MAX_PIECES:
            raise UnreadableError("a set has no condition")
        return sp.Intersection(*(_union(part, form, way) for part in conditions))
    brackets = any(token.kind == "open" and token.text in "([" for token in inner[:1])
    if _has_relation(inner) or (brackets and len(split(inner, _COMMA)) == 1):
        return _union(inner, form, way)
    return _points(inner, form, way)


def _has_relation(tokens: Tokens) -> bool:
    return any(token.text in _RELATIONS for token in tokens)


def _points(tokens: Tokens, form: Form, way: Way) -> sp.Set:
    while enclosed(tokens):
        tokens = tokens[1:-1]
    ends = [end for end in split(tokens, frozenset({",", ";", "and"})) if end]
    signed = [variant for end in ends for variant in plus_minus(end)]
    return sp.FiniteSet(*(_end(end, form, way) for end in signed))


def _end(tokens: Tokens, form: Form, way: Way) -> Expr:
    value = scalar(tokens, form, way=way).value
    if value.free_symbols or not value.is_extended_real:
        raise UnreadableError("an end of an interval is no real number")
    return value


def _chain(tokens: Tokens, form: Form, way: Way) -> sp.Set:
    """Read ``1 < x <= 3`` or ``x > 1``; a chain is the intersection of its links."""
    sides = split(tokens, _RELATIONS)
    texts = [token.text for token in _at_top(tokens) if token.text in _RELATIONS]
    if len(sides) > 3 or not all(sides):
        raise UnreadableError("there is no such chain of inequalities")
    links = zip(sides, texts, sides[1:], strict=False)
    return sp.Intersection(*(_link(left, text, right, form, way) for left, text, right in links))


def _at_top(tokens: Tokens) -> list[Token]:
    depth, found = 0, []
    for token in tokens:
        depth += (token.kind == "open") - (token.kind == "close")
        if depth == 0:
            found.append(token)
    return found


def _link(left: Tokens, relation: str, right: Tokens, form: Form, way: Way) -> sp.Set:
    if _is_variable(right, form):
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        left, relation, right = right, turned.get(relation, relation), left
    if not _is_variable(left, form):
        raise UnreadableError("an inequality is not solved for its variable")
    end = _end(right, form, way)
    match relation:
        case "<" | "<=":
            return sp.Interval(-sp.oo, end, True, relation == "<")
        case ">" | ">=":
            return sp.Interval(end, sp.oo, relation == ">", True)
        case "!=":
            return sp.Complement(sp.S.Reals, sp.FiniteSet(end))
    return sp.FiniteSet(end)


def _is_variable(tokens: Tokens, form: Form) -> bool:
    return len(tokens) == 1 and tokens[0].kind == "word" and tokens[0].text in form.symbols
