"""What pages are made of: each macro gives what all pages rely on."""

from __future__ import annotations

from typing import Any

from denv.serve.pages.rendering import page_environment

BEGIN = '{% import "macros.html.j2" as ui with context %}'


def made(source: str, **values: Any) -> str:
    """Render a piece of a page."""
    template = page_environment().from_string(BEGIN + source)
    return " ".join(template.render({"form_token": "the-token", **values}).split())


def test_an_action_is_a_form_with_the_session_field():
    """A button that changes something posts, and shows that it comes from our page."""
    html = made("{{ ui.action('/x', 'Do it', grave=True) }}")
    assert '<form class="act" method="post" action="/x">' in html
    assert '<input type="hidden" name="csrf" value="the-token">' in html
    assert '<button class="button grave">Do it</button>' in html


def test_a_caller_without_a_session_has_no_field():
    """Who shows a token with each request needs none."""
    assert "csrf" not in made("{{ ui.action('/x', 'Do it') }}", form_token=None)


def test_a_table_names_its_columns():
    """Columns of figures stand right, and one may be named without being seen."""
    html = made("{% call ui.table('Things', ('~Pick', 'Name', '#Cases')) %}<tr></tr>{% endcall %}")
    assert '<caption class="unseen">Things</caption>' in html
    assert '<th scope="col"><span class="unseen">Pick</span></th>' in html
    assert '<th scope="col">Name</th><th scope="col" class="num">Cases</th>' in html
    assert 'tabindex="0" role="group" aria-label="Things"' in html


def test_a_filter_asks_by_the_address():
    """A choice has what stands for anything first, and the chosen one is chosen."""
    html = made(
        "{% call ui.filters('/runs', 'Runs', reset='/runs') %}"
        "{{ ui.choice('verdict', 'Verdict', ('pass', ('fail', 'failed')), 'fail') }}{% endcall %}"
    )
    assert '<form class="filter" method="get" action="/runs" role="search"' in html
    assert '<option value="">any</option><option value="pass">pass</option>' in html
    assert '<option value="fail" selected>failed</option>' in html
    assert '<a href="/runs">Clear</a>' in html


def test_where_a_list_ends_there_is_no_paging():
    """Neither a first nor a next page, no landmark."""
    assert made("{{ ui.paging() }}") == ""
    assert 'rel="next"' in made("{{ ui.paging(next='?before=x') }}")


def test_values_are_escaped():
    """Texts are text in every macro."""
    html = made(
        "{{ ui.head(bad, bad, [(bad, '/')]) }}{{ ui.badge(bad, 'pass') }}{{ ui.state(bad) }}"
        "{{ ui.list([(bad, bad)]) }}{{ ui.facts([(bad, bad)]) }}"
        "{% call ui.empty(bad) %}{% endcall %}",
        bad="<b>",
    )
    assert "<b>" not in html
    assert html.count("&lt;b&gt;") == 10


def test_times_are_for_people_and_machines():
    """An age has the time itself beside it; no time is a dash."""
    html = made("{{ ui.age(0.0, 7200.0) }} {{ ui.when(none) }}")
    assert 'datetime="1970-01-01T00:00:00Z" title="1970-01-01 00:00:00 UTC">2 hours ago<' in html
    assert html.endswith("–")
