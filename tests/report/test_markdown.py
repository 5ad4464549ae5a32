"""The report as GitHub's Markdown, read by another implementation of it."""

from __future__ import annotations

import io

import pytest
from markdown_it import MarkdownIt

from denv.report import Report, write_markdown
from denv.report.text import line
from tests.report import samples


def written(report: Report, **options) -> str:
    stream = io.StringIO()
    write_markdown(report, stream, **options)
    return stream.getvalue()


def tokens(text: str):
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for block in reader.parse(text):
        yield block
        yield from block.children or ()


@pytest.mark.parametrize("name", ["passing", "failing", "inconclusive", "hostile"])
def test_no_structure_comes_from_texts(name):
    """No text makes a link, an image, code, HTML or a mention, or breaks a table."""
    text = written(getattr(samples, name)())
    found = list(tokens(text))
    kinds = {token.type for token in found}
    assert not kinds & {
        "link_open",
        "image",
        "code_inline",
        "em_open",
        "s_open",
        "fence",
        "code_block",
    }
    html = {t.content.strip() for t in found if t.type in {"html_inline", "html_block"}}
    assert all(
        h.startswith(("<code>", "</code>", "<details><summary>", "</details>")) for h in html
    )
    assert "<script" not in text
    assert "<img" not in text
    assert "@octocat" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_hostile_texts_can_still_be_read():
    """What a reader sees is the text itself, made visible."""
    found = tokens(written(samples.hostile()))
    plain = ["".join(c.content for c in t.children or ()) for t in found if t.type == "inline"]
    for text in samples.HOSTILE:
        assert any(line(text).strip() in p.replace("\u200b", "") for p in plain)


@pytest.mark.parametrize(
    "start", ["- item", "+ item", "1. item", "# head", "> quote", "=== x", "www.a.example"]
)
def test_a_text_at_the_start_of_a_line_is_no_block(start):
    """A reason that begins like a list, heading or quote stays a line of text."""
    found = list(
        tokens(written(Report(samples.head(reasons=[start], limits=[]), lambda: iter(()))))
    )
    items = [t for t in found if t.type == "list_item_open"]
    assert len(items) == 3  # the reason, the next step and the power of the threshold
    assert not {t.type for t in found} & {"ordered_list_open", "blockquote_open"}
    assert [t.tag for t in found if t.type == "heading_open"] == ["h2"]


def test_every_row_of_a_table_has_its_columns():
    """Pipes and line breaks in reasons break no row."""
    reason = "a | b\nc || d"
    kinds = {"exact": samples.kind(1, 0, 1, verdict="fail")}
    head = samples.head(verdict="fail", kinds=kinds, causes={"unknown": 1})
    text = written(Report(head, lambda: iter([samples.case(0, "fail", reason=reason)])))
    rows = [row for row in text.splitlines() if "case-0000" in row]
    assert len(rows) == 1
    assert rows[0].count("|") == 5
    assert r"c &#124;&#124; d" in rows[0]


def test_verdict_kinds_causes_and_cases_are_told():
    """The summary opens with the verdict, then figures, causes and up to as many cases as asked."""
    text = written(samples.failing(), failing=2)
    assert text.startswith("## ❌ denv parity: fail\n")
    assert "| exact | 80 | 73 | 4 | 3 | 94.8 % | 89.3 – 98.7 % | 95 % | **fail** |" in text
    assert "| unknown | 2 |" in text
    assert "Failing cases (2 of 6)" in text
    assert "weather-paris" in text
    assert "long-summary" not in text
