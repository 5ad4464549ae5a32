"""What runs the pages notices a page that is not true."""

import os
import time
from pathlib import Path

import pytest

from tests.docs.running import Command, File, matches, run_page, steps

PAGE = """
```text title="greeting.txt"
hello
there
```

Words between.

```console
$ cat greeting.txt
hello
…
$ name=world; echo "to the $name, $(
> echo and more)"
to the world, and …
$ echo "still $name"
still world
$ false
$ echo $?
1
```
"""


def console(text):
    return f"```console\n{text}\n```\n"


def test_files_and_commands_are_found():
    """Each step is found in order, with its line and what is shown of it."""
    found = steps(PAGE)
    assert found[0] == File("greeting.txt", "hello\nthere\n")
    assert found[1] == Command(10, "cat greeting.txt", ("hello", "…"))
    assert [step.typed for step in found[2:] if isinstance(step, Command)] == [
        'name=world; echo "to the $name, $(\necho and more)"',
        'echo "still $name"',
        "false",
        "echo $?",
    ]


def test_a_true_page_works(tmp_path):
    """Files are written, one shell lasts for the page, and statuses are as they are shown."""
    run_page(PAGE, tmp_path)
    assert (tmp_path / "work" / "greeting.txt").read_text("utf-8") == "hello\nthere\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$ false\n$ true", "ended with 1"),
        ("$ true\n$ echo $?\n1", "line 3"),
        ("$ echo one\ntwo", "printed, and ended with 0:\none"),
        ("$ echo one; echo two\none", "two"),
        ("$ false\n$ echo $?", "line 3"),
        ("$ exit 0", "ended the shell"),
        ("$ echo $HOME >&2; cat $HOME/.bashrc", "No such file"),
    ],
)
def test_what_is_not_true_is_noticed(text, said, tmp_path):
    """A status, a line, or a rest that is not shown fails, and says where."""
    with pytest.raises(AssertionError, match=said):
        run_page(console(text), tmp_path)


@pytest.mark.parametrize(
    ("shown", "printed", "right"),
    [
        (("a", "b"), "a\nb\n", True),
        (("a", "b"), "a\nx\nb\n", False),
        (("a", "…", "b"), "a\nx\ny\nb\n", True),
        (("a", "…", "b"), "a\nb\n", True),
        (("run … of 5",), "run 17 of 5\n", True),
        (("run … of 5",), "run 17\n of 5\n", False),
        (("a",), "a   \n", True),
        (("a",), "a\nb\n", False),
        (("1.5 (a)",), "125 (a)\n", False),
    ],
)
def test_what_is_shown_is_compared(shown, printed, right):
    """Dots stand for what varies in a line, or for lines; all else is as it is printed."""
    assert matches(shown, printed) is right


def test_what_a_page_leaves_running_ends_with_it(tmp_path):
    """A server in the background does not outlive its page."""
    run_page(console("$ sleep 300 & echo $! > pid"), tmp_path)
    pid = int((tmp_path / "work" / "pid").read_text("utf-8"))
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text("utf-8").split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("it still runs")
