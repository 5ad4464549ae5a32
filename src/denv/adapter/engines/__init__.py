"""Engines behind one seam: a prompt goes in, tokens come out, closing cancels.

``protocol`` is the seam. ``open_engine`` makes the engine that settings name.
"""

from denv.adapter.engines.opening import open_engine

__all__ = ["open_engine"]
