"""Run ``denv`` as a plain install has it: nothing but what its core depends on can be imported.

Run as ``python -m tests.cli.core_alone ARGUMENT…``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import distribution, packages_distributions

PROJECT = "denv-parity"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _wanted(name: str) -> Iterator[str]:
    """Give what a distribution needs where none of its extras is asked for."""
    for line in distribution(name).requires or ():
        if "extra ==" not in line:
            found = _NAME.match(line)
            assert found, line
            yield _plain(found[0])


def core() -> set[str]:
    """Give the distributions that an install without extras may bring."""
    # An extra that a core part is asked for by name, as securesystemslib's.
    found, new = set(), [PROJECT, "cryptography", "cffi", "pycparser"]
    while new:
        name = new.pop()
        if name in found:
            continue
        found.add(name)
        try:
            new += _wanted(name)
        except ModuleNotFoundError:  # for another platform or Python
            found.discard(name)
    return found


class OnlyCore:
    """Finds nothing of what other distributions have installed."""

    def __init__(self) -> None:
        allowed = core()
        self.hidden = {
            module
            for module, owners in packages_distributions().items()
            if not any(_plain(owner) in allowed for owner in owners)
        }

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Refuse what a plain install lacks."""
        if name.partition(".")[0] in self.hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main() -> int:
    """Run the command line with what the core has."""
    finder = OnlyCore()
    assert {"temporalio", "fastapi", "psycopg", "pyarrow", "xllamacpp"} <= finder.hidden
    sys.meta_path.insert(0, finder)
    from denv import cli  # noqa: PLC0415 - what it imports is the question

    return cli.run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
