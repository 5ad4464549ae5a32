"""Sum up a mutation run, a line a module: how many mutants were killed, and how.

Usage: python scripts/mutants.py [folder]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from mutmut.stats import status_by_exit_code

COLUMNS = ("killed", "timeout", "survived", "no tests")
SOURCE = Path("src/denv")


def counts(meta: Path) -> Counter[str]:
    """Count the mutants of one module by what became of them."""
    codes = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"].values()
    return Counter(status_by_exit_code[code] for code in codes)


def line(name: str, found: Counter[str]) -> str:
    """Write a row of the table; what ran past its time is as dead as what a test killed."""
    total = found.total()
    dead = found["killed"] + found["timeout"]
    others = sorted(f"{count} {status}" for status, count in found.items() if status not in COLUMNS)
    cells = [name, total, *(found[column] for column in COLUMNS), f"{100 * dead / total:.1f} %"]
    return f"| {' | '.join(map(str, cells))} |" + "".join(f" {other}" for other in others)


def main() -> None:
    """Print the table, each folder of modules with its sum."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "mutants") / SOURCE
    modules = {path.relative_to(root): counts(path) for path in sorted(root.rglob("*.py.meta"))}
    sums: dict[str, Counter[str]] = {}
    sys.stdout.write(f"| module | mutants | {' | '.join(COLUMNS)} | dead |\n")
    sys.stdout.write("|---|--:|--:|--:|--:|--:|--:|\n")
    for path, found in modules.items():
        if not found:
            continue
        name = path.as_posix().removesuffix(".meta")
        sys.stdout.write(line(f"`{name}`", found) + "\n")
        folder = path.parts[0] + "/" if len(path.parts) > 1 else name.removesuffix(".py")
        sums[folder] = sums.get(folder, Counter()) + found
    for folder, found in sums.items():
        sys.stdout.write(line(f"**{folder}**", found) + "\n")


if __name__ == "__main__":
    main()
