"""How other commands find the engine of a data folder."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest

from denv.errors import HarnessError
from denv.rollout.engine.address import ADDRESS, Serving, announced, find_serving, serving_lock

HERE = Serving("127.0.0.1:7233", "default", "denv", "http://127.0.0.1:8090", os.getpid())


def test_an_engine_is_found_while_it_serves_and_not_after(tmp_path):
    """The address is there, for its owner alone, for exactly as long as it is true."""
    assert find_serving(tmp_path) is None
    with serving_lock(tmp_path), announced(tmp_path, HERE):
        assert find_serving(tmp_path) == HERE
        assert stat.S_IMODE((tmp_path / ADDRESS).stat().st_mode) == 0o600
    assert find_serving(tmp_path) is None
    assert not (tmp_path / ADDRESS).exists()


def test_a_second_server_of_one_folder_is_refused_and_told_of_the_first(tmp_path):
    """Two engines on one data folder would roll out twice."""
    with serving_lock(tmp_path), announced(tmp_path, HERE):
        refused = pytest.raises(
            HarnessError, match=r"another denv serve already \(process \d+, http"
        )
        with refused, serving_lock(tmp_path):
            pass
        assert find_serving(tmp_path) == HERE
    with serving_lock(tmp_path):
        pass


SERVER = """
import signal, sys
from pathlib import Path
from denv.rollout.engine.address import Serving, announced, serving_lock
here = Serving("127.0.0.1:7233", "default", "denv", "http://127.0.0.1:8090", 1)
with serving_lock(Path(sys.argv[1])), announced(Path(sys.argv[1]), here):
    print("ready", flush=True)
    signal.pause()
"""


def test_what_a_killed_server_left_is_not_believed(tmp_path):
    """A file whose writer was killed is stale, and the folder is free."""
    command = [sys.executable, "-c", SERVER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert find_serving(tmp_path) is not None
        process.kill()
    assert (tmp_path / ADDRESS).exists()
    assert find_serving(tmp_path) is None
    with serving_lock(tmp_path), announced(tmp_path, HERE):
        assert find_serving(tmp_path) == HERE


@pytest.mark.parametrize("text", ["", "{", "[]", '{"temporal": "x"}', json.dumps(None)])
def test_a_file_that_says_nothing_useful_counts_as_none(tmp_path, text):
    """Whatever stands in the file, finding the engine never fails."""
    (tmp_path / ADDRESS).write_text(text)
    with serving_lock(tmp_path):
        assert find_serving(tmp_path) is None
