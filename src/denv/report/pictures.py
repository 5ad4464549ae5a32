"""Pictures by Matplotlib as inline SVG, in the page's colours and with a text that says them."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from denv.report.text import line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, SOFT, LINE = "#010101", "#020202", "#030303"
FIRST, SECOND = "#0a0a00", "#0a0a01"

STYLE = """
:root { --series-0: #1c55a0; --series-1: #b3470f; --series-2: #17693a; --series-3: #7a2f9a;
--series-4: #8a6100; --series-5: #0b6f7a; --series-6: #a3195b; --series-7: #4a4f57; }
@media (prefers-color-scheme: dark) { :root { --series-0: #93bdff; --series-1: #ffab7a;
--series-2: #6fd195; --series-3: #d8a4f2; --series-4: #efc168; --series-5: #6fd3de;
--series-6: #ff9cc9; --series-7: #c3c9d2; } }
.picture { display: block; width: 100%; height: auto; max-width: 52rem; }
"""
"""What a page with pictures adds to the style sheet of all pages."""

_ON_PAGE = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    LINE: "var(--line)",
    FIRST: "var(--series-0)",
    SECOND: "var(--series-1)",
}
"""Colours as they are drawn, and what stands in their place on the page."""

_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_SIZE = re.compile(r' width="[^"]*" height="[^"]*"')
_ID = re.compile(r'(\bid="|href="#|url\(#)')


def picture(
    plot: Callable[[Axes], None], *, key: str, title: str, says: str, size: tuple[float, float]
) -> Markup:
    """Draw on one pair of axes and give the SVG.

    ``key`` is unique on the page, ``says`` tells those who cannot see the picture what is on it.
    """
    drawn = _drawn(plot, key=key, size=size)
    start = drawn.index(">") + 1
    opening = _SIZE.sub("", drawn[len("<svg") : start])
    head = (
        f'<svg id="picture-{key}" role="img" aria-labelledby="{key}-title {key}-desc"'
        f' class="picture"{opening}<title id="{key}-title">{escape(title)}</title>'
        f'<desc id="{key}-desc">{escape(line(says, 4000))}</desc>'
    )
    return Markup(head + drawn[start:])  # noqa: S704 - made here, all texts escaped


def _drawn(plot: Callable[[Axes], None], *, key: str, size: tuple[float, float]) -> str:
    # Both cost half a second, which only a page with pictures has to pay.
    from matplotlib import rc_context  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    look: Mapping[str, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": key,
        "font.size": 10,
        "text.color": INK,
        "text.parse_math": False,
        "axes.labelcolor": SOFT,
        "axes.edgecolor": SOFT,
        "xtick.color": SOFT,
        "ytick.color": SOFT,
    }
    with rc_context(look):  # type: ignore[arg-type]
        drawing = Figure(figsize=size, layout="constrained")
        axes = drawing.add_subplot()
        axes.grid(axis="y", color=LINE, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        plot(axes)
        stream = io.StringIO()
        drawing.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    return _inlined(stream.getvalue(), key)


def _inlined(svg: str, key: str) -> str:
    """Make a file's SVG fit into a page: no prologue, ids and rules of its own, its colours."""
    svg = _METADATA.sub("", svg[svg.index("<svg") :])
    svg = _ID.sub(rf"\g<1>{key}-", svg)
    svg = svg.replace("*{stroke", f"#picture-{key} *{{stroke")
    for drawn, shown in _ON_PAGE.items():
        svg = svg.replace(drawn, shown)
    return svg
