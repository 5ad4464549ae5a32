"""The report as tables on a terminal, or as plain lines where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from denv.report.gaming import gaming_lines
from denv.report.model import Document, Report
from denv.report.noise import noise_lines
from denv.report.power import power_lines
from denv.report.text import interval, line, percent, threshold
from denv.report.wording import CAUSES, VERDICTS, next_steps, ranked, sides

_STYLES = {
    "pass": "bold green",
    "fail": "bold red",
    "inconclusive": "bold yellow",
    "error": "bold magenta",
    "cancelled": "bold magenta",
    "ungated": "dim",
}
_TABLE_WIDTH = 76
"""Columns that the table of kinds takes; narrower terminals get a line a kind."""

_NOT_COUNTED = ("reference-fail", "unmeasured", "reference-error")


def print_report(
    report: Report, console: Console, paths: Mapping[str, str] | None = None, *, failing: int = 10
) -> None:
    """Print the verdict and why, then kinds, causes, failing cases, warnings and limits.

    ``paths`` says where the written reports lie, by their form. Texts are never read as markup.
    """
    head = report.head
    _print_verdict(console, report)
    if head["kinds"]:
        _print_kinds(console, head)
    if head["causes"]:
        _print_table(console, _causes(head))
    if report.failed:
        _print_table(console, _failing(report, failing))
    _print_warnings(console, head)
    _print_list(console, "Power of the thresholds", power_lines(head))
    _print_list(console, "Public and private cases", gaming_lines(head))
    _print_list(console, "Noise floor", noise_lines(head))
    _print_list(console, "What this run cannot say", head["limits"][:20])
    if paths:
        _print_list(console, "Reports", [f"{form}: {path}" for form, path in paths.items()])


def _say(value: object, style: str = "", limit: int = 300) -> Text:
    return Text(line(value, limit), style=style, overflow="fold")


def _table(title: str, columns: Sequence[str], *, figures: Sequence[str] = ()) -> Table:
    table = Table(
        title=Text(title),
        box=box.SIMPLE,
        show_edge=False,
        padding=(0, 1, 0, 0),
        title_justify="left",
        title_style="bold",
    )
    for column in columns:
        right = column in figures
        table.add_column(
            Text(column), justify="right" if right else "left", overflow="fold", no_wrap=right
        )
    return table


def _print_table(console: Console, table: Table) -> None:
    console.print(table)
    console.print()


def _print_list(console: Console, title: str, items: Sequence[str]) -> None:
    if items:
        console.print(Text(title, style="bold"))
        for item in items:
            console.print(Padding(_say(item, limit=500), (0, 0, 0, 2)))
        console.print()


def _print_verdict(console: Console, report: Report) -> None:
    head = report.head
    verdict = head["verdict"]
    console.print(Text.assemble((verdict.upper(), _STYLES[verdict]), "  ", VERDICTS[verdict]))
    for reason in head["reasons"][:20]:
        console.print(Padding(_say(reason, limit=500), (0, 0, 0, 2)))
    for step in next_steps(head):
        console.print(Padding(_say(f"→ {step}", "dim", limit=600), (0, 0, 0, 2)))
    suite = head["suite"]
    drawn = f"{suite['drawn']} drawn of " if suite.get("drawn") else ""
    about = f"run {head['run']} · {suite['name']} · {drawn}{suite['cases']} cases"
    if head["path"] == "router":
        about += " · through the router"
    console.print(_say(about, "dim"))
    console.print()


def _print_kinds(console: Console, head: Document) -> None:
    if console.width >= _TABLE_WIDTH:
        _print_table(console, _kinds(head))
        return
    lines = []
    for name, kind in head["kinds"].items():
        counted = f"{kind['pass']} of {kind['pass'] + kind['fail']} counted pass"
        rate = f"{percent(kind['pass_rate'])} ({interval(kind['interval'])})"
        needs = f"needs {threshold(kind['threshold'])}"
        planned = f"{kind['planned']} planned"
        lines.append(f"{name} {kind['verdict']}: {counted}, {rate}, {needs}, {planned}")
    _print_list(console, "Pass rates", lines)


def _kinds(head: Document) -> Table:
    figures = ("plan", "pass", "fail", "not\ncounted", "rate")
    columns = ("kind", *figures, "95 % interval", "needs", "verdict")
    table = _table("Pass rates", columns, figures=figures)
    for name, kind in head["kinds"].items():
        table.add_row(
            _say(name),
            _say(kind["planned"]),
            _say(kind["pass"]),
            _say(kind["fail"]),
            _say(sum(kind[outcome] for outcome in _NOT_COUNTED)),
            _say(percent(kind["pass_rate"])),
            _say(interval(kind["interval"])),
            _say(threshold(kind["threshold"])),
            _say(kind["verdict"], _STYLES[kind["verdict"]]),
        )
    return table


def _causes(head: Document) -> Table:
    table = _table("Causes", ("cause", "cases", "what it means"), figures=("cases",))
    for cause, count in ranked(head):
        table.add_row(_say(cause), _say(count), _say(CAUSES[cause].says))
    return table


def _failing(report: Report, limit: int) -> Table:
    title = f"Failing cases ({min(limit, report.failed)} of {report.failed})"
    table = _table(title, ("id", "check", "cause", "reason"))
    for case in report.failing(limit):
        table.add_row(
            _say(case["id"], limit=80),
            _say(case["check"]),
            _say(case["cause"]),
            _say(case["reason"], limit=240),
        )
    return table


def _print_warnings(console: Console, head: Document) -> None:
    rows = [(side, each) for side, end in sides(head) for each in end["warnings"][:20]]
    if not rows:
        return
    table = _table("Warnings", ("endpoint", "count", "warning"), figures=("count",))
    for side, each in rows:
        shown = f"{each['detail']} ({each['code']})"
        table.add_row(_say(side), _say(each["count"]), _say(shown))
    _print_table(console, table)
