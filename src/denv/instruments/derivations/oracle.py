"""The oracle: whether an answer is equal to the truth, in the form that was asked for.

This is the pure function that the killable worker runs. Reading is bounded by the limits of
:mod:`.notation` and :mod:`.bounded`; what SymPy then computes is bounded by the process alone.

Conventions:

* A label (``x =``, ``f'(x) =``) is cut off; of a chain of equalities the last exact value counts,
  and what follows ``≈`` only where nothing exact stands before it.
* Where one number or expression is asked for, ``±`` and ``or`` make the answer different, unless
  all its values are the truth. In sets and residues they name elements; several ``±`` in one
  element are independent of each other, ``±`` with ``∓`` are not.
* Sets have no order and no repetition; tuples have the order asked for, or that of their names.
* Unions of intervals are put into one normal form; an end belongs to both sides or to none.
* A residue is any member of its class; a stated modulus must be the one asked for.
* ``12.5%`` is 1/8. Where a percentage is asked for, a number without the sign is right both as
  the percentage and as the share: 12.5 and 0.125.
* A unit may be left out; another one of its kind is converted, one of another kind is wrong.
  Where a plain number is asked for, a unit or a counting word behind it is taken off.
* ``log`` is the natural logarithm; ``e``, ``pi`` and ``i`` are constants unless asked for.
* Decimals: see :mod:`.equality`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from denv.instruments.derivations.equality import compare_values
from denv.instruments.derivations.forms import Form, Kind
from denv.instruments.derivations.intervals import Piece, read_union
from denv.instruments.derivations.notation import (
    BeyondLimitsError,
    Tokens,
    UnreadableError,
    tokenise,
)
from denv.instruments.derivations.readings import (
    OtherKindError,
    Scalar,
    Way,
    read_matrix,
    read_residues,
    read_set,
    read_tuple,
    read_values,
)
from denv.instruments.derivations.scoring import Comparison

_GROUPED = re.compile(r",|\d[\s\\]")
_EXPONENT = re.compile(r"\de[+-]?\d")

Read = Sequence[Any]
"""An answer as its reader gives it: scalars, rows of them, or pieces of a union."""


def compare(answer: str, truth: str, form: Form) -> Comparison:
    """Compare an answer with the truth, without evaluating either as code.

    An answer whose notation is ambiguous (``1/2x``, ``1,234``, ``2e-1``) is equal when one of its
    readings is, and different only when all are.

    Raises
    ------
    ValueError
        The truth itself cannot be read.

    Examples
    --------
    >>> compare("√8/2", "sqrt(2)", Form("number")).result
    'equal'
    >>> compare("x = 2 or x = 3", "{2, 4}", Form("set", ("x",))).result
    'different'
    """
    wanted = _READ[form.kind](tokenise(truth), form, way=Way(percent=False))
    try:
        return _compare(answer, wanted, form)
    except UnreadableError as error:
        return Comparison("unreadable", str(error))
    except BeyondLimitsError as error:
        return Comparison("undecided", f"beyond the limits: {error}")
    except Exception as error:  # noqa: BLE001 - SymPy raises much on strange input; it is told
        return Comparison("undecided", f"SymPy gave up with {type(error).__name__}")


def _compare(answer: str, wanted: Read, form: Form) -> Comparison:
    found: list[Comparison] = []
    unread: UnreadableError | None = None
    for tokens, way in _ways(answer, form):
        try:
            one = _AGREE[form.kind](_READ[form.kind](tokens, form, way=way), wanted, form)
        except OtherKindError as error:
            one = Comparison("different", str(error))
        except UnreadableError as error:
            unread = unread or error
            continue
        if one.result == "equal":
            return one
        found.append(one)
    if not found:
        raise unread or UnreadableError("there is nothing to read")
    return next((one for one in found if one.result == "undecided"), found[0])


def _ways(answer: str, form: Form) -> Iterator[tuple[Tokens, Way]]:
    """Give the ways in which the answer may be meant."""
    for tokens, thousands in _cuts(answer):
        texts = {token.text for token in tokens}
        for tight in (False, True) if "/" in texts else (False,):
            bare = form.kind == "percent" and "%" not in texts
            for percent in (False, True) if bare else (True,):
                yield tokens, Way(tight, thousands, percent)


def _cuts(answer: str) -> Iterator[tuple[Tokens, bool]]:
    for thousands in (True, False) if _GROUPED.search(answer) else (True,):
        for euler in (False, True) if _EXPONENT.search(answer) else (False,):
            yield tokenise(answer, thousands=thousands, euler=euler), thousands


# ---------------------------------------------------------------- agreement by form


def _all_agree(parts: Iterable[Comparison]) -> Comparison:
    """Equal where every part is; different as soon as one is; else undecided."""
    last, undecided = Comparison("equal", "identical"), None
    for part in parts:
        if part.result == "different":
            return part
        undecided = part if part.result == "undecided" else undecided
        last = part
    return undecided or last


def _any_agrees(parts: Iterable[Comparison], *, missing: str) -> Comparison:
    undecided = None
    for part in parts:
        if part.result == "equal":
            return part
        undecided = part if part.result == "undecided" else undecided
    return undecided or Comparison("different", missing)


def _values(found: Read, wanted: Read, form: Form) -> Comparison:
    return _all_agree(compare_values(one, wanted[0], form) for one in found)


def _sets(found: Sequence[Scalar], wanted: Sequence[Scalar], form: Form) -> Comparison:
    """Compare without regard to order and repetition: each side's elements are the other's."""
    extra = (
        _any_agrees(
            (compare_values(one, true, form) for true in wanted), missing="an element is too many"
        )
        for one in found
    )
    lacking = (
        _any_agrees(
            (compare_values(one, true, form) for one in found), missing="an element is missing"
        )
        for true in wanted
    )
    return _all_agree(part for parts in (extra, lacking) for part in parts)


def _tuples(found: Sequence[Scalar], wanted: Sequence[Scalar], form: Form) -> Comparison:
    if len(found) != len(wanted):
        return Comparison("different", f"there are {len(found)} components, not {len(wanted)}")
    pairs = zip(found, wanted, strict=True)
    return _all_agree(compare_values(one, true, form) for one, true in pairs)


def _matrices(
    found: Sequence[Sequence[Scalar]], wanted: Sequence[Sequence[Scalar]], form: Form
) -> Comparison:
    if len(found) != len(wanted):
        return Comparison("different", f"there are {len(found)} rows, not {len(wanted)}")
    rows = zip(found, wanted, strict=True)
    return _all_agree(_tuples(row, true, form) for row, true in rows)


def _unions(found: Sequence[Piece], wanted: Sequence[Piece], form: Form) -> Comparison:
    if len(found) != len(wanted):
        return Comparison("different", f"there are {len(found)} intervals, not {len(wanted)}")
    pairs = list(zip(found, wanted, strict=True))
    if any((a.low_open, a.high_open) != (b.low_open, b.high_open) for a, b in pairs):
        return Comparison("different", "an end belongs to one of the two alone")
    lows = (compare_values(one.low, true.low, form) for one, true in pairs)
    highs = (compare_values(one.high, true.high, form) for one, true in pairs)
    return _all_agree(part for parts in (lows, highs) for part in parts)


_VALUE_KINDS: tuple[Kind, ...] = ("number", "expression", "percent", "quantity", "decimal")

_READ: Mapping[Kind, Callable[..., Read]] = {
    **dict.fromkeys(_VALUE_KINDS, read_values),
    "set": read_set,
    "interval": read_union,
    "tuple": read_tuple,
    "matrix": read_matrix,
    "residue": read_residues,
}
_AGREE: Mapping[Kind, Callable[[Any, Any, Form], Comparison]] = {
    **dict.fromkeys(_VALUE_KINDS, _values),
    "set": _sets,
    "interval": _unions,
    "tuple": _tuples,
    "matrix": _matrices,
    "residue": _sets,
}
