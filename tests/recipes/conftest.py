"""Real servers for the lab's own recipe."""

from tests.lab_servers import weights

__all__ = ["weights"]
