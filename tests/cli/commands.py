"""Every command that there is, as users call it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from denv.cli import denv


def walk(context: click.Context | None = None) -> Iterator[click.Context]:
    """Give each command and group in its context, the whole tree from ``denv`` on."""
    context = context or click.Context(denv, info_name="denv", **denv.context_settings)
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            found = context.command.get_command(context, name)
            assert found is not None
            yield from walk(click.Context(found, parent=context, info_name=name))


def words(context: click.Context) -> list[str]:
    """Give what follows ``denv`` on the command line."""
    return context.command_path.split()[1:]
