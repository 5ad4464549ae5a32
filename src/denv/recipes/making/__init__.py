"""How the suite of the recipe ``generic`` is made: authored cases, and families from a seed.

Everything here is pure: a seed gives the same cases on every machine, and neither a clock nor a
file is read. ``python -m denv.recipes.making`` writes the recipe's files.
"""

from denv.recipes.making.assembling import (
    PARTS,
    PUBLIC_SEED,
    authored,
    families,
    files,
    generate,
    golden,
    private_part,
)

__all__ = [
    "PARTS",
    "PUBLIC_SEED",
    "authored",
    "families",
    "files",
    "generate",
    "golden",
    "private_part",
]
