"""Templates to pages: everything is escaped, and every page knows who asks and where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse

from denv.client.masking import mask
from denv.report import text
from denv.report.environment import environment
from denv.report.html import figure
from denv.serve.pages.assets import asset
from denv.serve.pages.times import ago, iso, moment, span

NAVIGATION = (
    ("overview", "/", "Overview"),
    ("runs", "/runs", "Runs"),
    ("measurements", "/measurements", "Measurements"),
    ("rollouts", "/rollouts", "Rollouts"),
    ("alarms", "/alarms", "Alarms"),
    ("schedules", "/schedules", "Schedules"),
    ("suites", "/suites", "Suites"),
    ("published", "/published", "Public reports"),
)
"""Each entry's name, its address, and its words."""

_WITHIN = {"compare": "runs"}


def render(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    """Make a page of a template.

    It is given the ``caller`` (None for a page that is open to all), the ``csrf`` field of its
    session, the navigation with the ``entry`` that the page is of, and the program's version.
    """
    caller = getattr(request.state, "caller", None)
    csrf = None if caller is None else caller.csrf
    shown = {
        "caller": caller,
        "csrf": csrf,
        "form_token": csrf,  # the macro for the field has the other name
        "navigation": NAVIGATION,
        "entry": entry_of(request.url.path),
        "path": request.url.path,
        "version": version("denv-parity"),
        **values,
    }
    html = page_environment().get_template(template).render(shown)
    return HTMLResponse(text.without_surrogates(html), status_code=status, headers=headers)


def entry_of(path: str) -> str:
    """Tell which entry of the navigation an address belongs to."""
    first = path.strip("/").split("/", 1)[0]
    return _WITHIN.get(first, first) or "overview"


@cache
def page_environment() -> Environment:
    """Give what reads the templates of pages, and those of the reports that pages share."""
    found = environment(
        line=text.line,
        visible=text.visible,
        percent=text.percent,
        threshold=text.threshold,
        interval=text.interval,
        figure=figure,
        masked=masked,
        moment=moment,
        iso=iso,
        ago=ago,
        span=span,
        points=points,
        points_between=points_between,
    )
    reports = PackageLoader("denv.report")
    # some of the reports' templates have names that pages have too: those are at report/NAME
    own = PackageLoader("denv.serve.pages")
    found.loader = ChoiceLoader([own, PrefixLoader({"report": reports}), reports])
    found.globals["asset"] = asset
    return found


def masked(value: object) -> str:
    """Show a value without keys and passwords of addresses."""
    return mask(str(value))


def points(difference: float) -> str:
    """Write a difference of two rates.

    >>> points(-0.0213)
    '−2.1 points'
    """
    return f"{_points(difference)} points"


def points_between(limits: Sequence[float]) -> str:
    """Write the limits of a difference of two rates."""
    return " to ".join(map(_points, limits))


def _points(difference: float) -> str:
    shown = round(difference * 100, 1)
    return f"{shown:+g}".replace("-", "−") if shown else "0"
