"""Suites from files: bytes, lines, ids, streaming."""

import gzip
import hashlib
import os

import pytest

from denv.errors import SuiteError, UsageError
from denv.records import Contains, Kind
from denv.suite import load_suite
from denv.suite.lines import MAX_LINE_BYTES

LINE = '{"id": "%s", "messages": [{"role": "user", "content": "Hi"}], "expect": {"contains": "a"}}'


@pytest.fixture
def write(tmp_path):
    """Write bytes, or lines, to a suite's file."""

    def to_file(*lines, name="core.jsonl"):
        path = tmp_path / name
        path.write_bytes(b"\n".join(x if isinstance(x, bytes) else x.encode() for x in lines))
        return path

    return to_file


def problems(path):
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    prefix = f"{path}:"
    return [problem.removeprefix(prefix) for problem in caught.value.problems]


def test_counts_and_digest(write):
    """A suite tells its name, the digest of its bytes, and how many cases of each sort it has."""
    path = write(
        LINE % "a", LINE % "b", (LINE % "c").replace('"expect"', '"tags": ["x"], "expect"')
    )
    suite = load_suite(path)
    assert (suite.name, suite.cases) == ("core.jsonl", 3)
    assert suite.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (suite.checks, suite.kinds, suite.tags) == ({"contains": 3}, {Kind.EXACT: 3}, {"x": 1})


def test_streams_cases_twice(write):
    """Cases come in the file's order with their lines, as often as they are asked for."""
    suite = load_suite(write("", LINE % "a", "  \t", LINE % "b", ""))
    for _ in range(2):
        cases = list(suite)
        assert [(case.id, case.index, case.line) for case in cases] == [("a", 0, 2), ("b", 1, 4)]
    assert cases[0].check == Contains("a")
    assert cases[0].fields == {"messages": [{"role": "user", "content": "Hi"}]}


def test_bom_and_crlf(write):
    """A byte order mark at the start and CRLF line ends are no part of the cases."""
    suite = load_suite(write(b"\xef\xbb\xbf" + (LINE % "a").encode() + b"\r", LINE % "b", b"\r"))
    assert [case.id for case in suite] == ["a", "b"]


def test_separators_inside_strings(write):
    """Only a newline ends a line: U+2028, U+0085 and a vertical tab's escape do not."""
    text = "a\u2028b\u0085c\\u000b"
    suite = load_suite(write((LINE % "a").replace("Hi", text)))
    assert next(iter(suite)).fields["messages"][0]["content"] == "a\u2028b\u0085c\x0b"


@pytest.mark.parametrize(
    ("raw", "where", "what"),
    [
        (b"\xef\xbb\xbf{}", "2: line", "byte order mark"),
        (b'{"id": "\xff"}', "2: line", "byte 0xff at byte 9"),
        (b'{"id": "\x00"}', "2: line", "NUL character at column 9"),
        (b'{"id": "x", "id": "y"}', "2: line", "'id' stands twice"),
        (b'{"max_tokens": NaN}', "2: line", "NaN is not JSON"),
        (b'{"max_tokens": 1e999}', "2: line", "out of range"),
        (b'{"max_tokens": ' + b"9" * 5000 + b"}", "2: line", "5000 digits"),
        (b'{"tools": ' + b"[" * 9000 + b"]" * 9000 + b"}", "2: line", "nested too deeply"),
        (b'{"tools": ' + b"[" * 250 + b"]" * 250 + b"}", "2: line", "nested too deeply"),
        (b"[1]", "2: line", "a list, must be one JSON object"),
        (b"{'id': 'x'}", "2: line", "not JSON"),
        (b'{"id": "x"} {}', "2: line", "not JSON"),
        (b'{"id": "\\ud800"}', "2: id", "lone surrogate"),
        (b'{"messages": [{"content": "\\uDFFF"}]}', "2: messages[0].content", "lone surrogate"),
        (b'{"messages": [{"\\ud801": 1}]}', "2: messages[0]", "lone surrogate"),
    ],
)
def test_broken_lines(write, raw, where, what):
    """What is no strict JSON object in UTF-8 is named with its line and place."""
    (problem,) = problems(write(LINE % "a", raw))
    assert problem.startswith(f"{where}: ")
    assert what in problem


def test_surrogate_pairs_are_characters(write):
    """An escaped pair of surrogates is one character."""
    suite = load_suite(write((LINE % "a").replace("Hi", "\\ud83d\\ude00")))
    assert next(iter(suite)).fields["messages"][0]["content"] == "\U0001f600"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_line_limit(write, end):
    """A line of 16 MiB is taken, one more byte is refused, and the next line is read again."""
    start, rest = (LINE % "a").encode().split(b"Hi")
    fill = b"x" * (MAX_LINE_BYTES - len(start) - len(rest))
    assert load_suite(write(start + fill + rest + end)).cases == 1
    path = write(start + fill + b"x" + rest + end + b"\n" + (LINE % "b").encode() + b"\n{}")
    found = problems(path)
    assert found[0] == "1: line: longer than 16 MiB"
    assert all(not problem.startswith("2:") for problem in found[1:])


def test_repeated_ids(write):
    """An id that stands twice names both lines, even where one of them is wrong otherwise."""
    wrong = (LINE % "a").replace("contains", "contain")
    found = problems(write(LINE % "a", LINE % "b", LINE % "a", wrong))
    assert found[0] == '3: id: "a" stands on line 1 too'
    assert found[1].startswith("4: expect: ")
    assert found[2] == '4: id: "a" stands on line 1 too'


def test_twenty_problems_and_the_rest_counted(write):
    """Twenty problems are shown in the order of the lines, the others are counted."""
    lines = [LINE % "same"] * 13 + [
        (LINE % f"x{n}").replace("Hi", "").replace("user", "x") for n in range(25)
    ]
    found = problems(write(*lines))
    assert len(found) == 21
    assert [int(problem.split(":")[0]) for problem in found[:20]] == list(range(2, 22))
    assert found[20] == "and 17 more"  # 12 repeated ids and 25 wrong roles, less 20


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_empty_suites(write, content):
    """A suite without a case is an error, so that nothing can pass by being empty."""
    with pytest.raises(SuiteError, match="no cases"):
        load_suite(write(content))


def test_not_a_suite_file(write, tmp_path):
    """What cannot be read twice or is no text is refused in one line."""
    os.mkfifo(tmp_path / "pipe")
    zipped = write(gzip.compress(b"{}"), name="a.jsonl.gz")
    binary = write(bytes(range(256)), name="a.bin")
    wide = write((LINE % "a").encode("utf-16"), name="wide.jsonl")
    for path, what in [
        (tmp_path / "pipe", "read twice"),
        ("-", "read twice"),
        (tmp_path, "a folder"),
        (tmp_path / "none.jsonl", "no such file"),
        (zipped, "gzip"),
        (binary, "binary"),
        (wide, "UTF-16"),
        ("a\0b", "cannot be read"),
    ]:
        with pytest.raises(UsageError, match=what) as caught:
            load_suite(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", [b"\n\n", b"\n{}", b"\n" + (LINE % "new").encode()])
def test_changed_while_running(write, change):
    """A file that is no longer what was validated ends the stream with an error."""
    path = write(LINE % "a")
    suite = load_suite(path)
    stream = iter(suite)
    assert next(stream).id == "a"
    path.write_bytes(path.read_bytes() + change)
    with pytest.raises(SuiteError, match="changed while running"):
        list(suite)


def test_a_hundred_thousand_cases(write):
    """A long suite is read case by case, and a repeated id at its end is still found."""
    lines = [LINE % f"case-{number}" for number in range(100_000)]
    path = write(*lines)
    assert load_suite(path).cases == 100_000
    assert problems(write(*lines, LINE % "case-0")) == ['100001: id: "case-0" stands on line 1 too']
