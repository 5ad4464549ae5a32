"""Groups whose commands are imported when they are used, since some imports cost seconds."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import click
from click.shell_completion import CompletionItem

WHOLE = 1000
"""Letters of a first sentence that are shown: all of it, on as many lines as that takes."""


class LazyGroup(click.Group):
    """A group of commands, some of them imported on demand.

    ``lazy`` holds for each name where the command is, as ``module:name``, and the first sentence
    of its help: so pages of help import no command but the one that is asked about.
    """

    def __init__(
        self, *args: Any, lazy: Mapping[str, tuple[str, str]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands without importing them."""
        return sorted({*self.lazy, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command that is asked for."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, name = self.lazy[cmd_name][0].split(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command is for, whole: half a sentence says nothing."""
        rows = list(self._told())
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the commands and what they are for, and import none for that."""
        offered = [
            CompletionItem(name, help=says)
            for name, says in self._told()
            if name.startswith(incomplete)
        ]
        # Options; the group's own completion would import the commands.
        return [*offered, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for one that does not exist, say which may be meant."""
        name = args[0]
        wrong = not name.startswith("-") and self.get_command(ctx, name) is None
        if wrong and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}. {self._meant(ctx, name)}")
        return super().resolve_command(ctx, args)

    def _told(self) -> Iterator[tuple[str, str]]:
        shown = {
            name: each.get_short_help_str(WHOLE)
            for name, each in self.commands.items()
            if not each.hidden
        }
        yield from sorted(
            {**shown, **{name: says for name, (_, says) in self.lazy.items()}}.items()
        )

    def _meant(self, ctx: click.Context, name: str) -> str:
        near = get_close_matches(name, self.list_commands(ctx))
        here = [f"{ctx.command_path} {each}" for each in near]
        root = ctx.find_root()
        elsewhere = [] if here else list(_named(name, root.command, root))
        found = here or elsewhere
        if found:
            return f"Did you mean {' or '.join(repr(each) for each in found)}?"
        return f"{ctx.command_path} --help names those that there are."


def _named(name: str, command: click.Command, ctx: click.Context) -> Iterator[str]:
    """Give the paths of all commands of a name, for who left a group out."""
    if not isinstance(command, click.Group):
        return
    for each in command.list_commands(ctx):
        found = command.get_command(ctx, each)
        if each == name:
            yield f"{ctx.command_path} {each}"
        elif found is not None:
            yield from _named(name, found, click.Context(found, parent=ctx, info_name=each))
