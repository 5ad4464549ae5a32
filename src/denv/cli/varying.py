"""``denv suite vary``: a recipe's generated cases under a secret seed, as a private part."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from denv.cli.outputs import check_files, check_targets, is_standard_output, print_by
from denv.errors import UsageError

LEAST_SEED = 16
"""Characters of a seed; one that can be guessed makes a private part that is none."""


def vary_command(recipe: str, *, seed_file: Path, out: str) -> None:
    """Write the cases that the seed draws."""
    from denv.client.secrets import read_key_file
    from denv.recipes.making import private_part

    check_targets({"--out": out})
    check_files({"--out": out}, [("--seed-file", seed_file)])
    seed = read_key_file(seed_file).reveal()
    if len(seed) < LEAST_SEED:
        raise UsageError(f"--seed-file: a seed has at least {LEAST_SEED} characters")
    lines = [
        json.dumps(case, ensure_ascii=False) for case, _ in private_part(recipe, seed.encode())
    ]
    text = "".join(f"{line}\n" for line in lines)
    if is_standard_output(out):
        print_by(lambda stream: stream.write(text))
        return
    _write_private(Path(out), text)
    click.echo(f"{len(lines)} private cases in {out}", err=True)


def _write_private(path: Path, text: str) -> None:
    """Replace the file in one step by one that only its owner may read."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UsageError(f"--out {path}: cannot be written: {error.strerror}") from None
