"""Requests a second through the router, beside nginx and Caddy as plain proxies.

    python -m benchmarks.router [--seconds N] [--rounds N] [--connections N]

All stand before the same stub (an nginx that answers each POST with the same bytes at once), are
asked by the same ``wrk`` in turn, round by round, each proxy one process of its own. What
``wrk`` reaches against the stub alone is printed too: where that is far above every proxy,
``wrk`` and the stub are not the limit. Needs Debian's wrk, nginx-light and caddy.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from denv.rollout.weights import Table, Weight

BODY = (
    '{"model":"m","messages":[{"role":"user","content":"What is 17 * 23?"}],'
    '"temperature":0,"max_tokens":64}'
)
ANSWER = (
    '{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
    '"message":{"role":"assistant","content":"391"},"finish_reason":"stop"}]}'
)
KEY = "sk-benchmark"


def free_port() -> int:
    """Give a port of loopback that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def running(command: list[str], port: int, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends; wait until it listens."""
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=sys.stderr
    )
    try:
        _wait_for(port, process)
        yield process
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        if process.poll() is not None:
            raise SystemExit(f"{process.args!r} ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens on {port}")


def _nginx(folder: Path, port: int, location: str) -> list[str]:
    folder.mkdir()
    config = folder / "nginx.conf"
    config.write_text(
        f"""
        daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
        events {{ worker_connections 4096; }}
        http {{
          access_log off; keepalive_requests 1000000000; client_body_temp_path {folder}/b;
          proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
          scgi_temp_path {folder}/s;
          {location % {"port": port}}
        }}
        """
    )
    return ["nginx", "-c", str(config), "-p", str(folder)]


def stub(folder: Path, port: int) -> list[str]:
    """Give the command of the stub."""
    location = f"""
      server {{ listen 127.0.0.1:%(port)s backlog=4096;
        location / {{ default_type application/json; return 200 '{ANSWER}'; }} }}"""
    return _nginx(folder, port, location)


def nginx(folder: Path, port: int, upstream: int) -> list[str]:
    """Give the command of nginx as a proxy that keeps its connections to the stub."""
    location = f"""
      upstream stage {{ server 127.0.0.1:{upstream};
        keepalive 256; keepalive_requests 1000000000; }}
      server {{ listen 127.0.0.1:%(port)s backlog=4096;
        location / {{ proxy_pass http://stage; proxy_http_version 1.1;
          proxy_set_header Connection ""; proxy_buffering off; }} }}"""
    return _nginx(folder, port, location)


def caddy(folder: Path, port: int, upstream: int) -> list[str]:
    """Give the command of Caddy as a proxy."""
    folder.mkdir()
    config = folder / "Caddyfile"
    config.write_text(
        "{\n admin off\n auto_https off\n log {\n  level ERROR\n }\n}\n"
        f"http://127.0.0.1:{port} {{\n bind 127.0.0.1\n reverse_proxy 127.0.0.1:{upstream}\n}}\n"
    )
    return ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]


def router(folder: Path, port: int, *upstreams: int, settings: str = "") -> list[str]:
    """Give the command of the router, with one client's key and a table of equal weights."""
    folder.mkdir()
    each = 1 / len(upstreams)
    rows = [
        Weight("r", f"replica-{n}", f"http://127.0.0.1:{upstream}/v1", each)
        for n, upstream in enumerate(upstreams)
    ]
    table = Table(f"http://127.0.0.1:{port}/v1", version=1, weights=tuple(rows))
    (folder / "weights.json").write_bytes(table.to_json())
    key = folder / "key"
    key.touch(mode=0o600)
    key.write_text(KEY)
    config = folder / "router.yaml"
    config.write_text(
        f"listen: 127.0.0.1:{port}\nadmin: 127.0.0.1:{free_port()}\n"
        f"table: {folder}/weights.json\n"
        f"clients: [{{name: bench, key-file: {key}}}]\n"
        "limits: {in-flight: 4096, queue: 10000}\n" + settings
    )
    denv = shutil.which("denv", path=str(Path(sys.executable).parent))
    if denv is None:
        raise SystemExit("the command denv is not beside this Python")
    return [denv, "router", "--config", str(config)]


def _proxy(name: str, folder: Path, port: int, *, upstream: int) -> list[str]:
    if name == "router":
        return router(folder / name, port, upstream)
    return (nginx if name == "nginx" else caddy)(folder / name, port, upstream)


def wrk(port: int, folder: Path, *, seconds: int, connections: int) -> float:
    """Ask for some seconds; give the requests a second, all of which must be answered well."""
    script = folder / "post.lua"
    script.write_text(
        f"wrk.method = 'POST'\nwrk.path = '/v1/chat/completions'\nwrk.body = '{BODY}'\n"
        "wrk.headers['Content-Type'] = 'application/json'\n"
        f"wrk.headers['Authorization'] = 'Bearer {KEY}'\n"
    )
    done = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(script),
         f"http://127.0.0.1:{port}"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise SystemExit(f"not all requests were answered well:\n{done.stdout}")
    found = re.search(r"Requests/sec:\s*([0-9.]+)", done.stdout)
    if found is None:
        raise SystemExit(f"wrk said nothing of use:\n{done.stdout}")
    return float(found[1])


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--seconds", type=int, default=8)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--connections", type=int, default=64)
    chosen = options.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports = {"direct": free_port()}
        stack.enter_context(running(stub(folder / "stub", ports["direct"]), ports["direct"]))
        for name in ("nginx", "caddy", "router"):
            port = ports[name] = free_port()
            command = _proxy(name, folder, port, upstream=ports["direct"])
            stack.enter_context(running(command, port, HOME=str(folder)))
        rates: dict[str, list[float]] = {name: [] for name in ports}
        for number in range(chosen.rounds):
            for name, port in ports.items():
                rates[name].append(
                    wrk(port, folder, seconds=chosen.seconds, connections=chosen.connections)
                )
            shown = ", ".join(f"{name} {values[-1]:,.0f}/s" for name, values in rates.items())
            print(f"round {number + 1}: {shown}", flush=True)
    for other in ("nginx", "caddy", "direct"):
        ratios = [ours / theirs for ours, theirs in zip(rates["router"], rates[other], strict=True)]
        print(
            f"router / {other}: median {statistics.median(ratios):.3f} "
            f"({min(ratios):.3f} to {max(ratios):.3f})"
        )


if __name__ == "__main__":
    main()
