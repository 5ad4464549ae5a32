"""The store when processes share it, are killed, or run out of disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from denv.records import Side
from denv.store import open_store

ROOT = Path(__file__).parents[2]

WRITER = """
import resource, sys
from pathlib import Path
from denv.errors import StoreError
from denv.records import Exchange, Side
from denv.store import AnswerKey, RunRecord, StoredAnswer, open_store

folder, run, most, size, limit = Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])
if limit:
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    store = open_store(folder)
    store.create_run(RunRecord(run=run, started=0.0, state="running", settings={}, notes={}))
    for case in range(most):
        answer = StoredAnswer(
            key=AnswerKey(case, Side.STAGE),
            exchange=Exchange(200, body=b"x" * size),
            max_tokens=1,
            answered=1.0,
        )
        store.append(run, [answer], [])
        print(case, flush=True)
except StoreError as error:
    print(f"StoreError: {error}", file=sys.stderr)
    sys.exit(4)
"""


def writer(folder, run, *, most, size=10, limit=0):
    """Start a process that appends answers one by one and prints each that is written."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), run, str(most), str(size), str(limit)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )


def cases(folder, run):
    """Read which cases of a run are there."""
    store = open_store(folder)
    found = sorted(key.case for key in store.answers(run, 0, 10**9))
    store.close()
    return found


def test_two_processes_write_at_once(database, tmp_path):
    """Processes that begin together on a new folder both write all they have."""
    both = [writer(tmp_path / "home", run, most=150) for run in ("a", "b", "c")]
    for process in both:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    for run in ("a", "b", "c"):
        assert cases(tmp_path / "home", run) == list(range(150))


@pytest.mark.parametrize("after", [1, 40])
def test_killed_process_loses_nothing_that_was_written(database, tmp_path, after):
    """After a kill every append that had returned is there, and the store works."""
    process = writer(tmp_path, "r", most=10**6)
    for _ in range(after):
        last = process.stdout.readline()
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate()
    printed = [int(last), *map(int, rest.split())]
    assert set(cases(tmp_path, "r")) >= set(range(max(printed)))
    again = writer(tmp_path, "again", most=3)
    assert again.communicate()[1] == b""
    assert cases(tmp_path, "again") == [0, 1, 2]


def test_full_disk_is_a_store_error(tmp_path):
    """When no byte more can be written it is a StoreError, and what was journaled stays."""
    process = writer(tmp_path, "r", most=1000, size=10_000, limit=600_000)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 4, errors.decode()
    assert errors.startswith(b"StoreError: ")
    assert b"denv.sqlite3" in errors
    written = list(map(int, out.split()))
    assert 10 < len(written) < 1000
    assert set(cases(tmp_path, "r")) >= set(written)
    store = open_store(tmp_path)
    found = store.answers("r", 0, 1000)
    assert {answer.exchange.body for answer in found.values()} == {b"x" * 10_000}
    assert {key.side for key in found} == {Side.STAGE}
    store.close()


def test_folder_that_may_only_be_read(tmp_path):
    """An ordinary user who may only read the data is told so, and nothing is changed."""
    open_store(tmp_path).close()
    before = (tmp_path / "denv.sqlite3").read_bytes()
    (tmp_path / "denv.sqlite3").chmod(0o444)
    tmp_path.chmod(0o555)
    code = (
        "import os, sys\nfrom pathlib import Path\n"
        "from denv.errors import StoreError\nfrom denv.store import open_store, sql\n"
        "import sqlalchemy.dialects.sqlite.pysqlite\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "try:\n    open_store(Path(sys.argv[1]))\n"
        "except StoreError as error:\n    print(error); sys.exit(4)\n"
    )
    for parent in tmp_path.parents:
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(0o711)
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, cwd=ROOT, check=False
    )
    tmp_path.chmod(0o755)
    assert done.returncode == 4, done.stderr.decode()
    assert b"denv.sqlite3" in done.stdout
    assert (tmp_path / "denv.sqlite3").read_bytes() == before
