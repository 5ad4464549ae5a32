"""The badge: a small picture of the verdict, its date, and the day after which it is stale.

A picture without scripts cannot know the day on which it is looked at. The one in a folder shows
its dates and stays as it is; one that is served is drawn anew, and says where it is stale.
"""

from __future__ import annotations

from datetime import date
from xml.sax.saxutils import escape

from denv.report.model import Document
from denv.report.text import percent

_COLOURS = {"pass": "#17693a", "fail": "#ae1f18"}
_UNSURE, _STALE = "#7d5200", "#565c66"
_CHARACTER = 6.6


def draw(head: Document, *, today: date | None = None) -> str:
    """Draw the badge; with ``today`` it says so where the report is stale."""
    stale = today is not None and today.isoformat() > head["stale_after"]
    said = _said(head, stale=stale)
    colour = _STALE if stale else _COLOURS.get(head["verdict"], _UNSURE)
    until = "stale since" if stale else "stale after"
    title = f"denv parity: {said}, {until} {head['stale_after']}"
    left, right = 82, round(len(said) * _CHARACTER) + 16
    under = f"{head['finished'][:10]} · {until} {head['stale_after']}"
    width = max(left + right, round(len(under) * 5.4) + 12)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="36" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f'<rect width="{width}" height="36" rx="4" fill="#1b1d21"/>'
        f'<path d="M{left} 0H{width - 4}a4 4 0 0 1 4 4V20H{left}z" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="8" y="14">denv parity</text>'
        f'<text x="{(left + width) / 2:g}" y="14" text-anchor="middle">{escape(said)}</text>'
        f'<text x="{width / 2:g}" y="31" text-anchor="middle" font-size="9">{escape(under)}</text>'
        "</g></svg>\n"
    )


def _said(head: Document, *, stale: bool) -> str:
    passed = sum(kind["pass"] for kind in head["kinds"].values())
    counted = passed + sum(kind["fail"] for kind in head["kinds"].values())
    rate = f" {percent(passed / counted)}" if counted else ""
    return f"{'stale: ' if stale else ''}{head['verdict']}{rate}"
