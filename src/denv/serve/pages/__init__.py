"""The pages of ``denv serve``: HTML that works without scripts, and the files that it needs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from starlette.routing import Route

from denv.serve.context import ServeContext
from denv.serve.pages.assets import asset_routes
from denv.serve.pages.errors import error_page

__all__ = ["asset_routes", "error_page", "page_routes"]

PARTS = (
    "overview",
    "runs",
    "run",
    "case",
    "compare",
    "measures",
    "measure",
    "rollouts",
    "rollout",
    "alarms",
    "schedules",
    "schedule",
    "suites",
    "suite",
    "published",
)
"""Modules that each give the routes of one kind of page."""


def page_routes(context: ServeContext) -> list[Route]:
    """Give the routes of all pages. Those of :func:`asset_routes` are open to all."""
    found: list[Route] = []
    for name in PARTS:
        routes: Callable[[ServeContext], list[Route]]
        routes = import_module(f"denv.serve.pages.{name}").routes
        found += routes(context)
    return found
