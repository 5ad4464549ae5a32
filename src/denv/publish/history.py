"""The published reports of one stage, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files

from markupsafe import Markup

from denv.publish.page import page_environment, stage_name
from denv.store import Publication


def render_history(
    here: Publication, published: Sequence[Publication], *, now: datetime | None = None
) -> str:
    """Give the page; only reports that may be listed are linked, since an address is a key."""
    moment = now or datetime.now(UTC)
    today = moment.strftime("%Y-%m-%d")
    rows = [
        {
            "head": each.head,
            "here": each.publication == here.publication,
            "gone": not each.is_open(moment.timestamp()),
            "stale": today > str(each.head["stale_after"]),
            "link": (
                f"../{each.publication}/"
                if each.indexed and each.is_open(moment.timestamp())
                else None
            ),
        }
        for each in published
    ]
    style = Markup(files("denv.report").joinpath("templates", "report.css").read_text("utf-8"))  # noqa: S704 - a file of this package
    page = page_environment().get_template("history.html.j2")
    return page.render(stage=stage_name(here.head), rows=rows, style=style)
