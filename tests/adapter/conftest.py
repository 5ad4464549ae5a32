"""The real server of the lab, where a test asks for it."""

from __future__ import annotations

from tests.lab_servers import lab_server, weights

__all__ = ["lab_server", "weights"]
