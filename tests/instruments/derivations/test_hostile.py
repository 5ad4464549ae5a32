"""Hostile answers: read within the limits, never run, and without work that grows.

The cost is measured as processor time of the reading process: a limit that the system enforces,
not a clock that a busy machine would stretch.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib.resources import files

import pytest

READING = """
import json, resource, sys
from denv.instruments.derivations.forms import KINDS, Form
from denv.instruments.derivations.oracle import compare
used = resource.getrusage(resource.RUSAGE_SELF)
soft = int(used.ru_utime + used.ru_stime) + {allowed}
resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 1))
resource.setrlimit(resource.RLIMIT_AS, (1024**3, 1024**3))
TRUTHS = {{"set": "{{1, 2}}", "interval": "(1, 2)", "tuple": "(1, 2)", "matrix": "[[1, 2]]"}}
for answer in json.load(sys.stdin):
    for kind in KINDS:
        form = Form(kind, ("x",), modulus=7, unit="cm")
        print(compare(answer, TRUTHS.get(kind, "3"), form).result)
"""

LOUD = "print('ran', file=__import__('sys').stderr)"
CODE = [
    LOUD,
    f"__import__('builtins').exec({LOUD!r})",
    f"eval({LOUD!r})",
    f"exec({LOUD!r})",
    f"[{LOUD} for x in (1,)]",
    f"(lambda: {LOUD})()",
    "().__class__.__base__.__subclasses__()",
    "{x.__class__}",
    "f'{__import__(chr(111)+chr(115))}'",
    "sympify('1')",
    "\\input{/etc/passwd}",
    "\\def\\x{\\x}\\x",
    "Symbol('x').__init__",
    "import os; os.abort()",
    "exit()",
    "raise SystemExit",
    "x\x00y",
    "\ud800",
    "\u202e3",
]
HEAVY = [
    "9**9**9**9",
    "9^{9^{9^{9^{9}}}}",
    "(9^99)^99^99",
    "9" * 10**6,
    "0." + "9" * 10**6,
    "1e999999999",
    "1e-999999999",
    "(" * 10**5 + "1" + ")" * 10**5,
    "[" * 900 + "]" * 900,
    "+".join(["1"] * 10**5),
    "+".join(["x^2"] * 124),
    ",".join(["1"] * 10**5),
    ",".join(["1"] * 249),
    "10**9!",
    "99999999!",
    "((99!)^99)^99",
    "500!" * 30,
    "\\binom{10^9}{10^8}",
    "binomial(999, 500)^500",
    "[" + ",".join(["[" + ",".join(["1"] * 1000) + "]"] * 1000) + "]",
    "±" * 100 + "1",
    "±1" * 50,
    "-" * 1500 + "1",
    "2^" * 400 + "2",
    "|" * 499,
    "e" * 1900,
    "\\frac" * 200,
    "\\frac{1}{1+" * 25 + "1" + "}" * 25,
    "\\sqrt{" * 28 + "2" + "}" * 28,
    "x or " * 200,
    "x<" * 200 + "1",
    "x_" * 500,
    "\\left(" * 300,
    "\\begin{pmatrix}" * 80,
    "{" * 28 + "}" * 28,
    "(x+1)^{1000}",
    "cm" * 600,
    "1 " + "cm " * 200,
    "1,000" * 200,
    "=" * 400,
    "≈4" * 200,
    "mod 7 " * 100,
]


def _read(answers, *, allowed_s):
    done = subprocess.run(
        [sys.executable, "-c", READING.format(allowed=allowed_s)],
        input=json.dumps(answers),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.split(), done.stderr


def test_code_is_never_run():
    """Code inside an answer is unreadable, whatever form was asked for, and has no effect."""
    code, results, errors = _read(CODE, allowed_s=30)
    assert code == 0, errors
    assert errors == ""
    assert "equal" not in results
    assert results.count("unreadable") >= 0.9 * len(results)


@pytest.mark.slow
def test_work_is_bounded():
    """All heavy answers in all forms together cost seconds of processor time and under 1 GiB."""
    code, results, errors = _read(HEAVY, allowed_s=60)
    assert code == 0, errors
    assert len(results) == 10 * len(HEAVY)
    assert "equal" not in results


@pytest.mark.parametrize(
    "name", ["eval", "exec", "sympify", "parse_expr", "lambdify", "__import__", "latex2sympy"]
)
def test_nothing_evaluates_text(name):
    """No module of the instrument calls what evaluates a text."""
    modules = [one for one in files("denv.instruments.derivations").iterdir()
               if one.name.endswith(".py")]  # fmt: skip
    assert len(modules) > 10
    for module in modules:
        tree = ast.parse(module.read_text("utf-8"))
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert name not in {getattr(call, "id", getattr(call, "attr", "")) for call in calls}
