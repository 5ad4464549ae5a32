"""A command that is told to end while it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

SLOW = """
import sys, time
print("importing", flush=True)
time.sleep(60)
"""

START = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("denv", run_name="__main__")
"""
"""A shell's background jobs, which tests may be one of, are started with SIGINT ignored."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("module", ["uvloop", "aiohttp"])
def test_a_signal_during_imports_cancels(tmp_path, module, number):
    """Before a loop handles signals, too, they end a run as cancelled: one line, exit 130."""
    (tmp_path / f"{module}.py").write_text(SLOW)
    url = "http://127.0.0.1:9/v1"
    process = subprocess.Popen(
        [sys.executable, "-c", START, "parity", "gates", "--stage", url, "--reference", url],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "DENV_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert said.strip() == "denv: cancelled"
