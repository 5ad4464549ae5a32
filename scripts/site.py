"""What the site of docs/ needs beyond its pages; mkdocs.yml names this file as a hook.

Pages link to files of the repository that stand outside docs/: schemas, manifests. A reader of the
repository follows such a link as it stands. For the site each of them is published beside the
pages under ``files/``, and the link is made to lead there.

Some blocks bear a second word for the tests (``json exchange``), which the site's Markdown takes
for no block at all: it is left out.
"""

from __future__ import annotations

import posixpath
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PUBLISHED = "files"

_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_SECOND_WORD = re.compile(r"^(```[\w-]+) [\w-]+$", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()\.\.?/[^)\s#]+")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the changelog as a page, and each file outside docs/ that a page links to."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    files.append(File.generated(config, "changelog.md", content=changelog))
    found = {
        path
        for page in files.documentation_pages()
        for path in _outside(page.src_uri, page.content_string)
    }
    for path in sorted(found):
        files.append(
            File.generated(
                config, f"{PUBLISHED}/{path}", content=(ROOT / path).read_text(encoding="utf-8")
            )
        )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links that leave docs/ to the published copies; leave out what tests alone read."""
    del config, files
    source = page.file.src_uri
    return _SECOND_WORD.sub(r"\1", _LINK.sub(partial(_published, source), markdown))


def _outside(source: str, markdown: str) -> set[str]:
    """Give the paths, from the repository's root, that a page links to outside docs/."""
    targets = (_path(source, link) for link in _LINK.findall(_CODE.sub("", markdown)))
    return {path for path in targets if path and (ROOT / path).is_file()}


def _path(source: str, link: str) -> str | None:
    """Give a link's path from the repository's root, or nothing where it stays within docs/."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(source), link))
    return None if path.startswith("docs/") else path


def _published(source: str, link: re.Match[str]) -> str:
    path = _path(source, link[0])
    if path is None or path == "CHANGELOG.md" or not (ROOT / path).is_file():
        return link[0]
    return posixpath.relpath(f"{PUBLISHED}/{path}", posixpath.dirname(source) or ".")
