"""Parity of open weights: whether a deployment serves them as its reference does.

The names below are the public interface; importing the package does no I/O and loads none of
them before they are used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from denv.records import Endpoint, Price, Secret, Thresholds, Timeouts
    from denv.release import load_release, parse_thresholds
    from denv.report import (
        Report,
        print_report,
        write_html,
        write_json,
        write_junit,
        write_markdown,
    )
    from denv.runner import Progress, Settings, run_measure, run_parity
    from denv.store import open_store
    from denv.suite import Suite, load_suite

__all__ = [
    "Endpoint",
    "Price",
    "Progress",
    "Report",
    "Secret",
    "Settings",
    "Suite",
    "Thresholds",
    "Timeouts",
    "load_release",
    "load_suite",
    "open_store",
    "parse_thresholds",
    "print_report",
    "run_measure",
    "run_parity",
    "write_html",
    "write_json",
    "write_junit",
    "write_markdown",
]

_HOMES = {
    "records": ("Endpoint", "Price", "Secret", "Thresholds", "Timeouts"),
    "release": ("load_release", "parse_thresholds"),
    "report": (
        "Report",
        "print_report",
        "write_html",
        "write_json",
        "write_junit",
        "write_markdown",
    ),
    "runner": ("Progress", "Settings", "run_measure", "run_parity"),
    "store": ("open_store",),
    "suite": ("Suite", "load_suite"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
