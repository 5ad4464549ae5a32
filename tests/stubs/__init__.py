"""A scriptable Chat Completions server for tests and benchmarks."""

from tests.stubs.stub import Seen, StubServer

__all__ = ["Seen", "StubServer"]
