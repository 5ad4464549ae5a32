"""Tokens (P1): a reference's greedy texts, forced through the stage token by token."""

from denv.instruments.tokens.decision import Margins
from denv.instruments.tokens.instrument import SCHEMA, Tokens

__all__ = ["SCHEMA", "Margins", "Tokens"]
