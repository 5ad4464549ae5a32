"""Write the table of phases, events and rules into docs/rollout.md, from the program's own table.

    python scripts/rollout_table.py

What stands between the two marks is replaced; a test compares it with the program.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from denv.rollout.states.events import Answer
from denv.rollout.states.rules import MEANINGS, Rule
from denv.rollout.states.table import ROWS, Row

PAGE = Path(__file__).parents[1] / "docs" / "rollout.md"
BEGIN, END = "<!-- table of rules: begin -->", "<!-- table of rules: end -->"


def table() -> str:
    """Give both tables as Markdown."""
    return f"{BEGIN}\n\n{_rows()}\n{_meanings()}\n{END}"


def _rows() -> str:
    lines = ["| in phase | event | rules |", "|---|---|---|"]
    lines += [_line(row) for row in ROWS if not _is_late(row)]
    lines.append("| any | an answer to what is not awaited | `ignored-stale`, `ignored-over` |")
    lines.append("| any | an answer of another kind than is awaited | `ignored-other-answer` |")
    return "\n".join(lines) + "\n"


def _is_late(row: Row) -> bool:
    """Whether it is an answer after the end, for which one line stands below."""
    return row.rules == (Rule.IGNORED_OVER,) and row.event in get_args(Answer)


def _line(row: Row) -> str:
    phases = ", ".join(phase.value for phase in row.phases)
    event = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", row.event.__name__).lower()
    rules = ", ".join(f"`{rule}`" for rule in row.rules)
    return f"| {phases} | {event} | {rules} |"


def _meanings() -> str:
    lines = ["| rule | what it says |", "|---|---|"]
    lines += [f"| `{rule}` | {said} |" for rule, said in MEANINGS.items()]
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """Give the page with the tables as they are now."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{table()}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
