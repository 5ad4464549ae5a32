"""The report as JSON."""

from __future__ import annotations

import io
import json

import pytest

from denv import strictjson
from denv.report import Report, validate, write_json
from tests.report import samples


@pytest.mark.parametrize("name", ["passing", "failing", "inconclusive"])
def test_what_is_written_is_the_document(name, tmp_path):
    """Reading the file gives the document again, value for value."""
    report = getattr(samples, name)()
    write_json(report, tmp_path / "report.json")
    read = strictjson.loads((tmp_path / "report.json").read_bytes())
    assert read == {**report.head, "cases": list(report.cases())}


def test_cases_stand_last_and_keys_in_the_order_of_the_schema():
    """The order of keys does not depend on the order in which a database gives them."""
    report = samples.failing()
    turned = Report(
        dict(reversed(list(report.head.items()))),
        lambda: (dict(reversed(list(case.items()))) for case in report.cases()),
    )
    texts = []
    for each in (report, turned):
        stream = io.StringIO()
        write_json(each, stream)
        texts.append(stream.getvalue())
    assert texts[0] == texts[1]
    keys = list(json.loads(texts[0]))
    assert (keys[0], keys[-1]) == ("schema", "cases")


def test_hostile_texts_are_strict_json(tmp_path):
    """Controls are escaped, lone surrogates replaced, and strict parsers read the file."""
    write_json(samples.hostile(), tmp_path / "report.json")
    raw = (tmp_path / "report.json").read_bytes()
    read = strictjson.loads(raw)
    validate(read)
    assert b"\x1b" not in raw
    assert read["reasons"][0] == "<script>alert(1)</script>"
    assert read["reasons"][8] == "\ufffd lone"


def test_a_stream_of_another_encoding_gets_escapes():
    """Where standard output is ASCII, other characters are escaped, pairs of surrogates too."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    write_json(Report(samples.head(limits=["é 🚢 \ud800"]), lambda: iter(())), stream)
    stream.flush()
    assert b"\\u00e9 \\ud83d\\udea2 \\ufffd" in raw.getvalue()
    assert json.loads(raw.getvalue())["limits"] == ["é 🚢 \ufffd"]


def test_a_figure_that_is_not_finite_leaves_the_older_file(tmp_path):
    """A failure in the middle leaves what was there, and no other file beside it."""
    path = tmp_path / "report.json"
    path.write_text("older")
    broken = Report(samples.head(), lambda: iter([samples.case(detail={"max": float("nan")})]))
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(broken, path)
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through(tmp_path):
    """A path that is a link keeps being one."""
    (tmp_path / "real.json").write_text("older")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_json(samples.passing(), tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["verdict"] == "pass"


def test_a_run_without_cases_is_written():
    """An empty stream of cases is an empty list."""
    stream = io.StringIO()
    write_json(Report(samples.head(kinds={}, checks={}), lambda: iter(())), stream)
    assert json.loads(stream.getvalue())["cases"] == []


def test_what_a_terminal_obeys_is_written_as_escapes():
    """DEL, C1 controls and changes of direction are the same document, and never raw."""
    codes = [*range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F)]
    codes += range(0x2066, 0x206A)
    obeyed = "".join(map(chr, codes))
    stream = io.StringIO()
    write_json(Report(samples.head(limits=[f"é{obeyed}🚢"]), lambda: iter(())), stream)
    written = stream.getvalue()
    assert not set(written) & set(obeyed)
    assert "é\\u007f\\u0080" in written
    assert json.loads(written)["limits"] == [f"é{obeyed}🚢"]
