"""The lab's model, which the pages that are run serve."""

from tests.lab_servers import weights

__all__ = ["weights"]
