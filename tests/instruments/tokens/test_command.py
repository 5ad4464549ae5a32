"""The options of the command, and what they build."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner

from denv.cli import tokens as command
from denv.errors import UsageError
from denv.instruments.tokens.forcing import PATHS
from denv.instruments.tokens.instrument import AUTO, MAX_TOKENS, TEXTS, TOP

SIDES = ["--stage", "http://127.0.0.1:1/v1", "--reference", "http://127.0.0.1:2/v1"]


@pytest.fixture
def built(monkeypatch):
    """Run the command up to the measurement, and give what it would measure with."""
    found: list[object] = []

    def keep(instrument, options, *, render, page):
        found.append(instrument)
        return 0

    monkeypatch.setattr("denv.cli.measuring.measure_command", keep)

    def run(*arguments: str):
        found.clear()
        result = CliRunner().invoke(
            command.tokens, [*SIDES, *arguments], standalone_mode=False, catch_exceptions=False
        )
        return found[0] if found else result.exception

    return run


def test_defaults_are_the_instruments(built):
    """What the help says is what is measured with."""
    instrument = built()
    assert (instrument.texts, instrument.max_tokens, instrument.top) == (TEXTS, MAX_TOKENS, TOP)
    assert (instrument.path, instrument.alpha) == (AUTO, 0.05)
    assert instrument.categories is None
    assert instrument.margins.kl is None
    assert (AUTO, *PATHS) == command.PATHS


def test_options_reach_the_instrument(built, tmp_path):
    """Each option decides one setting."""
    gates = tmp_path / "gates.json"
    gates.write_text(json.dumps({"schema": "denv.parity.gates/1", "admissible": {"tokens": True}}))
    instrument = built(
        "--texts", "7", "--max-tokens", "9", "--categories", "code, prose", "--path", "stepwise",
        "--top", "30", "--margin-kl", "0.02", "--margin-tv", "0.1", "--confidence", "99%",
        "--gates", str(gates), "--force",
    )  # fmt: skip
    assert instrument.settings() == {
        "texts": 7, "max_tokens": 9, "categories": ["code", "prose"], "path": "stepwise",
        "top": 30, "margin_kl": 0.02, "margin_total_variation": 0.1, "confidence": 0.99,
        "gates": True, "force": True, "seed": 0, "resamples": 9999,
    }  # fmt: skip


WRONG = [
    (["--categories", "poetry"], "no category 'poetry'"),
    (["--margin-kl", "0"], "--margin-kl is 0"),
    (["--margin-kl", "nan"], "--margin-kl is nan"),
    (["--margin-tv", "1.5"], "--margin-tv is 1.5"),
    (["--confidence", "100%"], "--confidence"),
    (["--confidence", "95"], "--confidence"),
    (["--gates", "nowhere.json"], "--gates nowhere.json"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_wrong_options_are_named(built, arguments, said):
    """Every error names the option, before anything is sent."""
    with pytest.raises((UsageError, click.UsageError), match=said):
        built(*arguments)


def test_another_document_is_no_gates(built, tmp_path):
    """A report in the gates' place is refused."""
    path = tmp_path / "report.json"
    path.write_text('{"schema": "denv.parity.report/1"}')
    with pytest.raises(UsageError, match="not a document of denv"):
        built("--gates", str(path))
