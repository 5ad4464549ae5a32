"""Folds the tool-call deltas of a stream into calls.

Ids decide, then the index, then the order. A delta with a new id opens a call; one without id
opens a call where its index is new, or where it brings a name after complete arguments; every
other delta continues the latest call that it can belong to.
"""

from __future__ import annotations

import re

from denv.observe import oddities
from denv.observe.arguments import read_arguments
from denv.observe.oddities import Notes
from denv.observe.problems import broken_shape
from denv.records import Json

MAX_PIECES_CALLS = 1001
"""Calls that are kept apart while folding; the message's reader refuses that many."""

_STRUCTURE = re.compile(r'[{}\[\]"\\]')


class _OpenCall:
    """One call while its pieces come in."""

    def __init__(self, call_id: str | None, index: int | None) -> None:
        self.id = call_id
        self.index = index
        self.name: str | None = None
        self._pieces: list[str] = []
        self._scanned = 0
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self._begun = False

    def append(self, arguments: Json, notes: Notes) -> None:
        """Take a piece of the argument text; an object counts as its text."""
        if arguments is None or arguments == "":
            return
        if not isinstance(arguments, str):
            arguments = read_arguments(arguments, notes).raw
        self._pieces.append(arguments)

    def take_name(self, name: str) -> None:
        """Take the name, or a further piece of it; servers also repeat the whole one."""
        if self.name is None:
            self.name = name
        elif name != self.name:
            self.name += name

    def complete(self) -> bool:
        """Say whether the argument text so far closes all that it opened.

        Each piece is scanned once, however often this is asked.
        """
        for piece in self._pieces[self._scanned :]:
            self._scan(piece)
        self._scanned = len(self._pieces)
        return self._begun and self._depth == 0 and not self._in_string

    def _scan(self, piece: str) -> None:
        if self._escaped:
            piece = piece[1:]
        self._escaped = False
        after_escape = -1
        for match in _STRUCTURE.finditer(piece):
            sign = match.group()
            if match.start() == after_escape:
                continue
            if self._in_string:
                if sign == "\\":
                    after_escape = match.end()
                    self._escaped = after_escape == len(piece)
                elif sign == '"':
                    self._in_string = False
            elif sign == '"':
                self._in_string = self._begun = True
            elif sign in "{[":
                self._depth += 1
                self._begun = True
            elif sign in "}]":
                self._depth -= 1

    def folded(self) -> dict[str, Json]:
        """Give the call as a plain answer would have it."""
        function: dict[str, Json] = {"name": self.name}
        if self._pieces:
            function["arguments"] = "".join(self._pieces)
        call: dict[str, Json] = {"type": "function", "function": function}
        return call if self.id is None else {"id": self.id, **call}


class CallFold:
    """Takes deltas in order; ``folded`` gives the calls."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._calls: list[_OpenCall] = []
        self._by_id: dict[str, _OpenCall] = {}
        self._by_index: dict[int, _OpenCall] = {}

    def add(self, delta: Json) -> None:
        """Take one entry of ``delta.tool_calls``."""
        if not isinstance(delta, dict):
            broken_shape("a tool call of the stream is not an object")
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        call_id = delta["id"] if isinstance(delta.get("id"), str) and delta["id"] else None
        index = delta["index"] if type(delta.get("index")) is int else None
        name = function.get("name")
        name = name if isinstance(name, str) and name else None
        if index is None:
            self._notes.append(oddities.STREAM_CALL_NO_INDEX)
        call = self._continued(call_id, index, name) or self._opened(call_id, index)
        if index is not None:
            self._by_index[index] = call
        if name is not None:
            call.take_name(name)
        call.append(function.get("arguments"), self._notes)

    def folded(self) -> list[dict[str, Json]]:
        """Give the calls in the order in which they were opened."""
        return [call.folded() for call in self._calls]

    def _opened(self, call_id: str | None, index: int | None) -> _OpenCall:
        if len(self._calls) >= MAX_PIECES_CALLS:
            broken_shape(f"over {len(self._calls) - 1} tool calls in one answer")
        if index is not None and index in self._by_index:
            self._notes.append(oddities.STREAM_CALL_INDEX)
        call = _OpenCall(call_id, index)
        self._calls.append(call)
        if call_id is not None:
            self._by_id[call_id] = call
        return call

    def _continued(
        self, call_id: str | None, index: int | None, name: str | None
    ) -> _OpenCall | None:
        """Find the open call that a delta belongs to, None where it opens one."""
        if call_id is not None:
            return self._same_call(call_id, index, name)
        if index is not None:
            call = self._by_index.get(index)
        else:
            call = self._calls[-1] if self._calls else None
        if call is None or name is None or call.name is None:
            return call
        if call.complete():
            return None
        # without an index, another name cannot be a piece of this call's
        return None if index is None and name != call.name else call

    def _same_call(self, call_id: str, index: int | None, name: str | None) -> _OpenCall | None:
        known = self._by_id.get(call_id)
        if known is not None:
            reused = name is not None and index not in {None, known.index}
            return None if reused and known.complete() else known
        call = self._by_index.get(index) if index is not None else None
        if call is None or name is not None:
            return None
        if call.id is None:
            call.id = call_id
            self._by_id[call_id] = call
            return call
        if call.complete():
            return None
        # an opening delta bears a name, so a nameless one with another id is a piece
        self._notes.append(oddities.STREAM_CALL_IDS)
        return call
