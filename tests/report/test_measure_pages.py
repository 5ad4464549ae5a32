"""The pages of measurements as a whole: their structure, and what all of them show."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

import pytest

from denv.report import gates, measure_all
from denv.report.gates import verdict_of
from tests.instruments.tokens.test_report import Page
from tests.report.pages import PAGES, all_document, gates_document

BAD = "<script>alert(1)</script>\x1b[2J\u202e"


@lru_cache
def made(name: str) -> str:
    """Make a page once."""
    return PAGES[name]()


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_well_formed(name):
    """Elements close in order, ids are unique, headings skip no level, links have their ends."""
    found = Page(made(name))
    assert found.open == []
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    links = [a["href"] or "" for _, a in found.elements if "href" in a]
    assert all(link == "data:," or link[1:] in ids for link in links)
    named = [word for _, a in found.elements for word in (a.get("aria-labelledby") or "").split()]
    assert set(named) <= set(ids)


@pytest.mark.parametrize("name", PAGES)
def test_pages_need_nothing_else(name):
    """The policy forbids every source, and the page names none."""
    html = made(name)
    assert "default-src 'none'" in html
    assert not any("src" in a for _, a in Page(html).elements)
    assert "<script" not in html


def test_all_holds_each_part_with_its_verdict():
    """Gates come first, then each look as its own page shows it, with a link to each."""
    html = made("all")
    document = all_document()
    places = [html.index(f'<h2 id="{name}">') for name in measure_all.PARTS]
    assert places == sorted(places)
    for name in ("tokens", "answers", "derivations"):
        assert f"{name.capitalize()}: {document[name]['verdict']}" in html
    assert f"Gates: {verdict_of(gates_document())}" in html
    for shown in ("KL, lower bound, nats", 'id="picture-calibration-forced"', "By field", "G3"):
        assert shown in html
    assert "3 looks, each at 0.0167 of 0.05" in html


def test_stopped_shows_the_gates_alone():
    """Where nothing was measured there is no part of it, and the reason stands at the head."""
    html = made("stopped")
    assert "nothing was measured: G3 template: they part" in html
    assert '<h2 id="gates">' in html
    assert '<h2 id="tokens">' not in html


def test_gates_name_what_does_not_pass_and_what_follows():
    """Each failing check, and each measurement that is not admissible, stands with its reason."""
    document = gates_document()
    html = made("gates")
    assert ">Fail</span>" in html
    failing = [gate["id"] for gate in document["gates"] if gate["state"] == "fail"]
    assert failing == ["G3", "G6"]
    assert "&lt;end_of_turn&gt;" in html
    closed = [name for name, allowed in document["admissible"].items() if not allowed]
    assert closed
    for name in closed:
        assert re.search(f'<th scope="row">{name}</th><td[^>]*>no</td>', html)


def test_findings_of_servers_do_not_act():
    """What a server says in a finding is escaped."""
    document = gates_document()
    first = {**document["gates"][0], "finding": BAD, "state": "unknown"}
    reasons = {"tokens": [BAD]}
    told = {**document, "gates": [first, *document["gates"][1:]], "reasons": reasons}
    for html in (gates.page(told), measure_all.page({**all_document(), "gates": told})):
        assert "<script" not in html
        assert not set("\x1b\u202e") & set(html)


@pytest.mark.parametrize(
    ("states", "word"),
    [(("pass", "pass"), "pass"), (("pass", "unknown"), "unknown"), (("unknown", "fail"), "fail")],
)
def test_the_word_for_all_gates_is_the_worst(states, word):
    """One that fails is a failure, one that is not known leaves the whole unknown."""
    assert verdict_of({"gates": [{"state": state} for state in states]}) == word
