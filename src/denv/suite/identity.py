"""Whether every id of a suite stands once, at 16 bytes a case."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import numpy as np


class SeenIds:
    """A hash of each id and the line it stands on.

    Equal hashes only make lines suspect: whoever asks reads those lines again and compares the
    ids themselves.
    """

    def __init__(self) -> None:
        self._hashes = array("q")
        self._lines = array("q")

    def add(self, case_id: str, line: int) -> None:
        """Take note of the id that stands on a line."""
        self._hashes.append(hash(case_id))
        self._lines.append(line)

    def suspects(self) -> list[int]:
        """Give the lines whose id may stand on another line too, in their order."""
        if len(self._hashes) == 0:
            return []
        hashes = np.frombuffer(self._hashes, dtype=np.int64)
        order = np.argsort(hashes, kind="stable")
        same = hashes[order][1:] == hashes[order][:-1]
        suspect = np.concatenate(([False], same)) | np.concatenate((same, [False]))
        lines = np.frombuffer(self._lines, dtype=np.int64)[order[suspect]]
        return [int(line) for line in np.sort(lines)]


def repeated(ids: Iterable[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """Give (line, first line, id) for each id that has stood before."""
    first: dict[str, int] = {}
    for line, case_id in ids:
        before = first.setdefault(case_id, line)
        if before != line:
            yield line, before, case_id
