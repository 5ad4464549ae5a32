"""Pictures as images: alone in their file, in the page's colours, with their words."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree as ET

from markupsafe import Markup

from denv.report.schedule_pictures import Point, write_history
from denv.report.tokens_pictures import change_picture
from denv.serve.pages.drawing import embedded, image, on_screen
from tests.report.pages import tokens_document


def svg_of(html):
    """Give what an image holds."""
    (data,) = re.findall('base64,([^"]+)', html)
    return base64.b64decode(data).decode()


def test_an_image_says_what_the_picture_said_and_names_its_colours():
    """Title and description become the alternative; the file needs nothing of the page."""
    drawn = change_picture(tokens_document())
    assert drawn is not None
    html = embedded(drawn)
    assert 'alt="Change of probability: -1 to -0.5: 0 tokens' in html
    assert " style=" not in html
    svg = svg_of(html)
    ET.fromstring(svg)
    used = set(re.findall(r"var\((--[\w-]+)\)", svg))
    assert used
    assert all(svg.count(f"{name}:") == 2 for name in used)  # in light and in dark


def test_what_is_said_cannot_act():
    """Quotes and markup in a picture's words stay words."""
    html = image("<svg></svg>", says='" onload="x <script>')
    assert html.startswith('<img class="picture" alt="&#34; onload=&#34;x &lt;script&gt;"')
    assert isinstance(html, Markup)


def test_a_picture_for_paper_is_put_into_the_page_s_colours():
    """No colour of paper is left, and no white ground."""
    kinds = {"exact": {"pass": 39, "fail": 1}}
    points = [Point(1.8e9 + n * 86_400, "pass", {"kinds": kinds}) for n in range(3)]
    paper = write_history(points, title="nightly").decode()
    assert "#1a1a1a" in paper
    drawn = on_screen(paper.encode())
    assert not re.search("#(1a1a1a|555555|dddddd|ffffff)", drawn)
    assert "var(--ink)" in drawn
    assert drawn.startswith("<svg")
