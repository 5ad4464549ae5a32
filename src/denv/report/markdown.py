"""The report as a summary of a CI step, in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from denv.report.gaming import gaming_lines
from denv.report.model import Document, Report
from denv.report.noise import noise_lines
from denv.report.output import Target, opened
from denv.report.power import power_lines
from denv.report.text import interval, line, percent, threshold
from denv.report.wording import CAUSES, OUTCOMES, VERDICTS, next_steps, ranked

_MARKS = {"pass": "✅", "fail": "❌", "inconclusive": "❔", "error": "⚠️", "cancelled": "⏹️"}
_STRUCTURE = re.compile(r"[&<>\[\]`*_~|\\@#:$^{}]|^[-+=]|(?i:(?<=www)\.)")
_ORDERED = re.compile(r"^(\d{1,9})([.)])")
_REFERENCES = re.compile(r"(&#(?:64|35);)")
_NOT_COUNTED = ("reference-fail", "unmeasured", "reference-error")


def _plain(text: object, limit: int = 300) -> str:
    """Write a text so that Markdown, HTML, links, mentions and issue numbers are inert in it."""
    coded = _STRUCTURE.sub(lambda match: f"&#{ord(match[0])};", line(text, limit).strip())
    coded = _ORDERED.sub(lambda match: f"{match[1]}&#{ord(match[2])};", coded)
    # after @ and # a space without width keeps hosts from making a mention or a link of them
    return _REFERENCES.sub(r"\1&#8203;", coded)


def _code(text: object, limit: int = 120) -> str:
    shown = _plain(text, limit)
    return f"<code>{shown}</code>" if shown else ""


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    yield _row(columns)
    yield _row([":--" if index == 0 else "--:" for index in range(len(columns))])
    yield from (_row(row) for row in rows)
    yield ""


def write_markdown(report: Report, file: Target, *, failing: int = 20) -> None:
    """Write the verdict, the table of kinds, the causes, and the first failing cases."""
    with opened(file) as stream:
        for text in _lines(report, failing):
            stream.write(text + "\n")


def _lines(report: Report, failing: int) -> Iterator[str]:
    head = report.head
    verdict = head["verdict"]
    yield f"## {_MARKS[verdict]} denv parity: {verdict}"
    yield ""
    path = ", through the router" if head["path"] == "router" else ""
    about = f"Suite {_code(head['suite']['name'])}, run {_code(head['run'])}{path}."
    yield f"{VERDICTS[verdict]} {about}"
    yield ""
    yield from (f"- {_plain(reason, 500)}" for reason in head["reasons"][:50])
    yield ""
    yield "**What to do next**"
    yield ""
    yield from (f"- {_plain(step, 600)}" for step in next_steps(head))
    yield ""
    yield from _kinds(head)
    yield from _causes(head)
    yield from _cases(report, failing)
    yield from _warnings(head)
    if power := power_lines(head):
        yield "**Power of the thresholds**"
        yield ""
        yield from (f"- {_plain(each, 600)}" for each in power)
        yield ""
    if gaming := gaming_lines(head):
        yield "**Public and private cases**"
        yield ""
        yield from (f"- {_plain(each, 600)}" for each in gaming)
        yield ""
    if noise := noise_lines(head):
        yield "**Noise floor**"
        yield ""
        yield from (f"- {_plain(each, 600)}" for each in noise)
        yield ""
    if head["limits"]:
        yield "**What this run cannot say**"
        yield ""
        yield from (f"- {_plain(limit, 500)}" for limit in head["limits"][:50])


def _kinds(head: Document) -> Iterator[str]:
    columns = ["Kind", "Planned", "Pass", "Fail", "Not counted", "Pass rate", "95 % interval"]
    rows = [
        [
            name,
            kind["planned"],
            kind["pass"],
            kind["fail"],
            sum(kind[outcome] for outcome in _NOT_COUNTED),
            percent(kind["pass_rate"]),
            interval(kind["interval"]),
            threshold(kind["threshold"]),
            f"**{kind['verdict']}**",
        ]
        for name, kind in head["kinds"].items()
    ]
    yield from _table([*columns, "Threshold", "Verdict"], rows)
    missed = {
        outcome: sum(kind[outcome] for kind in head["kinds"].values()) for outcome in _NOT_COUNTED
    }
    if any(missed.values()):
        parts = (
            f"{count} {outcome} ({OUTCOMES[outcome]})" for outcome, count in missed.items() if count
        )
        yield f"Not counted: {'; '.join(parts)}."
        yield ""


def _causes(head: Document) -> Iterator[str]:
    if head["causes"]:
        yield "| Cause | Cases | What it means | Where to look |"
        yield "| :-- | --: | :-- | :-- |"
        for cause, count in ranked(head):
            yield _row([cause, count, CAUSES[cause].says, CAUSES[cause].look])
        yield ""


def _cases(report: Report, limit: int) -> Iterator[str]:
    if not report.failed:
        return
    shown = min(limit, report.failed)
    yield f"<details><summary>Failing cases ({shown} of {report.failed})</summary>"
    yield ""
    yield "| Case | Check | Cause | Reason |"
    yield "| :-- | :-- | :-- | :-- |"
    for case in report.failing(limit):
        reason = _plain(case["reason"])
        yield _row([_code(case["id"]), case["check"], case["cause"], reason])
    yield ""
    yield "</details>"
    yield ""


def _warnings(head: Document) -> Iterator[str]:
    rows = [
        _row([side, _code(each["code"]), each["count"], _plain(each["detail"])])
        for side in ("stage", "reference")
        for each in head[side]["warnings"][:50]
    ]
    if rows:
        yield "<details><summary>Warnings</summary>"
        yield ""
        yield "| Endpoint | Warning | Count | Detail |"
        yield "| :-- | :-- | --: | :-- |"
        yield from rows
        yield ""
        yield "</details>"
        yield ""
