"""Take pictures of the pages of a running ``denv serve``: phone and desktop, light and dark.

Usage: python scripts/page_screenshots.py http://127.0.0.1:8000 folder [PATH ...]

Without paths it takes those of the navigation, and the first page that each list there leads to.
A server that wants a token is given the one in $DENV_TOKEN.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
SCHEMES = ("light", "dark")


def paths_of(page: Page, address: str) -> Iterator[str]:
    """Give the pages of the navigation, and the first link of each one's first table."""
    page.goto(address)
    entries = page.locator("header nav a").evaluate_all("all => all.map(a => a.pathname)")
    for path in entries:
        yield path
        page.goto(address + path)
        rows = page.locator("main tbody th a").evaluate_all("all => all.map(a => a.pathname)")
        yield from rows[:1]


def sign_in(page: Page, address: str) -> None:
    """Sign in where the server asks for a token."""
    page.goto(address)
    if page.locator("input[name=token]").count():
        page.fill("input[name=token]", os.environ["DENV_TOKEN"])
        page.click("main button")


def take(browser: Browser, address: str, folder: Path, *, paths: list[str]) -> None:
    """Save a picture of each page in each size and scheme."""
    folder.mkdir(parents=True, exist_ok=True)
    for size, (width, height) in SIZES.items():
        for scheme in SCHEMES:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page = context.new_page()
            sign_in(page, address)
            found = paths or list(dict.fromkeys(paths_of(page, address)))
            for path in found:
                page.goto(address + path)
                name = re.sub(r"[^A-Za-z0-9]+", "-", path).strip("-") or "overview"
                page.screenshot(path=folder / f"{name}-{size}-{scheme}.png", full_page=True)
            context.close()


def main() -> int:
    """Read the arguments, find Chromium, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("folder", type=Path)
    parser.add_argument("paths", nargs="*")
    chosen = parser.parse_args()
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if chromium is None:
        sys.stderr.write("no Chromium on PATH\n")
        return 2
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take(browser, chosen.address.rstrip("/"), chosen.folder, paths=chosen.paths)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
