"""The page of rollouts shows the table as the program has it."""

from __future__ import annotations

from denv.rollout.states import Phase
from denv.rollout.states.rules import MEANINGS, Rule
from denv.rollout.states.table import ROWS
from scripts.rollout_table import PAGE, table


def test_the_page_shows_the_program_s_table() -> None:
    """What stands there is what ``python scripts/rollout_table.py`` writes."""
    assert table() in PAGE.read_text(encoding="utf-8")


def test_the_page_names_every_phase() -> None:
    """Each phase is explained by its name."""
    page = PAGE.read_text(encoding="utf-8")
    assert [phase for phase in Phase if f"`{phase}`" not in page] == []


def test_every_rule_is_used_and_means_something() -> None:
    """No rule is left over, and each has its sentence."""
    anywhere = {Rule.IGNORED_STALE, Rule.IGNORED_OTHER_ANSWER}
    assert {rule for row in ROWS for rule in row.rules} | anywhere == set(Rule)
    assert set(MEANINGS) == set(Rule)
    assert all(said.endswith(".") for said in MEANINGS.values())
