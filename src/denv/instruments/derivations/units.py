"""Units behind a number: read as powers of length, time, mass and money, and converted exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from denv.instruments.derivations.notation import Tokens


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as a multiple of metre, second, gram and dollar, each to its power."""

    factor: Fraction
    powers: tuple[int, ...]


_NONE = (0, 0, 0, 0)
_LENGTH, _TIME, _MASS, _MONEY = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
_VOLUME = (3, 0, 0, 0)


def _named(names: str, factor: Fraction | int, powers: tuple[int, ...]) -> dict[str, Unit]:
    return dict.fromkeys(names.split(), Unit(Fraction(factor), powers))


_UNITS: Mapping[str, Unit] = {
    **_named("mm millimeter millimeters millimetre millimetres", Fraction(1, 1000), _LENGTH),
    **_named("cm centimeter centimeters centimetre centimetres", Fraction(1, 100), _LENGTH),
    **_named("m meter meters metre metres", 1, _LENGTH),
    **_named("km kilometer kilometers kilometre kilometres", 1000, _LENGTH),
    **_named("s sec secs second seconds", 1, _TIME),
    **_named("min mins minute minutes", 60, _TIME),
    **_named("h hr hrs hour hours", 3600, _TIME),
    **_named("day days", 86_400, _TIME),
    **_named("g gram grams", 1, _MASS),
    **_named("kg kilogram kilograms", 1000, _MASS),
    **_named("ml mL milliliter milliliters", Fraction(1, 10**6), _VOLUME),
    **_named("l L liter liters litre litres", Fraction(1, 1000), _VOLUME),
    **_named("dollar dollars USD", 1, _MONEY),
    **_named("cent cents", Fraction(1, 100), _MONEY),
    **_named(
        "unit units way ways solution solutions digit digits zero zeros zeroes pair pairs integer"
        " integers number numbers draws rolls steps",
        1,
        _NONE,
    ),
}
_RAISED = {"square": 2, "squared": 2, "sq": 2, "cubic": 3, "cubed": 3}
_FACTOR = re.compile(
    r"\s*(?P<over>/|per\b)?\s*(?P<before>square\b|sq\b|cubic\b)?\s*(?P<name>[A-Za-z]+)"
    r"\s*(?:\^\s*[({]?\s*(?P<power>-?\s*[1-4])\s*[)}]?|(?P<after>squared|cubed)\b)?\s*[*.]?"
)
_LONGEST = 12


def unit_of(text: str) -> Unit:
    """Read what is known to be a unit, such as ``km/h``.

    Raises
    ------
    ValueError
        It is none.

    Examples
    --------
    >>> unit_of("km/h").factor
    Fraction(5, 18)
    """
    found = _read(text)
    if found is None:
        raise ValueError(f"there is no unit {text!r}")
    return found


def part_unit(tokens: Tokens) -> tuple[Tokens, Unit | None]:
    """Part a number's tokens from the longest unit at their end, if there is one."""
    for length in range(min(_LONGEST, len(tokens) - 1), 0, -1):
        unit = _read(" ".join(token.text for token in tokens[-length:]))
        if unit is not None:
            return tokens[:-length], unit
    return tokens, None


def _read(text: str) -> Unit | None:
    factor, position = Fraction(1), 0
    powers: tuple[int, ...] = _NONE
    while position < len(text):
        found = _FACTOR.match(text, position)
        if found is None or found["name"] not in _UNITS:
            return None
        unit, power = _UNITS[found["name"]], _power(found)
        factor *= unit.factor**power
        powers = tuple(had + power * has for had, has in zip(powers, unit.powers, strict=True))
        position = found.end()
    return Unit(factor, powers)


def _power(found: re.Match[str]) -> int:
    raised = _RAISED.get(found["before"] or found["after"] or "", 1)
    if found["power"]:
        raised = int(found["power"].replace(" ", ""))
    return -raised if found["over"] else raised
