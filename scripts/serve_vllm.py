"""Serve the lab's model with a real vLLM on the CPU: a second engine for opt-in tests.

Usage: python scripts/serve_vllm.py [--dtype float32] [--port 8301] [-- options of vLLM]

The first run builds an environment (2.5 GB) and converts the weights (0.5 GB) in the lab's cache.
The base URL is the one line on standard output, printed when the server answers; the log goes to
standard error. SIGINT or SIGTERM ends all of it. Linux on x86_64 with Python 3.11; pip must know
where PyTorch's builds for the CPU are.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from denv.errors import DenvError, HarnessError
from denv.lab.cache import cache_dir, locked, sha256_of
from denv.lab.model import fetch

HERE = Path(__file__).parent
PINS = HERE / "vllm-constraints.txt"
CONVERTER = HERE / "gguf_to_hf.py"
MODEL = "smollm2"
START_TIMEOUT_S = 300.0
STOP_TIMEOUT_S = 15.0
POLL_INTERVAL_S = 0.5
STAMP = "finished"

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1

SETTINGS = {
    "HF_HUB_OFFLINE": "1",
    "TQDM_DISABLE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # in GiB
}


def say(line: str) -> None:
    """Tell the user something; standard output holds the URL alone."""
    sys.stderr.write(f"{line}\n")


def run(command: list[str], *, doing: str) -> None:
    """Run one step of the set-up."""
    say(doing)
    environment = {**os.environ, **SETTINGS, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(  # noqa: S603 - a fixed argument list, no shell
        command, stdin=subprocess.DEVNULL, stdout=sys.stderr, env=environment, check=False
    )
    if done.returncode != 0:
        raise HarnessError(f"{doing}: ended with status {done.returncode}")


@contextmanager
def made_once(folder: Path) -> Iterator[bool]:
    """Say whether the folder is still to be made; it counts as made when the block ends well."""
    with locked(folder):
        missing = not (folder / STAMP).is_file()
        if missing:
            shutil.rmtree(folder, ignore_errors=True)
        yield missing
        (folder / STAMP).touch()


def environment(cache: Path) -> Path:
    """Give the Python of the environment, which is built again whenever the pins change."""
    pins = hashlib.sha256(PINS.read_bytes()).hexdigest()
    folder = cache / f"vllm-{pins[:16]}"
    python = folder / "bin" / "python"
    with made_once(folder) as missing:
        if missing:
            say(f"building {folder} (once)")
            venv.create(folder, with_pip=True, symlinks=True)
            pip = [str(python), "-m", "pip", "install", "--quiet", "--no-input", "--no-deps"]
            run([*pip, "--requirement", str(PINS)], doing="installing vLLM")
    return python


def converted(gguf: Path, cache: Path, *, python: Path) -> Path:
    """Give the weights as a folder that vLLM loads."""
    digest = sha256_of(gguf) + sha256_of(CONVERTER)
    folder = cache / f"{gguf.stem}-hf-{hashlib.sha256(digest.encode()).hexdigest()[:16]}"
    with made_once(folder) as missing:
        if missing:
            run([str(python), str(CONVERTER), str(gguf), str(folder)], doing="converting weights")
    return folder


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def end_with_parent() -> None:
    """Have this process ended when its parent is gone, whatever ended that."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def start(
    python: Path, weights: Path, *, port: int, chosen: argparse.Namespace
) -> subprocess.Popen[bytes]:
    """Start the server in a session of its own, so that its workers end with it."""
    command = [
        str(python),
        "-m",
        "vllm.entrypoints.openai.api_server",
    ]  # `vllm` itself will not start
    command += ["--model", ".", "--served-model-name", MODEL]  # it shows the path that it was given
    command += ["--host", "127.0.0.1", "--port", str(port), "--dtype", chosen.dtype]
    command += ["--max-model-len", str(chosen.max_model_len), "--max-num-seqs", "8"]
    command += ["--enforce-eager", "--enable-scale-out"]  # the latter opens the render endpoints
    command += ["--enable-auto-tool-choice", "--tool-call-parser", "hermes", *chosen.options]
    openmp = python.parent.parent / "lib" / "libiomp5.so"
    return subprocess.Popen(  # noqa: S603 - a fixed argument list, no shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        env={**os.environ, **SETTINGS, "LD_PRELOAD": str(openmp)},
        cwd=weights,
        start_new_session=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509 - there are no threads here
    )


def wait_until_ready(server: subprocess.Popen[bytes], port: int) -> None:
    """Return once the server says that it is healthy."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise HarnessError(f"vLLM ended with status {server.returncode} before it answered")
        with (
            suppress(urllib.error.URLError, ConnectionError, TimeoutError),  # not listening yet
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer,
        ):
            if answer.status == 200:
                return
        time.sleep(POLL_INTERVAL_S)
    raise HarnessError(f"vLLM did not answer within {START_TIMEOUT_S:g} s")


def stop(server: subprocess.Popen[bytes]) -> None:
    """End the server and its workers: asked first, then made to."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(server.pid, number)
        with suppress(subprocess.TimeoutExpired):
            server.wait(STOP_TIMEOUT_S)


def interrupted(number: int, _frame: object) -> NoReturn:
    """Turn a signal into an ordinary end, so that the server is stopped."""
    raise SystemExit(128 + number)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--port", type=int, default=0, help="0, the default, picks a free one")
    parser.add_argument("--gguf", type=Path, help="other weights than the lab's own")
    parser.add_argument("--cache", type=Path, help="another folder than the lab's cache")
    parser.add_argument("--max-model-len", type=int, default=4096)
    parser.add_argument("--prepare", action="store_true", help="only build what is needed")
    parser.add_argument("options", nargs="*", help="further options of vLLM, after --")
    return parser.parse_args()


def main() -> int:
    """Build what is missing, then serve until a signal comes or the server ends by itself."""
    chosen = arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    try:
        cache = chosen.cache or cache_dir()
        python = environment(cache)
        gguf = chosen.gguf or fetch(cache_dir(), progress=say)
        weights = converted(gguf, cache, python=python)
        if chosen.prepare:
            return 0
        port = chosen.port or free_port()
        server = start(python, weights, port=port, chosen=chosen)
        try:
            wait_until_ready(server, port)
            sys.stdout.write(f"http://127.0.0.1:{port}/v1\n")
            sys.stdout.flush()
            return server.wait()
        finally:
            stop(server)
    except DenvError as error:
        say(str(error))
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
