"""``denv adapter``: open DeepSeek weights behind the official APIs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from denv.cli.completing import recipes
from denv.cli.saying import say
from denv.errors import UsageError

if TYPE_CHECKING:
    from denv.adapter.engines.protocol import Engine
    from denv.adapter.server import Adapter
    from denv.adapter.settings import AdapterSettings
    from denv.records import Secret

FILE = click.Path(path_type=Path, dir_okay=False)
ENGINE_FLAGS = {
    "engine_name": "name",
    "engine_url": "url",
    "engine_model": "model",
    "weights": "weights",
    "engine_key_env": "key-env",
    "engine_key_file": "key-file",
}
FLAGS = {
    "tokenizer": "tokenizer",
    "prompt": "prompt",
    "thinking": "thinking",
    "context_limit": "context-limit",
    "host": "host",
    "port": "port",
    "listed": "listed",
    "key_env": "key-env",
    "key_file": "key-file",
}


@click.command()
@click.option("--config", type=FILE, metavar="F", help="adapter.yaml; options here win over it.")
@click.option(
    "--recipe",
    metavar="NAME|PATH",
    shell_complete=recipes,
    help="Recipe whose settings hold where nothing else says so.",
)
@click.option(
    "--engine",
    "engine_name",
    metavar="NAME",
    help="llama.cpp, vllm, sglang, llama.cpp-in-process or offline:MODULE:CLASS.",
)
@click.option("--engine-url", metavar="URL", help="Where the engine is, without a path of its API.")
@click.option("--engine-model", metavar="M", help="What the engine calls the model.")
@click.option("--weights", type=FILE, metavar="F", help="Weights of an engine in this process.")
@click.option("--engine-key-env", metavar="NAME", help="Variable that holds the engine's key.")
@click.option(
    "--engine-key-file", type=FILE, metavar="F", help="File of mode 600 with the engine's key."
)
@click.option("--tokenizer", type=FILE, metavar="F", help="The model's tokenizer.json.")
@click.option(
    "--prompt",
    type=click.Choice(["auto", "text", "ids"]),
    help="How prompts are sent; auto: ids where the engine takes them and there is a tokenizer.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME=VERSION",
    help="Name that requests may use, for v4-pro or v4.1-flash (repeatable).",
)
@click.option(
    "--listed", multiple=True, metavar="NAME", help="Name that /v1/models shows (repeatable)."
)
@click.option("--context-limit", type=click.IntRange(1), metavar="N", help="Tokens of the context.")
@click.option("--thinking/--no-thinking", default=None, help="Mode of requests that name none.")
@click.option("--host", metavar="H", help="Where it listens.  [default: 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Where it listens; 0: a free one.  [default: 8092]",
    metavar="P",
)
@click.option(
    "--key-env", multiple=True, metavar="NAME", help="Variable with a client's key (repeatable)."
)
@click.option(
    "--key-file",
    multiple=True,
    type=FILE,
    metavar="F",
    help="File of mode 600 with such a key (repeatable).",
)
@click.option("--check", is_flag=True, help="Check settings, keys and the engine, and end.")
def adapter(**options: Any) -> int:
    """Serve DeepSeek's APIs in front of an engine that only completes prompts.

    Chat Completions, Responses and Messages, streamed or not, for V4-Pro and V4.1-Flash. Ends at
    SIGTERM or SIGINT, when what is under way has been answered.

    Exit codes: 0 ended as asked, 2 usage error, 4 error.
    """
    from denv.adapter.extra import require_recipe
    from denv.adapter.settings import load_adapter
    from denv.recipes import load

    require_recipe()
    named = options["recipe"]
    recipe = None if named is None else load(named)
    settings = load_adapter(options["config"], _flags(options), recipe=recipe)
    keys = tuple(_keys(settings))
    _check_open(settings, keys)
    from denv.cli import loop
    from denv.serve.log import log_in_lines

    log_in_lines()
    loop.run(_go(settings, keys, check=options["check"]))
    return 0


async def _go(settings: AdapterSettings, keys: tuple[Secret, ...], *, check: bool) -> None:
    import asyncio

    from denv.adapter.engines import open_engine
    from denv.adapter.formats import MARKS
    from denv.adapter.serving import make_adapter, serve
    from denv.adapter.settings import engine_of
    from denv.cli.running import stopped_by_signals

    engine: Engine = open_engine(engine_of(settings), special_tokens=MARKS)
    try:
        made = await make_adapter(settings, engine, keys=keys)
        if check:
            say(f"all is well: {_about(made)}")
            return
        stop = asyncio.Event()
        with stopped_by_signals(stop):
            async with serve(made) as url:
                say(f"serving {url}: {_about(made)}")
                await stop.wait()
        say("ended")
    finally:
        await engine.close()


def _about(made: Adapter) -> str:
    info = made.info
    engine = f"{info.name} {info.version}" if info.version else info.name
    sent = "token ids" if made.reader.sends_ids else "text"
    return f"{engine}, {made.context} tokens of context, prompts as {sent}"


def _flags(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give the options that were written as the file's keys."""
    flags: dict[str, Any] = dict(_given(options, FLAGS))
    engine = dict(_given(options, ENGINE_FLAGS))
    if engine:
        flags["engine"] = engine
    if options["models"]:
        flags["models"] = dict(_named(text) for text in options["models"])
    return flags


def _given(options: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for option, key in names.items():
        value = options[option]
        if isinstance(value, tuple):
            if value:
                yield key, tuple(str(one) for one in value)
        elif value is not None:
            yield key, str(value) if isinstance(value, Path) else value


def _named(text: str) -> tuple[str, str]:
    name, equals, version = text.rpartition("=")
    if not equals or not name:
        raise UsageError(f"--model {text!r}: write it as NAME=VERSION")
    return name, version


def _keys(settings: AdapterSettings) -> Iterator[Secret]:
    from denv.client.secrets import read_key_env, read_key_file

    yield from map(read_key_env, settings.key_env)
    yield from map(read_key_file, settings.key_file)


def _check_open(settings: AdapterSettings, keys: tuple[Secret, ...]) -> None:
    """Refuse to be open to a network without a key."""
    from denv.adapter.keys import is_loopback

    if not keys and not is_loopback(settings.host):
        raise UsageError(f"--host {settings.host} is not loopback: name keys of its clients")
