"""What the pages say of values, codes and fields is so, and their links lead somewhere."""

import json

import pytest

import denv
from denv.cli.parity import EXIT_CODES
from denv.records import Cause, Outcome, Verdict
from denv.schemas import schema
from denv.suite import load_suite
from tests.docs.examples import outcome_of, verdict_of
from tests.docs.pages import DOCS, PAGES, ROOT, anchors, answered, blocks, links, names, rows
from tests.docs.pages import text_of as text

README = text(ROOT / "README.md")
CAUSES = text(DOCS / "causes.md")
OUTCOMES = text(DOCS / "outcomes.md")
REPORT = text(DOCS / "report.md")
EXCHANGES = answered(CAUSES, "json exchange") + answered(OUTCOMES, "json exchange")
VERDICTS = answered(OUTCOMES, "json verdict")
ONCE_MORE = {Cause.SAMPLING, Cause.PRECISION, Cause.MODEL}


def first_names(page, heading):
    return [name for row in rows(page, heading) for name in names(row[0])]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page):
    """Each link leads to a file that is there, and to a heading that is in it."""
    for link in links(text(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(text(target)), link


def test_the_index_leads_to_every_page():
    """Each page is linked from the index."""
    others = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"index.md"}
    assert {link.partition("#")[0] for link in links(text(DOCS / "index.md"))} == others


def test_causes_are_the_programs():
    """The page lists each cause once, and the README each once too."""
    assert sorted(first_names(CAUSES, "cause")) == sorted(Cause)
    assert sorted(first_names(README, "cause")) == sorted(Cause)


def test_causes_of_more_than_one_exchange():
    """Those that a run alone never gives are said to be so."""
    never = {
        name
        for row in rows(CAUSES, "cause")
        if row[-1].startswith("never")
        for name in names(row[0])
    }
    assert never == ONCE_MORE


def test_every_cause_that_a_run_gives_has_an_example():
    """Each of the other causes is given by an example of its page."""
    given = {outcome_of(json.loads(example)).partition(")")[0] for example, _ in EXCHANGES}
    assert {f"fail ({cause}" for cause in set(Cause) - ONCE_MORE} <= given


def test_outcomes_and_verdicts_are_the_programs():
    """The page lists each outcome and each verdict once."""
    assert sorted(first_names(OUTCOMES, "outcome")) == sorted(Outcome)
    assert sorted(first_names(OUTCOMES, "verdict")) == sorted(Verdict)


@pytest.mark.parametrize("page", [README, OUTCOMES, text(DOCS / "parity-run.md")])
def test_exit_codes_are_the_programs(page):
    """Each table of exit codes holds the program's, and 2 for usage errors."""
    codes = {int(row[0]): names(row[1])[:1] for row in rows(page, "exit code")}
    assert codes.pop(2) == []
    assert codes == {code: [verdict] for verdict, code in EXIT_CODES.items()}


@pytest.mark.parametrize(("example", "said"), EXCHANGES)
def test_worked_cases(example, said):
    """Each example of a case has the outcome that stands below it."""
    assert outcome_of(json.loads(example)) + "\n" == said


@pytest.mark.parametrize(("example", "said"), VERDICTS)
def test_worked_verdicts(example, said):
    """Each example of counts has the verdict that stands below it."""
    assert verdict_of(json.loads(example)) + "\n" == said


def test_there_are_worked_examples():
    """No example is without its outcome."""
    shown = sum(len(blocks(page, "json exchange")) for page in (CAUSES, OUTCOMES))
    assert len(EXCHANGES) == shown >= 12
    assert len(VERDICTS) == len(blocks(OUTCOMES, "json verdict")) >= 8


@pytest.mark.parametrize(
    ("heading", "definition"),
    [("key", None), ("field", "endpoint")],
)
def test_fields_of_the_document(heading, definition):
    """The page names each key of the document and of an endpoint, and no other."""
    document = schema("report-1")
    part = document if definition is None else document["$defs"][definition]
    assert sorted(first_names(REPORT, heading)) == sorted(part["properties"])


@pytest.mark.parametrize("definition", ["estimate", "case", "side", "tools", "tool_side", "group"])
def test_fields_of_the_documents_parts(definition):
    """The page names each field of the document's other parts."""
    assert set(schema("report-1")["$defs"][definition]["properties"]) <= set(names(REPORT))


def test_public_names():
    """The page on Python lists the public names, each once."""
    assert sorted(first_names(text(DOCS / "python-api.md"), "name")) == sorted(denv.__all__)


def test_folders_of_the_architecture():
    """The page on the architecture lists the package's parts, each once."""
    package = ROOT / "src" / "denv"
    there = {f"{p.name}/" if p.is_dir() else p.name for p in package.iterdir()}
    there -= {"__init__.py", "__main__.py", "__pycache__/", "py.typed"}
    assert sorted(first_names(text(DOCS / "architecture.md"), "in `src/denv/`")) == sorted(there)


def test_every_schema_is_listed():
    """The page on schemas lists each that is shipped, once."""
    shipped = [path.stem for path in (ROOT / "src" / "denv" / "schemas").glob("*.json")]
    listed = [name for row in rows(text(DOCS / "schemas.md"), "schema") for name in names(row[0])]
    assert sorted(listed) == sorted(shipped)


def test_the_readmes_suite(tmp_path):
    """The suite of the README is a valid one, and the first of the page on suites."""
    (suite,) = blocks(README, "jsonl")
    assert suite == blocks(text(DOCS / "suites.md"), "jsonl")[0]
    (tmp_path / "core.jsonl").write_text(suite, "utf-8")
    assert load_suite(tmp_path / "core.jsonl").cases == 3


def test_the_readmes_figure():
    """59 passes of 59 show 95 % with 95 % confidence: 0.95⁵⁹ is below 5 %, 0.95⁵⁸ is not."""
    assert 0.95**59 < 0.05 <= 0.95**58
    assert "59 of 59" in README
