"""The built site, read as a browser reads it: what its pages load, link to and offer as anchors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
_CSS_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


@dataclass
class Page(HTMLParser):
    """What one page holds."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    pictures: list[dict[str, str | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.anchors.add(str(found["id"]))
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if tag in LOADED and found.get(LOADED[tag]):
            self.loads.append(str(found[LOADED[tag]]))
        if tag == "img":
            self.pictures.append(found)
        self.loads += css_urls(found.get("style") or "")


def read(path: Path) -> Page:
    """Give what a built page holds."""
    page = Page()
    page.feed(path.read_text("utf-8"))
    return page


def css_urls(text: str) -> list[str]:
    """Give what a style sheet loads."""
    return [url or name for url, name in _CSS_URL.findall(text)]


def is_foreign(url: str) -> bool:
    """Tell whether an address is another host's."""
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme in {"http", "https", "ws", "wss"}


def target(site: Path, page: Path, link: str) -> tuple[Path, str]:
    """Give the file and the anchor that a link of a page leads to."""
    parts = urlsplit(link)
    path = unquote(parts.path)
    if not path:
        return page, unquote(parts.fragment)
    found = site / path.lstrip("/") if path.startswith("/") else page.parent / path
    found = found.resolve()
    return (found / "index.html" if found.is_dir() else found), unquote(parts.fragment)
