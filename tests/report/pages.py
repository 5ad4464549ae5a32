"""A page of each measurement, made of documents that were played without a server.

    python -m tests.report.pages folder

writes them as files, to be looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from denv.instruments.measure_all import LOOKS
from denv.report import answers, derivations, gates, measure_all, speed, tokens
from tests.instruments.gates.toy import SELFCHECK, Toy
from tests.instruments.gates.toy import measure as ask_gates
from tests.instruments.speed.scripted import Machine
from tests.instruments.speed.test_report import document as speed_document
from tests.instruments.tokens.measuring import measure as measure_tokens
from tests.instruments.tokens.synthetic import Engine
from tests.report.test_paired import measured

LONG = "unsloth/Qwen3-Coder-480B-A35B-Instruct-1M-GGUF:UD-Q4_K_XL-a-name-that-does-not-break"


@lru_cache
def tokens_document() -> Mapping[str, Any]:
    """Give a stage that differs."""
    return measure_tokens(Engine(noise=0.6), Engine())


@lru_cache
def gates_document() -> Mapping[str, Any]:
    """Give a stage with another template, other defaults, and scaled logprobs."""
    stage = Toy(turn_end="<end_of_turn>\n", default_max_tokens=20, scale=0.5)
    body = {k: v for k, v in ask_gates(stage).items() if k != "verdict"}
    settings = {"context_tokens": 200, "selfcheck": {"passed": SELFCHECK.passed, "total": 9}}
    head = {k: tokens_document()[k] for k in ("measure", "started", "denv", "reference", "spent")}
    side = {**tokens_document()["stage"], "model": LONG}
    return {**head, "stage": side, "settings": settings, **body}


def all_document(stopped: str | None = None) -> Mapping[str, Any]:
    """Give all measurements as one document; with ``stopped`` the gates alone."""
    parts: dict[str, Any] = {
        "tokens": tokens_document(),
        "answers": measured("answers"),
        "derivations": measured("derivations"),
    }
    told = gates_document()
    settings = {"alpha": 0.05, "gates": told["settings"]}
    return {
        **told,
        "settings": {**settings, **{name: parts[name]["settings"] for name in LOOKS}},
        "verdict": "different" if stopped is None else "undecided",
        "reasons": [f"{name}: {parts[name]['verdict']}" for name in LOOKS]
        if stopped is None
        else [f"nothing was measured: {stopped}"],
        "stopped": stopped,
        "looks": {"number": 3, "alpha": 0.05, "alpha_each": 0.05 / 3, "method": "bonferroni"},
        "gates": told,
        **{name: parts[name] if stopped is None else None for name in LOOKS},
    }


def _speed_page() -> str:
    machines = {"stage": Machine(draft=4), "reference": Machine(evaluation_s=0.05)}
    return speed.page(speed_document(machines))


PAGES: Mapping[str, Callable[[], str]] = {
    "tokens": lambda: tokens.page(tokens_document()),
    "answers": lambda: answers.page(measured("answers")),
    "derivations": lambda: derivations.page(measured("derivations")),
    "gates": lambda: gates.page(gates_document()),
    "speed": _speed_page,
    "all": lambda: measure_all.page(all_document()),
    "stopped": lambda: measure_all.page(all_document("G3 template: they part")),
}


def main() -> None:
    """Write every page to a folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / f"{name}.html").write_text(make(), "utf-8")


if __name__ == "__main__":
    main()
