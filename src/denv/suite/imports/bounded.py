"""Jinja's sandbox with bounds: a template is filled in with so much work, and no more.

The sandbox keeps a template from the process. It does not keep it from taking all its memory and
time, by ``*``, by loops in loops, by macros that call themselves, by paddings. So all that can
make much of little is charged to a ``Work``: what is joined, repeated, filtered, compared and
called by the size of what goes in and comes out, and each turn of a loop by what stands in it.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sized,
    ValuesView,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any

from jinja2 import nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

MAX_WORK = 20_000_000
"""For one template: characters that are made or read, and ``STEP`` for each step."""

STEP = 100
_EACH = 20
"""For looking at one value of many."""

MAX_TOKENS = 20_000
"""Words and signs within the tags of a template."""

MAX_BITS = 4096
MAX_WIDTH = 100
"""For what pads or rounds."""

_PLAIN = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float",
    "groupby", "int", "items", "last", "length", "list", "lower", "map", "max", "min",
    "reject", "rejectattr", "reverse", "safe", "select", "selectattr", "sort", "string", "title",
    "trim", "truncate", "unique", "upper", "urlencode",
)  # fmt: skip
_WIDE = ("batch", "center", "indent", "round", "slice", "tojson")
_METHODS = frozenset(
    (
        *("capitalize", "endswith", "get", "items", "keys", "lower", "lstrip", "rstrip"),
        *("split", "startswith", "strip", "title", "upper", "values"),
    )
)
_VALUES = (str, bytes, int, float, list, tuple, dict)
_WHOLE, _JOINED, _READ, _TURN = "~each", "~joined", "~read", "~turn"
"""Filters that no template can name: their names are no names."""


class TooMuchWorkError(SecurityError):
    """A template takes more work than any prompt does."""


@dataclass(slots=True)
class Work:
    """What may still be done."""

    left: int

    def spend(self, amount: int) -> None:
        """Take from it.

        Raises
        ------
        TooMuchWorkError
            That much is not left.
        """
        self.left -= amount
        if self.left < 0:
            raise TooMuchWorkError("it takes too much work: its loops or texts grow too large")

    def read(self, *values: Any) -> None:
        """Take what going through values takes, however often one holds another."""
        for value in values:
            self.spend(_EACH)
            match value:
                case str() | bytes() | range():
                    self.spend(len(value))
                case Mapping():
                    self.read(*value.keys(), *value.values())
                case list() | tuple() | set() | frozenset():
                    self.read(*value)
                case KeysView() | ValuesView() | ItemsView():
                    self.read(*value)


_work: ContextVar[Work] = ContextVar("work")


@contextmanager
def working(most: int) -> Iterator[None]:
    """Let templates within the block take so much together."""
    token = _work.set(Work(most))
    try:
        yield
    finally:
        _work.reset(token)


def spend_on(value: Any) -> None:
    """Charge a value that is written."""
    work = _work.get()
    work.spend(STEP)
    work.read(value)


@contextmanager
def one_template() -> Iterator[None]:
    """Bound one template, within what is left for all."""
    whole = _work.get(None)
    own = Work(MAX_WORK if whole is None else min(MAX_WORK, whole.left))
    begun = own.left
    token = _work.set(own)
    try:
        yield
    finally:
        _work.reset(token)
        if whole is not None:
            whole.left -= begun - max(own.left, 0)


class Bounded(ImmutableSandboxedEnvironment):
    """An environment whose templates spend the work that is set."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.filters = {name: charged(FILTERS[name]) for name in _PLAIN}
        self.filters |= {name: charged(narrow(FILTERS[name])) for name in _WIDE}
        self.filters |= {
            "replace": charged(_replace),
            "sum": charged(_sum),
            "join": charged(_join),
            _WHOLE: _read,
            _READ: _read,
            _JOINED: charged(lambda parts: "".join(map(str, parts))),
            _TURN: _turn,
        }
        self.globals = {name: self.globals[name] for name in ("range", "namespace", "dict")}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Parse, and put in what charges."""
        tokens = (1 for _, kind, _ in self.lex(source, name, filename) if kind != "data")
        for count, _ in enumerate(tokens):
            if count >= MAX_TOKENS:
                raise TooMuchWorkError(f"it has more than {MAX_TOKENS} words in its tags")
        parsed: nodes.Template = _Charging().visit(super()._parse(source, name, filename))
        return parsed

    def wrap_str_format(self, value: Any) -> None:
        """Leave ``format`` to the list of methods, where it is not."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Let values have the methods that make nothing larger."""
        if isinstance(obj, _VALUES) and attr not in _METHODS:
            return False
        return bool(super().is_safe_attribute(obj, attr, value))

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call, charging what goes in and what comes out."""
        work = _work.get()
        work.spend(STEP)
        owner = getattr(obj, "__self__", None)  # of a method; a loop's own must not be gone through
        work.read(owner, *args, *kwargs.values())
        result = super().call(context, obj, *args, **kwargs)
        work.read(result)
        return result

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Calculate; what would become too large is not begun."""
        work = _work.get()
        work.spend(STEP)
        work.read(left, right)
        if isinstance(left, str) and operator == "%":
            raise SecurityError("texts are not formatted by %")
        if operator in {"*", "**"}:
            work.spend(_grown(operator, left, right))
        return super().call_binop(context, operator, left, right)


def _grown(operator: str, left: Any, right: Any) -> int:
    """Give the size of a product or power before it is made."""
    if isinstance(left, float) or isinstance(right, float):
        return 1
    if not isinstance(left, int):
        left, right = right, left
    if not isinstance(left, int):
        return 1  # an error, which is for the calculation to tell
    if isinstance(right, int):
        bits = left.bit_length()
        bits = bits * max(right, 1) if operator == "**" else bits + right.bit_length()
        if bits > MAX_BITS:
            raise TooMuchWorkError("it makes a number that is too large")
        return bits
    return max(left, 0) * len(right) if isinstance(right, Sized) else 1


class _Charging(NodeTransformer):
    """Puts filters that charge around loops, comparisons and joined texts."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - the visitor's own form
        """Charge the whole of what a loop goes through, and each turn."""
        self.generic_visit(node)
        node.iter = _filtered(node.iter, _WHOLE)
        weight = sum(len(data.data) for data in node.find_all(nodes.TemplateData))
        turn = _filtered(nodes.Const(STEP + weight), _TURN)
        node.body.insert(0, nodes.ExprStmt(turn, lineno=node.lineno))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        """Charge a text that is joined of several."""
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), _JOINED)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        """Charge what is compared, or searched."""
        self.generic_visit(node)
        node.expr = _filtered(node.expr, _READ)
        for operand in node.ops:
            operand.expr = _filtered(operand.expr, _READ)
        return node


def _filtered(node: Any, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


@pass_context  # so that it is not done once, when a template is compiled
def _read(_: Context, value: Any) -> Any:
    spend_on(value)
    return value


@pass_context
def _turn(_: Context, weight: int) -> str:
    _work.get().spend(weight)
    return ""


def charged(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """Make a filter charge what goes in and what comes out."""

    @wraps(filter_)
    def charging(*args: Any, **kwargs: Any) -> Any:
        work = _work.get()
        work.spend(STEP)
        work.read(*args, *kwargs.values())
        made = filter_(*args, **kwargs)
        if isinstance(made, Iterator):
            made = list(made)
        work.read(made)
        return made

    return charging


def narrow(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse numbers by which a filter would pad, split or round without end."""

    @wraps(filter_)
    def narrow(*args: Any, **kwargs: Any) -> Any:
        for each in (*args[1:], *kwargs.values()):
            if isinstance(each, int | float) and not -MAX_WIDTH <= each <= MAX_WIDTH:
                raise TooMuchWorkError(f"a filter is given a number beyond {MAX_WIDTH}")
        return filter_(*args, **kwargs)

    return narrow


def _replace(given: Any, old: Any, new: Any, count: int | None = None) -> str:
    text, gone, put = str(given), str(old), str(new)
    _work.get().spend(text.count(gone) * len(put))
    return text.replace(gone, put, -1 if count is None else count)


def _join(values: Iterable[Any], d: Any = "", attribute: str | None = None) -> str:
    parts = [each if attribute is None else each[attribute] for each in values]
    if any(isinstance(each, list | dict | tuple) for each in parts):
        raise TypeError("a structured value is written without the filter dump")
    _work.get().spend(len(parts) * len(str(d)))
    return str(d).join(str(each) for each in parts)


def _sum(values: Iterable[Any], attribute: str | None = None) -> Any:
    numbers = [each if attribute is None else each[attribute] for each in values]
    if not all(isinstance(each, int | float) for each in numbers):
        raise TypeError("sum takes numbers")
    return sum(numbers)
