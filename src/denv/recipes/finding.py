"""Which recipes there are: the shipped ones, those of other packages, and any folder by its path.

Another package offers its own by an entry point of the group ``denv.recipes``: the point's name is
the recipe's, its value the package (or the attribute of one) that names the recipe's folder.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points, version
from importlib.util import find_spec
from pathlib import Path

from denv.errors import UsageError
from denv.recipes.loading import FILE_NAME, Recipe, load_folder

BUILT_IN = Path(__file__).parent
GROUP = "denv.recipes"

_OWN = "denv-parity"


@dataclass(frozen=True, slots=True)
class Offer:
    """A recipe that can be asked for by its name, before it is read."""

    name: str
    origin: str
    version: str | None
    folder: Callable[[], Path]

    def load(self) -> Recipe:
        """Read it.

        Raises
        ------
        UsageError
            It is broken; the message names it and where it comes from.
        """
        try:
            folder = self.folder()
        # The package is someone else's: whatever its import raises is told, not followed.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            what = f"{type(error).__name__}: {error}".split("\n", 1)[0]
            raise UsageError(named(self.name, self.origin, what)) from None
        try:
            return load_folder(folder, name=self.name, origin=self.origin, version=self.version)
        except UsageError as error:
            raise UsageError(named(self.name, self.origin, str(error))) from None


@dataclass(frozen=True, slots=True)
class Broken:
    """A recipe that cannot be read, and why, in one line or more."""

    name: str
    problem: str


def named(name: str, origin: str, problem: str) -> str:
    """Say of each line of a problem whose recipe it is."""
    return "\n".join(f"recipe {name} ({origin}): {line}" for line in problem.split("\n"))


def names() -> tuple[str, ...]:
    """Give the names of the shipped recipes, sorted."""
    return tuple(sorted(file.parent.name for file in BUILT_IN.glob(f"*/{FILE_NAME}")))


def load(written: str, *, beside: Path | None = None) -> Recipe:
    """Read the recipe that a name or a path means.

    What holds a slash, or begins with a dot, is the path of a recipe's folder, taken from
    ``beside`` (else the working folder); anything else is a name.

    Raises
    ------
    UsageError
        There is no such recipe (the message lists the known ones), two have that name, or
        something in it is wrong.
    """
    if is_path(written):
        path = (beside or Path()) / Path(written).expanduser()
        return load_folder(path.parent if path.name == FILE_NAME else path)
    known = list(offers())
    found = [offer for offer in known if offer.name == written]
    if not found:
        listed = ", ".join(sorted({offer.name for offer in known})) or "none"
        raise UsageError(
            f"unknown recipe {written!r}; known are {listed} (a path is written ./folder)"
        )
    if len(found) > 1:
        raise UsageError(_clash(written, found))
    return found[0].load()


def is_path(written: str) -> bool:
    """Whether a recipe is named by its path."""
    return os.sep in written or written.startswith((".", "~"))


def load_all() -> tuple[list[Recipe], list[Broken]]:
    """Read every recipe that has a name; what is wrong with one hides none of the others."""
    known = list(offers())
    counts = Counter(offer.name for offer in known)
    recipes, broken = [], []
    for offer in sorted(known, key=lambda each: each.name):
        if counts[offer.name] > 1:
            same = [each for each in known if each.name == offer.name]
            broken.append(Broken(offer.name, _clash(offer.name, same)))
            continue
        try:
            recipes.append(offer.load())
        except UsageError as error:
            broken.append(Broken(offer.name, str(error)))
    return recipes, list(dict.fromkeys(broken))


def offers() -> Iterator[Offer]:
    """Give what can be asked for by name, without reading it."""
    own = version(_OWN)
    for name in names():
        yield Offer(name, "shipped", own, (BUILT_IN / name).absolute)
    for point in entry_points(group=GROUP):
        yield _offer_of(point)


def _offer_of(point: EntryPoint) -> Offer:
    dist = point.dist
    origin = f"{dist.name} {dist.version}" if dist else "an entry point"
    return Offer(point.name, origin, dist.version if dist else None, lambda: _folder_of(point))


def _folder_of(point: EntryPoint) -> Path:
    """Give the folder that an entry point names: a package's own, or a path in an attribute."""
    if point.attr:
        value = point.load()
        if not isinstance(value, str | os.PathLike):
            raise TypeError(f"{point.value} is no path of a folder")
        return Path(value)
    spec = find_spec(point.module)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise ModuleNotFoundError(f"there is no package {point.module!r}")
    return Path(places[0])


def _clash(name: str, found: list[Offer]) -> str:
    given = " and ".join(sorted(offer.origin for offer in found))
    return f"recipe {name}: the name is taken twice, by {given}; name one by its path"
