"""Real servers for the engines' own tests."""

from tests.lab_servers import lab_server, weights

__all__ = ["lab_server", "weights"]
