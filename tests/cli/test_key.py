"""``denv key``: made once, private to its owner, and its public part shown again."""

from __future__ import annotations

import stat
import subprocess
import sys


async def test_a_key_is_made_and_shown(denv, tmp_path):
    """The private file has mode 600, the public part is printed and lies beside it."""
    path = tmp_path / "mine.key"
    made = await denv("key", "new", "--out", path)
    assert made.code == 0, made.err
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made.out.startswith("-----BEGIN PUBLIC KEY-----")
    assert (tmp_path / "mine.pub").read_text() == made.out
    assert "PRIVATE" not in made.out + made.err
    assert (await denv("key", "show", path)).out == made.out


async def test_a_key_is_never_overwritten(denv, tmp_path):
    """Neither part is replaced by a new one."""
    path = tmp_path / "mine.key"
    await denv("key", "new", "--out", path)
    before = path.read_bytes()
    ended = await denv("key", "new", "--out", path)
    assert (ended.code, path.read_bytes()) == (2, before)
    path.unlink()
    assert (await denv("key", "new", "--out", path)).code == 2


async def test_what_is_no_key(denv, tmp_path):
    """A file that others can read, that is no key or not there is exit 2."""
    path = tmp_path / "mine.key"
    assert "there is no such key" in (await denv("key", "show", path)).err
    await denv("key", "new", "--out", path)
    path.chmod(0o644)
    assert "can be read by others" in (await denv("key", "show", path)).err
    path.chmod(0o600)
    path.write_text("nothing")
    ended = await denv("key", "show", path)
    assert (ended.code, len(ended.lines)) == (2, 1)


def test_a_disk_that_is_full_leaves_nothing(tmp_path):
    """The file is named, and neither part is left to pass for a key (a limit stands for a disk)."""
    path = tmp_path / "mine.key"
    limited = 'ulimit -f 0; exec "$0" -m denv key new --out "$1"'
    ended = subprocess.run(
        ["/bin/sh", "-c", limited, sys.executable, str(path)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 4
    assert ended.stderr == f"denv: {path}: File too large\n"
    assert list(tmp_path.iterdir()) == []
