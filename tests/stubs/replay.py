"""A server that replays what real engines were recorded to answer, and nothing else.

    async with ReplayServer(FOLDER / "vllm-float32.jsonl.xz") as vllm:
        ...  # vllm.url ends in /v1; vllm.missed lists the requests that were never recorded

A file holds an exchange a line: ``method``, ``path``, ``body``, ``status``, ``answer``. A request
is answered by the exchange with the same method, path and body, compared so:

* ``IGNORED`` keys count for nothing: they do not change what is read of a greedy answer. For
  paths of ``PROMPT_ALONE`` this holds for all sampling settings too.
* A key with its default value (``DEFAULTS``), null or false is as good as left out, and
  ``max_completion_tokens`` is ``max_tokens``. A temperature left out counts as 0.
* Of ``logit_bias`` only the tokens that it pushes count, not how hard nor in which form.
* Where a flag of ``SHOWN`` was on in the recording and is off in the request, the fields that it
  shows are blanked as the engine itself leaves them. With ``echo`` the flags change more than
  that, so there it must be recorded as asked.

Every other key must be equal. What is not recorded is 404 with the keys in which the nearest
recorded request differs.
"""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from tests.stubs.stub import Seen

SAMPLING = frozenset({"min_p", "seed", "top_k", "top_p"})
IGNORED = SAMPLING | {"cache_prompt", "id_slot", "model", "user"}
PROMPT_ALONE = frozenset({"/apply-template", "/tokenize", "/v1/chat/completions/render"})
LENGTHS = frozenset({"logprobs", "max_tokens", "stop", "stream", "temperature", "top_logprobs"})
DEFAULTS: Mapping[str, Any] = {
    "add_generation_prompt": True,
    "add_special_tokens": True,
    "n": 1,
    "parse_special": True,
    "post_sampling_probs": False,
    "temperature": 0,
}
SHOWN: Mapping[str, Mapping[str, Any]] = {
    "return_token_ids": {"token_ids": None, "prompt_token_ids": None},
    "return_prompt_text": {"prompt_text": None},
    "return_token_strs": {"token_strs": None},
    "return_tokens": {"tokens": []},
}

HARD = 50
"""A bias from which on the token is sure to be chosen."""

MAX_BODY_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Recorded:
    """One exchange, with what its request is known by."""

    path: str
    asked: Mapping[str, Any] | None
    status: int
    answer: bytes


Known = Mapping[str, Recorded]


class ReplayServer:
    """Serves the exchanges of one or more files on loopback."""

    def __init__(self, *files: Path, port: int = 0) -> None:
        self._known: dict[str, Recorded] = {}
        for file in files:
            self._known |= load(file)
        self._port = port
        self.seen: list[Seen] = []
        self.missed: list[str] = []

    @property
    def url(self) -> str:
        """The base URL, which ends in /v1."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        application = web.Application(client_max_size=MAX_BODY_BYTES)
        application.router.add_route("*", "/{path:.*}", self._dispatch)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _dispatch(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.seen.append(Seen(request.method, request.path_qs, dict(request.headers), body))
        try:
            asked = significant(request.path, json.loads(body)) if body else None
        except ValueError:
            return self._miss("the body is no JSON object")
        for found, blanked in _candidates(request.method, request.path, asked, known=self._known):
            answer = _blanked(found.answer, blanked) if blanked else found.answer
            return web.Response(body=answer, status=found.status, content_type="application/json")
        return self._miss(self._nearest(request.method, request.path, asked))

    def _miss(self, why: str) -> web.Response:
        self.missed.append(why)
        error = {"message": f"not recorded: {why}", "type": "NotRecorded", "param": None}
        return web.json_response({"error": {**error, "code": 404}}, status=404)

    def _nearest(self, method: str, path: str, asked: Mapping[str, Any] | None) -> str:
        others = [one.asked or {} for one in self._known.values() if one.path == path]
        differences = sorted((_differing(asked or {}, other) for other in others), key=len)
        if not differences:
            return f"{method} {path}"
        return f"{method} {path}; the nearest recorded one differs in {', '.join(differences[0])}"


@cache
def load(file: Path) -> Known:
    """Read a file of exchanges, packed or not; two answers to one request are an error."""
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(file.suffix, bytes)
    known: dict[str, Recorded] = {}
    for line in unpack(file.read_bytes()).decode().split("\n"):
        if not line:
            continue
        row = json.loads(line)
        asked = None if row["body"] is None else significant(row["path"], row["body"])
        key = _key(row["method"], row["path"], asked)
        answer = b"" if row["answer"] is None else json.dumps(row["answer"]).encode()
        if key in known:
            raise ValueError(f"{file.name}: recorded twice: {key[:200]}")
        known[key] = Recorded(row["path"], asked, row["status"], answer)
    return known


def significant(path: str, body: Any) -> dict[str, Any]:
    """Give the part of a request's body that decides its answer."""
    if not isinstance(body, dict):
        raise ValueError("not an object")  # noqa: TRY004 - as json says of what is no JSON
    fields = dict(body)
    if "max_completion_tokens" in fields:
        fields["max_tokens"] = fields.pop("max_completion_tokens")
    if "logit_bias" in fields:
        fields["logit_bias"] = _pushed(fields["logit_bias"])
    ignored = IGNORED | LENGTHS if path in PROMPT_ALONE else IGNORED
    return {
        name: value
        for name, value in fields.items()
        if name not in ignored and not _is_default(name, value)
    }


def _pushed(bias: Any) -> Any:
    """Give the ids that a bias pushes, sorted; a bias that also bars tokens stays as it is."""
    pairs = list(bias.items() if isinstance(bias, dict) else bias or ())
    hard = all(len(pair) == 2 and pair[1] is not False and pair[1] >= HARD for pair in pairs)
    return (sorted(int(token) for token, _ in pairs) or None) if hard else bias


def _is_default(name: str, value: Any) -> bool:
    if name in DEFAULTS:
        return value is None or value == DEFAULTS[name]
    return value is None or value is False


def _key(method: str, path: str, asked: Mapping[str, Any] | None) -> str:
    return f"{method} {path} {json.dumps(asked, sort_keys=True)}"


def _candidates(
    method: str, path: str, asked: Mapping[str, Any] | None, *, known: Known
) -> Iterator[tuple[Recorded, dict[str, Any]]]:
    """Give the exchanges that answer a request, the exact one first, and what to blank in each."""
    missing = [] if asked is None or "echo" in asked else [one for one in SHOWN if one not in asked]
    for count in range(len(missing) + 1):
        for flags in combinations(missing, count):
            wider = asked if asked is None else {**asked, **dict.fromkeys(flags, True)}
            found = known.get(_key(method, path, wider))
            if found is not None:
                yield found, {name: blank for flag in flags for name, blank in SHOWN[flag].items()}


def _blanked(answer: bytes, fields: Mapping[str, Any]) -> bytes:
    """Blank fields of an answer and of its choices, where they are."""
    document = json.loads(answer)
    for place in (document, *document.get("choices", ())):
        place.update({name: blank for name, blank in fields.items() if name in place})
    return json.dumps(document).encode()


def _differing(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in {*left, *right} if left.get(name) != right.get(name))
