"""The document on a terminal and as a page."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from rich.console import Console

from denv.report.tokens import page, render
from tests.instruments.tokens.measuring import measure
from tests.instruments.tokens.synthetic import Engine

HOSTILE = "<script>alert(1)</script> \x1b[31m \u202e {{7*7}}"


@pytest.fixture(scope="module")
def documents():
    """Give a document of each kind."""
    return {
        "faithful": measure(Engine(), Engine()),
        "different": measure(Engine(noise=0.6), Engine()),
        "no distribution": measure(Engine(), Engine("chat", logprobs="none")),
        "nothing": measure(Engine("chat"), Engine()),
        "one text": measure(Engine(), Engine(), texts=1),
        "hostile": {
            **measure(Engine(noise=0.3), Engine(), texts=6),
            "reasons": [HOSTILE],
            "warnings": [HOSTILE, "\ud800 lone"],
            "unusable": {
                "texts": 1,
                "reasons": [{"side": "stage", "reason": HOSTILE, "texts": 1}],
            },
        },
    }


NAMES = ["faithful", "different", "no distribution", "nothing", "one text", "hostile"]


class Page(HTMLParser):
    """The elements of a page, and whether they close in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.said.append(data)


def printed(document, width=120) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width).print(render(document))
    return stream.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_every_document_has_a_page(name, documents):
    """Elements close in order, ids are unique, headings skip no level, links have their ends."""
    html = page(documents[name])
    html.encode()
    found = Page(html)
    assert found.open == []
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for name_ in ("href", "xlink:href"):
        links = [a[name_] or "" for _, a in found.elements if name_ in a]
        assert all(link == "data:," or link[1:] in ids for link in links)
    assert "nan" not in "".join(found.said).lower().replace("finance", "")


def test_pictures_say_in_words_what_they_show(documents):
    """Each picture has a title and a text with its figures, and takes the page's colours."""
    html = page(documents["different"])
    found = Page(html)
    pictures = [a for tag, a in found.elements if tag == "svg" and a.get("role") == "img"]
    assert [one["id"] for one in pictures] == [
        "picture-change", "picture-agreement", "picture-rank",
    ]  # fmt: skip
    said = "".join(found.said)
    counts = documents["different"]["delta_p"]["histogram"]["counts"]
    assert f"-0.001 to 0.001: {counts[7]} tokens" in said
    assert f"rank 1: {documents['different']['rank']['counts'][0]} tokens" in said
    assert "tokens 1: " in said
    assert not re.search("#0[0-9]0[0-9]0[0-9]|#0a0a0", html)
    assert "var(--series-0)" in html


@pytest.mark.parametrize(
    ("name", "count"), [("no distribution", 2), ("nothing", 0), ("faithful", 3)]
)
def test_only_what_was_measured_is_drawn(name, count, documents):
    """Without a distribution there is no change of probability, and without texts no picture."""
    found = Page(page(documents[name]))
    assert sum(tag == "svg" and a.get("role") == "img" for tag, a in found.elements) == count


def test_texts_of_servers_are_shown_and_not_obeyed(documents):
    """What a server says is escaped on the page and on the terminal."""
    html = page(documents["hostile"])
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert not set("\x1b\u202e\ud800") & set(html)
    assert not set("\x1b\u202e\ud800") & set(printed(documents["hostile"]))


def test_the_page_needs_nothing_else(documents):
    """Its policy forbids every source, and it names none."""
    html = page(documents["different"])
    assert "default-src 'none'" in html
    sources = [a.get("src") for _, a in Page(html).elements if "src" in a]
    assert sources == []
    assert len(html) < 500_000


@pytest.mark.parametrize("name", NAMES)
def test_the_terminal_says_verdict_and_figures(name, documents):
    """The verdict opens, then its reasons; every figure stands beside the floor's."""
    document = documents[name]
    text = printed(document)
    assert text.startswith(document["verdict"].upper())
    if document["kl_lower_bound"] is not None:
        assert f"{document['kl_lower_bound']['value']:.4g}" in text
    assert "margins" in text or "nothing was measured" in text


def test_a_narrow_terminal_loses_nothing(documents):
    """Names of figures are folded, not cut."""
    text = " ".join(printed(documents["different"], width=50).split())
    assert "…" in text  # between limits
    assert "DIFFERENT" in text
