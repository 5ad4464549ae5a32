"""Print the measured levels and coverages as Markdown tables.

    python -m simulations [--quick] [RULE …]

All of it takes some five minutes of one processor. Each setting has a random stream of its own, so
that a rule gives the same figures alone and among others. The exit status is 1 where a level was
found exceeded by more than the chance of the draw.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from simulations import RULES
from simulations.row import Row
from simulations.table import tables


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rules that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m simulations")
    parser.add_argument("--quick", action="store_true", help="fewer settings and runs")
    parser.add_argument("rules", nargs="*", metavar="RULE", help=", ".join(RULES))
    options = parser.parse_args(arguments)
    unknown = [name for name in options.rules if name not in RULES]
    if unknown:
        parser.error(f"no rule {unknown[0]}: choose among {', '.join(RULES)}")
    found: list[Row] = []
    for name in options.rules or RULES:
        began = time.perf_counter()
        found += RULES[name](options.quick)
        sys.stderr.write(f"{name}: {time.perf_counter() - began:.1f} s\n")
    sys.stdout.write(tables(found))
    return int(not all(row.held for row in found if row.kind == "level"))


if __name__ == "__main__":
    sys.exit(main())
