"""Real servers for the lab's own tests."""

from tests.lab_servers import coarse_weights, lab_server, weights

__all__ = ["coarse_weights", "lab_server", "weights"]
