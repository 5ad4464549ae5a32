"""The pages over a furnished data folder, to be looked at.

    python -m tests.serve.pages.showing 8123

serves them on that port of loopback until it is interrupted.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from denv.errors import DenvError
from denv.serve.context import ServeContext
from denv.serve.pages import asset_routes, error_page, page_routes
from denv.store import open_store
from tests.serve.pages.furnishing import NOW, furnish
from tests.serve.pages.keeping import several
from tests.serve.pages.site import POLICY, Someone


def app_of(context: ServeContext, caller: Someone | None) -> Any:
    """Give all pages for one caller, or for nobody."""
    app = Starlette(
        routes=[*page_routes(context), *asset_routes()],
        exception_handlers={HTTPException: error_page, DenvError: error_page},
    )

    async def let_in(scope: Any, receive: Any, send: Any) -> None:
        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append((b"content-security-policy", POLICY.encode()))
            await send(message)

        if scope["type"] == "http" and caller is not None:
            scope.setdefault("state", {})["caller"] = caller
        await app(scope, receive, guarded)

    return let_in


@contextmanager
def served(app: Any, *, port: int = 0) -> Iterator[str]:
    """Serve an application on loopback for the length of the block."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=port, log_level="warning", ws="none", lifespan="off")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    host, bound = server.servers[0].sockets[0].getsockname()
    try:
        yield f"http://{host}:{bound}"
    finally:
        server.should_exit = True
        thread.join(10)


def main() -> None:
    """Furnish a folder and serve it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = open_store(folder / "home")
        furnish(store, folder)
        several(store, folder)
        context = ServeContext(store, folder / "home", now=lambda: NOW)
        with served(app_of(context, Someone()), port=int(sys.argv[1])) as address:
            sys.stdout.write(f"{address}\n")
            sys.stdout.flush()
            threading.Event().wait()


if __name__ == "__main__":
    main()
