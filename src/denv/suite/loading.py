"""A suite's file: validated in one pass, its cases streamed in another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from denv.errors import SuiteError
from denv.records import Case, Kind
from denv.suite.identity import SeenIds, repeated
from denv.suite.line import parse_line
from denv.suite.lines import MAX_LINE_BYTES, Lines
from denv.suite.words import Faults, shown

MAX_PROBLEMS = 20

_TOO_LONG: Faults = [("line", f"longer than {MAX_LINE_BYTES // 1024**2} MiB")]


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite that is known to be valid; iterating it streams its cases from the file.

    ``name`` is the file's name, ``sha256`` the hexadecimal digest of its bytes, ``cases`` how
    many it has. ``checks``, ``kinds`` and ``tags`` count the cases of each that is present.
    """

    path: Path
    name: str
    sha256: str
    cases: int
    checks: Mapping[str, int]
    kinds: Mapping[Kind, int]
    tags: Mapping[str, int]

    def __iter__(self) -> Iterator[Case]:
        return self.iter_cases()

    def iter_cases(self, wanted: Callable[[int], bool] | None = None) -> Iterator[Case]:
        """Stream the cases, or those whose index is wanted.

        A ``SuiteError`` says so if the file is no longer what was loaded.
        """
        lines = Lines(self.path)
        for index, (number, raw) in enumerate(lines):
            if wanted is not None and not wanted(index):
                continue
            case = None if raw is None else parse_line(raw, line=number, index=index)[1]
            if not isinstance(case, Case):
                raise self._changed()
            yield case
        if lines.sha256 != self.sha256:
            raise self._changed()

    def _changed(self) -> SuiteError:
        return SuiteError([f"{self.path}: changed while running"])


def load_suite(path: str | os.PathLike[str]) -> Suite:
    """Validate a whole suite file, and count what it holds.

    Raises
    ------
    SuiteError
        With up to 20 problems, each ``file:line: field: what is wrong``, in the order of the
        lines, and a last entry ``and N more`` where there are more.
    UsageError
        For what cannot be read twice or is no text: a pipe, a folder, a compressed file.
    """
    where = Path(path)
    lines, survey = Lines(where), _Survey(where)
    for number, raw in lines:
        survey.read(number, raw)
    survey.find_repeated_ids(lines.sha256)
    survey.raise_problems()
    return Suite(
        path=where,
        name=where.name,
        sha256=lines.sha256,
        cases=survey.cases,
        checks=dict(survey.checks),
        kinds=dict(survey.kinds),
        tags=dict(survey.tags),
    )


@dataclass(slots=True)
class _Survey:
    """What the first pass gathers: counts, ids, and the first problems."""

    path: Path
    cases: int = 0
    checks: Counter[str] = field(default_factory=Counter)
    kinds: Counter[Kind] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    ids: SeenIds = field(default_factory=SeenIds)
    faults: list[tuple[int, str]] = field(default_factory=list)
    fault_count: int = 0

    def read(self, number: int, raw: bytes | None) -> None:
        if raw is None:
            self._note(number, _TOO_LONG)
            return
        case_id, found = parse_line(raw, line=number, index=self.cases)
        if case_id is not None:
            self.ids.add(case_id, number)
        if isinstance(found, list):
            self._note(number, found)
            return
        self.cases += 1
        self.checks[found.check.name] += 1
        self.kinds[found.check.kind] += 1
        if found.tags:
            self.tags.update(set(found.tags))

    def find_repeated_ids(self, sha256: str) -> None:
        """Read the lines again whose ids share a hash, and note the ids that are the same."""
        suspects = self.ids.suspects()
        if not suspects:
            return
        lines = Lines(self.path)
        noted = 0
        for number, first, case_id in repeated(_ids_of(lines, suspects)):
            what = f"{shown(case_id)} stands on line {first} too"
            if noted < MAX_PROBLEMS:
                self.faults.append((number, f"id: {what}"))
            noted += 1
        self.fault_count += noted
        if lines.sha256 != sha256:
            raise SuiteError([f"{self.path}: changed while it was read"])

    def raise_problems(self) -> None:
        if self.fault_count:
            first = sorted(self.faults, key=lambda fault: fault[0])[:MAX_PROBLEMS]
            problems = [f"{self.path}:{number}: {what}" for number, what in first]
            more = self.fault_count - len(problems)
            raise SuiteError([*problems, f"and {more} more"] if more else problems)
        if not self.cases:
            raise SuiteError([f"{self.path}: no cases"])

    def _note(self, number: int, found: Faults) -> None:
        room = max(0, MAX_PROBLEMS - len(self.faults))
        self.faults.extend((number, f"{where}: {what}") for where, what in found[:room])
        self.fault_count += len(found)


def _ids_of(lines: Lines, suspects: list[int]) -> Iterator[tuple[int, str]]:
    pending = iter(suspects)
    wanted = next(pending, None)
    for number, raw in lines:
        if number != wanted:
            continue
        wanted = next(pending, None)
        case_id = None if raw is None else parse_line(raw, line=number, index=0)[0]
        if case_id is not None:
            yield number, case_id
