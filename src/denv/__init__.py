"""Parity of open weights served by others."""
