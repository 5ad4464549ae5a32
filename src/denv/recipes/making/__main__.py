"""``python -m denv.recipes.making``: write the files of the recipe ``generic``."""

from __future__ import annotations

from pathlib import Path

from denv.recipes.making import files


def main() -> None:
    """Write each file anew, into the package."""
    folder = Path(__file__).parent.parent / "generic"
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
