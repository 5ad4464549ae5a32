"""Comparisons of answers in a process that can be killed."""

from __future__ import annotations

import resource
import signal
import threading

import pytest

from denv.errors import HarnessError
from denv.instruments.derivations import Form
from denv.runner.proving import KillableOracle
from denv.runner.proving import _receive as receive

NUMBER = Form("number")
ENDLESS = "sin(exp(exp(exp(3))))"  # its argument has some 10^229 digits before the point


@pytest.fixture
def oracle():
    with KillableOracle() as comparing:
        yield comparing


@pytest.fixture(scope="module")
def shared():
    with KillableOracle() as comparing:
        yield comparing


@pytest.fixture
def strict():
    with KillableOracle(cpu_s=1) as comparing:
        yield comparing


def test_answers_as_the_pure_function_does(shared):
    """Every form arrives whole in the child, and the result with its reason comes back."""
    assert shared("√8/2", "sqrt(2)", NUMBER).result == "equal"
    assert shared("x = 2, x = 3", "{3, 2}", Form("set", ("x",))).result == "equal"
    assert shared("48 (mod 31)", "17", Form("residue", modulus=31)).result == "equal"
    assert shared("0.7071", "sqrt(2)/2", Form("decimal", tolerance=1e-3)).result == "equal"
    assert (
        shared("ln(x^2)", "2*log(x)", Form("expression", ("x",), positive=True)).result == "equal"
    )
    found = shared("ln(x^2)", "2*log(x)", Form("expression", ("x",)))
    assert (found.result, "x = " in found.reason) == ("different", True)
    assert shared("I do not know", "3", NUMBER).result == "unreadable"
    assert shared("\ud800", "3", NUMBER).result == "unreadable"


def test_one_child_serves_all(oracle):
    """The child is started once, with the first comparison, and reused."""
    assert oracle._child is None
    oracle("1", "1", NUMBER)
    child = oracle._child
    oracle("2", "1", NUMBER)
    assert oracle._child is child


def test_endless_work_ends_at_its_processor_time(strict):
    """Work without end costs its own comparison alone; the next one has a new child."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = strict(ENDLESS, "3", NUMBER)
    assert (found.result, found.reason) == (
        "undecided", "the comparison took over 1 s of processor time",
    )  # fmt: skip
    assert strict("3", "3", NUMBER).result == "equal"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < 15  # a start of the child, its second, and what rounding adds


def test_waiting_ends_by_the_clock():
    """Where the machine gives the child no processor time, the clock decides."""
    with KillableOracle(wall_s=0.5) as oracle:
        oracle("1", "1", NUMBER)
        child = oracle._child
        assert child is not None
        child.send_signal(signal.SIGSTOP)
        found = oracle("3", "3", NUMBER)
        assert (found.result, found.reason) == ("undecided", "the comparison took over 0.5 s")
        assert oracle._child is None


def test_memory_is_limited():
    """A child without memory to start in is told, not waited for."""
    with (
        KillableOracle(memory_bytes=48 * 1024**2) as oracle,
        pytest.raises(HarnessError, match="did not start"),
    ):
        oracle("3", "3", NUMBER)


def test_dead_child_is_replaced(oracle):
    """A child that somebody else has killed between two comparisons costs none."""
    oracle("3", "3", NUMBER)
    oracle._child.kill()
    oracle._child.wait()
    assert oracle("3", "3", NUMBER).result == "equal"


def test_child_that_dies_at_work_costs_its_comparison():
    """One that is killed while it compares leaves that comparison undecided, with its signal."""
    with KillableOracle() as oracle:
        oracle("3", "3", NUMBER)
        child = oracle._child
        assert child is not None
        killing = threading.Timer(0.3, child.kill)
        killing.start()
        found = oracle(ENDLESS, "3", NUMBER)
        killing.join()
        assert (found.result, found.reason) == (
            "undecided",
            "the comparison ended its process (-9)",
        )
        assert oracle("3", "3", NUMBER).result == "equal"


def test_a_child_that_has_grown_is_replaced(oracle, monkeypatch):
    """A child that says that it holds much is ended after its answer."""
    monkeypatch.setattr("denv.runner.proving._receive", _saying_last)
    assert oracle("3", "3", NUMBER).result == "equal"
    assert oracle._child is None


def _saying_last(source, timeout_s):
    answer = receive(source, timeout_s)
    return answer if answer is None or "ready" in answer else {**answer, "last": True}


def test_long_answers_are_not_sent(oracle):
    """What is beyond the limits by its length alone starts no process."""
    found = oracle("9" * 10**6, "3", NUMBER)
    assert (found.result, found.reason) == (
        "undecided", "beyond the limits: the answer has 1000000 characters",
    )  # fmt: skip
    assert oracle._child is None


def test_unreadable_truth_is_an_error(shared):
    """A truth that cannot be read is the harness's fault; the child lives on."""
    with pytest.raises(HarnessError, match="the truth 'hello'"):
        shared("3", "hello", NUMBER)
    assert shared("3", "3", NUMBER).result == "equal"


def test_closed_oracle_starts_nothing(oracle):
    """After its end nothing is compared any more."""
    oracle.close()
    with pytest.raises(HarnessError, match="closed"):
        oracle("3", "3", NUMBER)


def test_threads_share_one_child(shared):
    """Comparisons from many threads all get their own results."""
    found = {}

    def one(n):
        found[n] = shared(str(n), str(n % 2), NUMBER).result

    threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: "equal" if n < 2 else "different" for n in range(8)}
