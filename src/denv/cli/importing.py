"""``denv suite import``: another tool's file as a suite."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from denv.cli.outputs import check_files, check_targets, is_standard_output, write_text
from denv.errors import UsageError
from denv.release import NOT_REGULAR, is_special, read_text
from denv.report.text import escaped, line
from denv.suite import dump_case
from denv.suite.imports import (
    Imported,
    UncarriedError,
    load_yaml,
    open_archive,
    open_json,
    read_inspect,
    read_kvv,
    read_openai_evals,
    read_promptfoo,
)

MAX_BYTES = 1024**3
MAX_NAMED_BYTES = 16 * 1024**2
MAX_LINE = 2000

_AS_TEXT = (".txt", ".md", ".j2", ".json", ".jsonl", ".yaml", ".yml")


def import_command(file: Path, *, form: str, out: str, compare: Any, as_json: bool) -> None:
    """Read the other tool's file, write the suite, and list what was left behind."""
    if compare and form != "openai-evals":
        raise UsageError("--compare is for --from openai-evals alone")
    if as_json and is_standard_output(out):
        raise UsageError("standard output takes one thing: give --out a file, or leave --json out")
    check_targets({"--out": out})
    check_files({"--out": out}, [("FILE", file)])
    read = _READERS[form]
    found = read_openai_evals_file(file, compare) if compare else read(file)
    _say(found, out, as_json=as_json)
    if not found.cases:
        raise UsageError(f"{file}: nothing of it could be carried over, so no suite was written")
    write_text("--out", out, "".join(dump_case(case) + "\n" for case in found.cases))


def read_openai_evals_file(file: Path, compare: Any = "match") -> Imported:
    """Read the samples of an eval."""
    return read_openai_evals(read_text(file, most=MAX_BYTES), source=str(file), comparison=compare)


def _read_kvv_file(file: Path) -> Imported:
    return read_kvv(read_text(file, most=MAX_BYTES), source=str(file))


def _read_promptfoo_file(file: Path) -> Imported:
    config = _value(file, read_text(file, most=MAX_BYTES))
    if not isinstance(config, dict):
        raise UsageError(f"{file}: not a mapping of keys to values")
    return read_promptfoo(config, source=str(file), read=_named_files(file.parent))


def _read_inspect_file(file: Path) -> Imported:
    source = str(file)
    if file.suffix != ".eval":
        return read_inspect(
            *open_json(read_text(file, most=MAX_BYTES), source=source), source=source
        )
    if is_special(file):
        raise UsageError(f"{file}: {NOT_REGULAR}")
    try:
        with file.open("rb") as stream:
            return read_inspect(*open_archive(stream, source=source), source=source)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None


_READERS: Mapping[str, Callable[[Path], Imported]] = {
    "kvv": _read_kvv_file,
    "promptfoo": _read_promptfoo_file,
    "openai-evals": read_openai_evals_file,
    "inspect": _read_inspect_file,
}


def _value(file: Path, text: str) -> Any:
    """Parse a configuration; JSON is YAML, apart from what YAML forbids in it, such as tabs."""
    if file.suffix == ".json":
        try:
            return json.loads(text)
        except RecursionError:
            raise UsageError(f"{file}: nested too deeply") from None
        except ValueError as error:
            raise UsageError(f"{file}: not JSON: {error}") from None
    return load_yaml(text, source=str(file))


def _named_files(folder: Path) -> Callable[[str], Any]:
    """Give a reader of the files that a configuration names, from its own folder on."""

    def read(written: str) -> Any:
        name = written.removeprefix("file://")
        if any(sign in name for sign in "*?{"):
            raise UncarriedError(f"names several files: {written[:60]}")
        if not name.endswith(_AS_TEXT):
            raise UncarriedError(f"names a file that is not read here: {written[:60]}")
        path = folder / name
        try:
            text = read_text(path, most=MAX_NAMED_BYTES)
            if path.suffix == ".jsonl":
                return [json.loads(each) for each in text.split("\n") if each.strip()]
            if path.suffix in {".yaml", ".yml"}:
                return load_yaml(text, source=str(path))
            return _json_or_template(text) if path.suffix == ".json" else text
        except RecursionError:
            raise UncarriedError(f"{written[:60]}: nested too deeply") from None
        except (UsageError, ValueError) as error:
            raise UncarriedError(f"{written[:60]}: {error}") from None

    return read


def _json_or_template(text: str) -> Any:
    """Parse JSON; a template that only becomes JSON once it is filled in stays a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _say(found: Imported, out: str, *, as_json: bool) -> None:
    """List what was left behind on standard error, with a count of everything."""
    lost = sum(each.case for each in found.leftovers)
    parts = len(found.leftovers) - lost
    if as_json:
        left = [
            {"where": each.where, "why": each.why, "case": each.case} for each in found.leftovers
        ]
        document = {"out": out, "cases": len(found.cases), "cases_left": lost, "left": left}
        click.echo(escaped(json.dumps(document, ensure_ascii=False, indent=2)))
    for each in found.leftovers:
        what = "" if each.case else " (cases are carried without it)"
        click.echo(line(f"{each.where}: {each.why}{what}", MAX_LINE), err=True)
    click.echo(
        f"{len(found.cases)} cases carried over, {lost} left behind, {parts} parts left out",
        err=True,
    )
