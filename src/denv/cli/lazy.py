"""Groups whose commands are imported when they are used, since some imports cost seconds."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """A group of commands, some of them named as ``module:name`` and imported on demand."""

    def __init__(self, *args: Any, lazy: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands without importing them."""
        return sorted({*self._lazy, *super().list_commands(ctx)})

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the commands that are imported on demand by their names alone, and import none.

        To import them all for what they say of themselves takes longer than somebody waits.
        """
        known = {name: each for name, each in self.commands.items() if not each.hidden}
        offered = [
            CompletionItem(name, help=known[name].get_short_help_str() if name in known else None)
            for name in sorted({*self._lazy, *known})
            if name.startswith(incomplete)
        ]
        # Options; the group's own completion would import the commands.
        return [*offered, *click.Command.shell_complete(self, ctx, incomplete)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command that is asked for."""
        target = self._lazy.get(cmd_name)
        if target is None:
            return super().get_command(ctx, cmd_name)
        module, name = target.split(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command
