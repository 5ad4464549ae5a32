"""The report as JUnit XML, for continuous integration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOBase
from typing import TextIO
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from denv.report.caseview import call_text
from denv.report.model import Document, Report
from denv.report.output import Target, opened
from denv.report.text import clipped, line, visible

_CALLS = 10
_SKIPPED = ("reference-fail", "unmeasured", "reference-error")


class _Into(TextIOBase):
    """Hands text on; the generator takes any other class of stream for a binary one."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text)


class _Xml:
    """Elements on a stream; XML 1.0 forbids most controls, so all text is made visible first."""

    def __init__(self, generator: XMLGenerator) -> None:
        self._xml = generator

    @contextmanager
    def element(self, name: str, attributes: Mapping[str, object]) -> Iterator[None]:
        shown = {key: line(value, 2000) for key, value in attributes.items()}
        self._xml.startElement(name, AttributesImpl(shown))
        yield
        self._xml.endElement(name)
        self._xml.ignorableWhitespace("\n")

    def leaf(self, name: str, attributes: Mapping[str, object], text: str = "") -> None:
        with self.element(name, attributes):
            self._xml.characters(visible(text))


def write_junit(report: Report, file: Target) -> None:
    """Write one test suite a kind, and a test case a case.

    What was not counted is skipped, with its reason. Where the verdict is not ``pass`` though
    no case failed, a test case ``verdict`` is an error, so that the build is not green.
    """
    head = report.head
    alone = head["verdict"] != "pass" and not report.failed
    totals = [_totals(kind) for kind in head["kinds"].values()]
    with opened(file) as stream:
        generator = XMLGenerator(_Into(stream), encoding="utf-8", short_empty_elements=True)
        generator.startDocument()
        xml = _Xml(generator)
        summed = {key: sum(each[key] for each in totals) for key in ("tests", "failures")}
        summed["tests"] += alone
        with xml.element(
            "testsuites",
            {
                "name": "denv parity",
                **summed,
                "errors": int(alone),
                "skipped": sum(each["skipped"] for each in totals),
            },
        ):
            for name in head["kinds"]:
                _suite(xml, report, name)
            if alone:
                _verdict(xml, head)


def _totals(kind: Document) -> dict[str, int]:
    skipped = sum(kind[outcome] for outcome in _SKIPPED)
    return {
        "tests": kind["pass"] + kind["fail"] + skipped,
        "failures": kind["fail"],
        "skipped": skipped,
    }


def _suite(xml: _Xml, report: Report, name: str) -> None:
    head, kind = report.head, report.head["kinds"][name]
    suite = head["suite"]["name"]
    attributes = {
        "name": f"{suite}.{name}",
        **_totals(kind),
        "errors": 0,
        "timestamp": head["started"].removesuffix("Z"),
    }
    with xml.element("testsuite", attributes):
        _properties(xml, head, kind)
        for case in report.cases():
            if case["kind"] == name:
                _case(xml, case, classname=f"{suite}.{name}")


def _properties(xml: _Xml, head: Document, kind: Document | None = None) -> None:
    found = {"run": head["run"], "verdict": head["verdict"]}
    if kind is not None:
        found |= {
            "kind.verdict": kind["verdict"],
            "kind.reason": kind["reason"],
            "planned": kind["planned"],
            "pass_rate": kind["pass_rate"],
            "threshold": kind["threshold"],
        }
    with xml.element("properties", {}):
        for name, value in found.items():
            if value is not None:
                xml.leaf("property", {"name": name, "value": value})


def _case(xml: _Xml, case: Document, *, classname: str) -> None:
    attributes = {"name": case["id"], "classname": classname}
    elapsed = (case["stage"] or {}).get("elapsed_s")
    if elapsed is not None:
        attributes["time"] = f"{elapsed:.3f}"
    with xml.element("testcase", attributes):
        if case["outcome"] == "fail":
            failure = {"type": case["cause"], "message": case["reason"]}
            xml.leaf("failure", failure, _answers(case))
        elif case["outcome"] in _SKIPPED:
            xml.leaf("skipped", {"message": f"{case['outcome']}: {case['reason']}"})
        if case["warnings"]:
            xml.leaf("system-out", {}, "\n".join(line(each) for each in case["warnings"][:50]))


def _answers(case: Document) -> str:
    parts = [f"check {case['check']}, cause {case['cause']}: {line(case['reason'], 2000)}"]
    for side in ("stage", "reference"):
        answer = case[side]
        if answer is not None:
            parts.append(f"{side}: {_answer(answer)}")
    return "\n".join(parts)


def _answer(answer: Document) -> str:
    if answer["problem"]:
        return clipped(answer["problem"], 1000)
    shown = [clipped(answer["text"], 1000)] if answer["text"] else []
    shown += [f"calls {clipped(call_text(each), 1000)}" for each in answer["tool_calls"][:_CALLS]]
    more = len(answer["tool_calls"]) - _CALLS
    shown += [f"and {more} more calls"] if more > 0 else []
    return "\n".join(shown) or "(no text)"


def _verdict(xml: _Xml, head: Document) -> None:
    attributes = {"name": "verdict", "tests": 1, "failures": 0, "errors": 1, "skipped": 0}
    with xml.element("testsuite", attributes):
        _properties(xml, head)
        with xml.element("testcase", {"name": "verdict", "classname": "denv parity"}):
            reasons = [line(reason, 1000) for reason in head["reasons"]]
            message = reasons[0] if reasons else head["verdict"]
            xml.leaf("error", {"type": head["verdict"], "message": message}, "\n".join(reasons))
