"""The noise floor as people read it."""

import io

from rich.console import Console

from denv.report import Report, print_report, write_html, write_markdown
from denv.report.noise import noise_lines
from tests.report import samples


def test_nothing_is_said_where_nothing_was_asked_twice():
    """A run that asked once has no noise floor to show."""
    assert noise_lines(samples.head()) == []


def test_sentences_carry_the_figures():
    """Agreement, identity and logprobs are said for each side, the tolerance beside them."""
    lines = noise_lines(samples.head(noise=samples.noise()))
    assert lines[0].startswith("The engine is declared deterministic, but 9 of 80")
    assert "agrees with itself about the check in 38 of 40 exact cases" in lines[1]
    assert "31 of 40 are the first answer to the last bit" in lines[2]
    assert "by up to 0.043 nats" in lines[4]
    assert lines[4].endswith("the tolerance is 0.05.")
    assert len(lines) == 9


def test_every_form_shows_them():
    """Terminal, page and Markdown show the same sentences."""
    report = Report(samples.head(noise=samples.noise()), lambda: iter(()))
    said = "agrees with itself about the check in 38 of 40 exact cases"
    shown = io.StringIO()
    print_report(report, Console(file=shown, width=300))
    page, step = io.StringIO(), io.StringIO()
    write_html(report, page)
    write_markdown(report, step)
    assert all(said in text.getvalue() for text in (shown, page, step))
    assert 'id="noise"' in page.getvalue()
