"""A real PostgreSQL for tests: one server a test process, a new database where it is asked for."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

import psycopg
import pytest

_numbers = itertools.count(1)


def new_database() -> str:
    """Make an empty database; give its URL."""
    port = _server()
    name = f"denv_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(_dsn(port, "postgres"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"postgresql+psycopg://denv@127.0.0.1:{port}/{name}"


def _dsn(port: int, name: str) -> str:
    return f"host=127.0.0.1 port={port} user=denv dbname={name}"


@cache
def _server() -> int:
    """Start the server; it ends with this process. Give its port."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not programs:
        if os.environ.get("DENV_ALL_TESTS"):
            pytest.fail("PostgreSQL is not installed")
        pytest.skip("PostgreSQL is not installed")
    where = programs[-1].parent
    folder = Path(tempfile.mkdtemp(prefix="denv-pg-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    user: list[str] = []
    if os.geteuid() == 0:  # it refuses to be run by root
        shutil.chown(folder, "postgres", "postgres")
        user = ["runuser", "-u", "postgres", "--"]
    data = str(folder / "data")
    subprocess.run(
        [*user, where / "initdb", "-D", data, "-U", "denv", "-A", "trust", "-N", "-E", "UTF8"],
        check=True, capture_output=True, cwd="/",
    )  # fmt: skip
    port = _free_port()
    options = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": folder,
               "fsync": "off", "max_connections": 200, "shared_buffers": "32MB"}  # fmt: skip
    given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    server = subprocess.Popen(
        [*user, where / "postgres", "-D", data, *given],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
    )  # fmt: skip
    atexit.register(_stop, server)
    _wait(port, server)
    return port


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    server.wait(30)


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, f"PostgreSQL ended with {server.returncode}"
        try:
            psycopg.connect(_dsn(port, "postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("PostgreSQL does not answer")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
