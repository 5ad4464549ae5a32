"""Fuzz the API of a real ``denv serve`` for some minutes, with a token, over a filled folder.

    python -m scripts.fuzz_api [SECONDS]

Exit codes are those of schemathesis: 0 where every answer was as the API describes it.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from denv.store import open_store
from tests.serve.api.filling import fill

BIN = Path(sys.executable).parent
SECONDS = 600
A_MINUTE = 1000
"""Fewer requests than one caller may send, so that few answers are a 429."""

# Without an engine whatever would need one is answered by 503, as the API says it is.
CONFIG = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 503]
"""


def main(seconds: int) -> int:
    """Fill a folder, serve it, and fuzz what is served."""
    with tempfile.TemporaryDirectory(prefix="denv-fuzz-") as name:
        folder = Path(name)
        home = folder / "home"
        os.environ |= {"DENV_HOME": str(home)}
        os.environ.pop("DENV_DATABASE", None)
        store = open_store(home)
        asyncio.run(fill(store, home, folder))
        store.close()
        token = subprocess.run(  # noqa: S603 - our own command
            [BIN / "denv", "token", "new", "--role", "run", "--name", "fuzz"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        log = folder / "serve.log"
        with log.open("w") as told:
            command = [BIN / "denv", "serve", "--no-engine", "--port", "0"]
            server = subprocess.Popen(command, stdout=told, stderr=told)  # noqa: S603
            try:
                code = _fuzz(_address(log, server), token, folder, seconds=seconds)
            finally:
                server.terminate()
                server.wait(30)
        broken = [line for line in log.read_text().splitlines() if "Traceback" in line]
        if broken:
            sys.stdout.write(log.read_text()[-20_000:])
        return code or len(broken)


def _address(log: Path, server: subprocess.Popen[bytes]) -> str:
    """Wait until the server has said where it is."""
    for _ in range(600):
        found = re.search(r"http://127\.0\.0\.1:[0-9]+", log.read_text())
        if found:
            return found[0]
        try:
            server.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise SystemExit(f"denv serve did not start: {log.read_text()}")


def _fuzz(address: str, token: str, folder: Path, *, seconds: int) -> int:
    """Run schemathesis with one seed after another until the time is over; give its worst code."""
    config = folder / "schemathesis.toml"
    config.write_text(CONFIG)
    over = time.monotonic() + seconds
    worst, seed = 0, 0
    while (left := over - time.monotonic()) > 0:
        seed += 1
        command = [
            *(BIN / "st", "--config-file", config, "run", f"{address}/api/v1/openapi.json"),
            *("--header", f"Authorization: Bearer {token}", "--rate-limit", f"{A_MINUTE}/m"),
            *("--seed", str(seed), "--max-examples", "20", "--continue-on-failure"),
            *("--suppress-health-check", "all", "--no-color"),
        ]
        try:
            ended = subprocess.run(command, check=False, cwd=folder, timeout=left)  # noqa: S603
        except subprocess.TimeoutExpired:
            break
        worst = max(worst, ended.returncode)
    return worst


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
