"""What is installed, told from packages' own metadata."""

from __future__ import annotations

from importlib.metadata import metadata, version

import pytest

from denv.doctor.finding import Level
from denv.doctor.installed import EXTRAS, examine_installed, requirements_of


def findings():
    return {finding.name: finding for finding in examine_installed()}


@pytest.fixture
def other_denv(tmp_path, monkeypatch):
    """Make another denv's metadata stand before the installed one's."""
    about = tmp_path / "denv_parity-7.0.dist-info"
    about.mkdir()

    def needs(*requirements):
        lines = ["Metadata-Version: 2.1", "Name: denv-parity", "Version: 7.0"]
        lines += [f"Requires-Dist: {each}" for each in requirements]
        (about / "METADATA").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(str(tmp_path))

    return needs


def test_all_that_is_installed_has_its_version():
    """With all extras installed each is well, and names its packages with their versions."""
    found = findings()
    assert {finding.level for finding in found.values()} == {Level.OK}
    assert f"psycopg {version('psycopg')}" in found["extra postgres"].text
    assert f"fastapi {version('fastapi')}" in found["extra durable"].text  # by way of serve


def test_extras_for_users_are_all_extras_but_those_for_work_on_denv():
    """An extra that is added is one of the doctor's, or one that only work on denv needs."""
    given = set(metadata("denv-parity").get_all("Provides-Extra") or ())
    assert given - set(EXTRAS) == {"bench", "dev", "docs", "mutants"}
    assert set(EXTRAS) <= given


def test_an_extra_that_is_not_there_is_a_note_with_the_line_that_brings_it(other_denv):
    """Nobody needs each extra: one that is missing is no fault, and its line can be copied."""
    other_denv('no-such-package-at-all>=1; extra == "postgres"')
    found = findings()["extra postgres"]
    assert found.level is Level.NOTE
    assert "no-such-package-at-all" in found.text
    assert found.advice.startswith("pip install 'denv-parity[postgres]'")


def test_half_an_extra_is_a_warning(other_denv):
    """Some packages of an extra without the rest are worse than none."""
    other_denv('orjson; extra == "postgres"', 'no-such-package; extra == "postgres"')
    found = findings()["extra postgres"]
    assert (found.level, found.text) == (Level.WARNING, "not whole: missing: no-such-package")


def test_what_denv_needs_at_all_is_a_fault_where_it_is_missing_or_too_old(other_denv):
    """Without its own packages nothing works."""
    other_denv("no-such-package", "orjson>=9999", 'gone; extra == "lab"')
    found = findings()["denv"]
    assert found.level is Level.FAULT
    there = f"orjson {version('orjson')}"
    assert "missing: no-such-package; of a version that does not fit: " + there in found.text
    assert "gone" not in found.text


def test_markers_are_heeded_and_extras_of_extras_followed(other_denv):
    """What another Python needs is not asked for; an extra that names others brings theirs."""
    other_denv(
        'one; python_version < "3" and extra == "imports"',
        'denv-parity[serve]; extra == "durable"',
        'two; extra == "serve"',
    )
    assert requirements_of("imports") == []
    assert [each.name for each in requirements_of("durable")] == ["two"]
    assert findings()["extra imports"].level is Level.OK
