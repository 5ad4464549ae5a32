"""The only normaliser of what engines send: an Exchange goes in, an Observation comes out."""

from denv.observe.answer import observe

__all__ = ["observe"]
