"""The JSON API under ``/api/v1``: what the pages show, and what a caller may have done."""

from denv.serve.api.application import api_app

__all__ = ["api_app"]
