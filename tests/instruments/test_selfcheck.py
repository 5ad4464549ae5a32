"""The self-check: its sum, its record, and what stands in its way."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import denv
from denv.errors import HarnessError, SelfCheckError
from denv.instruments import selfcheck
from denv.instruments.known import Known, load_answers, load_known
from denv.instruments.selfcheck import (
    package_state,
    require_answers_selfcheck,
    require_selfcheck,
    run_selfcheck,
    run_whole_selfcheck,
)


def number(same: bool, case_id: str = "a") -> Known:
    """Give a known case that 1 is 1, or one that says it is not."""
    return Known(case_id, "One is one.", "number", {"texts": ["1", "1"]}, {"same": same})


@pytest.fixture
def few(monkeypatch):
    """Let the package hold one known case, which is read right."""
    monkeypatch.setattr(selfcheck, "load_known", lambda: (number(True),))


@pytest.fixture
def one_wrong(monkeypatch):
    """Let the package hold two known cases, one of which is read wrong."""
    monkeypatch.setattr(selfcheck, "load_known", lambda: (number(True), number(False, "b")))


def test_all_pass():
    """Every instrument reads every known case right."""
    found = run_selfcheck()
    assert found.failures == ()
    assert found.passed == found.total == len(load_known())


def test_what_reads_answers_is_tried_apart():
    """The whole has the cases of answers, FINAL lines and derivations too, all read right."""
    found = run_whole_selfcheck()
    assert found.failures == ()
    assert found.total == len(load_known()) + len(load_answers())
    apart = {known.instrument for known in load_answers()}
    assert apart == {"answer", "final", "derivation"}
    assert apart.isdisjoint(known.instrument for known in load_known())


def test_sympy_is_not_imported_for_the_others():
    """The quick part, which stands before every run, does without SymPy."""
    code = (
        "import sys; from denv.instruments.selfcheck import run_selfcheck; run_selfcheck();"
        "sys.exit('sympy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_is_quick():
    """All of it takes little processor time, so that it can stand before every run."""
    begun = time.process_time()
    run_selfcheck()
    assert time.process_time() - begun < 1.5


def test_failure_says_what_is_right_and_what_was_found():
    """A failure names its case, the rule, what is right and what was found."""
    found = run_selfcheck([number(True), number(False, "b")])
    assert (found.total, found.passed) == (2, 1)
    (failure,) = found.failures
    assert failure.id == "b"
    assert failure.about == "One is one."
    assert json.loads(failure.expected) == {"same": False}
    assert json.loads(failure.got) == {"same": True}


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("by zero"), RecursionError("deep"), KeyError("x")]
)
def test_crash_is_a_failure_of_its_case(monkeypatch, error):
    """What an instrument raises fails the case and names the exception; the others go on."""

    def raises(_text):
        raise error

    monkeypatch.setattr("denv.instruments.trials.find_loop", raises)
    loops = [known for known in load_known() if known.instrument in {"loop", "number"}]
    found = run_selfcheck(loops)
    assert {failure.id for failure in found.failures} == {
        known.id for known in loops if known.instrument == "loop"
    }
    assert all(type(error).__name__ in failure.got for failure in found.failures)


def test_finding_that_cannot_be_shown_is_a_failure(monkeypatch):
    """A finding too deep to be compared or shown fails its case and stops nothing."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    monkeypatch.setattr("denv.instruments.trials.loads", lambda _text, **_: deep)
    strict = [known for known in load_known() if known.instrument == "strict-json"]
    found = run_selfcheck(strict)
    assert found.passed == 0
    assert any("RecursionError" in failure.got for failure in found.failures)


def test_description_of_an_answer_is_checked():
    """An answer that is described wrongly is an error of the data, not of an instrument."""
    wrong = Known("a", "About.", "observe", {"exchange": {"boddy": {}}}, {"text": "x"})
    with pytest.raises(HarnessError, match="boddy"):
        run_selfcheck([wrong])
    both = Known("a", "About.", "observe", {"exchange": {"raw": "", "body": {}}}, {"text": "x"})
    with pytest.raises(HarnessError, match="body, raw"):
        run_selfcheck([both])


@pytest.mark.parametrize(
    ("right", "found"),
    [
        (1, True), (0, False), (1, 1.0), (None, ""), ("", None), ([], None), ({}, None),
        ([1], [1, 2]), ("a", "ab"), ({"a": 1}, {}), (1, "1"),
    ],
)  # fmt: skip
def test_types_are_told_apart(right, found):
    """A number is no boolean, nothing is no empty text, and a part is no whole."""
    assert not selfcheck._agrees("text", right, found)
    assert selfcheck._agrees("text", found, found)


# ---------------------------------------------------------------- the record


def test_answers_have_a_record_of_their_own(tmp_path, monkeypatch):
    """One part's success is not the other's, and each is tried again where its own is missing."""
    monkeypatch.setattr(selfcheck, "load_known", lambda: (number(True),))
    monkeypatch.setattr(selfcheck, "load_answers", lambda: (number(True, "b"),))
    assert require_selfcheck(tmp_path) is not None
    assert require_answers_selfcheck(tmp_path) is not None
    assert require_answers_selfcheck(tmp_path) is None
    (tmp_path / "selfcheck-answers.json").unlink()
    monkeypatch.setattr(selfcheck, "load_answers", lambda: (number(False, "b"),))
    assert require_selfcheck(tmp_path) is None
    with pytest.raises(SelfCheckError, match=r"first failing: b .*`denv parity selfcheck --all`"):
        require_answers_selfcheck(tmp_path)


@pytest.mark.usefixtures("few")
def test_success_is_recorded(tmp_path):
    """A success is recorded, and then not tried again."""
    first = require_selfcheck(tmp_path)
    assert first is not None
    assert first.passed == 1
    assert require_selfcheck(tmp_path) is None
    assert [path.name for path in tmp_path.iterdir()] == ["selfcheck.json"]


@pytest.mark.usefixtures("few")
def test_folder_is_made(tmp_path):
    """The data folder need not exist yet."""
    assert require_selfcheck(tmp_path / "new" / "home") is not None
    assert require_selfcheck(tmp_path / "new" / "home") is None


@pytest.mark.usefixtures("one_wrong")
def test_failure_stops_and_leaves_no_record(tmp_path):
    """A failure raises each time, names count and first case, and is never recorded."""
    for _ in range(2):
        with pytest.raises(SelfCheckError, match=r"^self-check: 1/2; first failing: b .*run `denv"):
            require_selfcheck(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"state": "0" * 64}, {"passed": 0}, {"total": 2}, {"total": 0, "passed": 0},
        {"total": True, "passed": True}, {"schema": "denv.selfcheck/0"}, {"passed": None},
    ],
)  # fmt: skip
@pytest.mark.usefixtures("one_wrong")
def test_record_of_something_else_hides_nothing(tmp_path, change):
    """A record of another state, or of less than all, does not stand for a success."""
    record = {"schema": "denv.selfcheck/1", "state": package_state(), "total": 1, "passed": 1}
    (tmp_path / "selfcheck.json").write_text(json.dumps(record | change))
    with pytest.raises(SelfCheckError):
        require_selfcheck(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
@pytest.mark.usefixtures("few")
def test_unreadable_record_is_replaced(tmp_path, content):
    """A record that cannot be read blocks nothing: the cases are tried and it is written anew."""
    (tmp_path / "selfcheck.json").write_bytes(content)
    assert require_selfcheck(tmp_path) is not None
    assert require_selfcheck(tmp_path) is None


@pytest.mark.usefixtures("few")
def test_unwritable_record_blocks_nothing(tmp_path):
    """Where no record can be written the cases are tried each time."""
    (tmp_path / "selfcheck.json").mkdir()
    assert require_selfcheck(tmp_path) is not None
    assert require_selfcheck(tmp_path) is not None
    assert [path.name for path in tmp_path.iterdir()] == ["selfcheck.json"]
    (tmp_path / "file").write_text("")
    assert require_selfcheck(tmp_path / "file") is not None


@pytest.mark.usefixtures("one_wrong")
def test_unwritable_record_hides_no_failure(tmp_path):
    """A failure is one, also where nothing can be written."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SelfCheckError):
        require_selfcheck(tmp_path / "file")


@pytest.fixture
def copy(tmp_path, monkeypatch) -> Path:
    """Let the package's files be a copy that a test may change."""
    root: Path = tmp_path / "denv"
    shutil.copytree(Path(denv.__path__[0]) / "instruments", root)
    monkeypatch.setattr(denv, "__path__", [str(root)])
    return root


def test_state_follows_the_files(copy):
    """Any changed, new, renamed or missing file of the package is another state."""
    states = [package_state()]
    assert package_state() == states[0]
    (copy / "known.py").write_bytes((copy / "known.py").read_bytes() + b"\n")
    states.append(package_state())
    (copy / "new.txt").write_bytes(b"")
    states.append(package_state())
    (copy / "new.txt").rename(copy / "newer.txt")
    states.append(package_state())
    (copy / "data" / "text.jsonl").unlink()
    states.append(package_state())
    assert len(set(states)) == len(states)


def test_state_ignores_compiled_files(copy):
    """Compiled files come and go and are no part of it."""
    before = package_state()
    (copy / "__pycache__").mkdir(exist_ok=True)
    (copy / "__pycache__" / "new.cpython-311.pyc").write_bytes(b"x")
    assert package_state() == before


def test_state_tells_moved_content(copy):
    """Content that moves from one file to its neighbour is another state."""
    (copy / "p.txt").write_bytes(b"ab")
    (copy / "q.txt").write_bytes(b"c")
    before = package_state()
    (copy / "p.txt").write_bytes(b"a")
    (copy / "q.txt").write_bytes(b"bc")
    assert package_state() != before


@pytest.mark.usefixtures("few")
def test_files_that_cannot_be_seen_leave_no_record(tmp_path, monkeypatch):
    """Where the package's files cannot be seen nothing is recorded, and nothing is believed."""
    monkeypatch.setattr(denv, "__path__", [str(tmp_path / "archive.zip" / "denv")])
    assert package_state() is None
    for _ in range(2):
        assert require_selfcheck(tmp_path) is not None
    assert list(tmp_path.iterdir()) == []
