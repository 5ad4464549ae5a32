"""Take pictures of a report page: phone and desktop, light and dark, and as printed.

Usage: python scripts/screenshots.py report.html folder
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

SIZES = {"phone": (390, 844), "narrow": (320, 640), "desktop": (1280, 900)}


def take(browser: Browser, page_file: Path, folder: Path) -> None:
    """Save every picture of one page to the folder, whole pages and what is seen first."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page = context.new_page()
            page.goto(page_file.as_uri())
            page.screenshot(path=folder / f"{page_file.stem}-{name}-{scheme}.png")
            whole = folder / f"{page_file.stem}-{name}-{scheme}-whole.png"
            page.screenshot(path=whole, full_page=True)
            context.close()
    page = browser.new_page()
    page.goto(page_file.as_uri())
    page.pdf(path=folder / f"{page_file.stem}.pdf", format="A4")


def main() -> int:
    """Read the two arguments, find Chromium, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if chromium is None:
        sys.stderr.write("no Chromium on PATH\n")
        return 2
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take(browser, chosen.page.resolve(), chosen.folder)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
