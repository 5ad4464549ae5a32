"""A stand-in for a router that takes permits: checks them, and passes a request to its replica."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import aiohttp
from aiohttp import web

from denv.errors import UsageError
from denv.permits import HEADER, REPLICA_HEADER, check
from tests.stubs import StubServer, answers

SECRET = "the-secret-that-permits-are-signed-with-0123456789"


def passing_on(replicas: Mapping[str, StubServer], *, secret: str = SECRET, says: Any = None):
    """Pass each permitted request on to its replica; ``says`` names another one in the answer."""

    def handler(request: Any, n: int):
        async def answer(http: web.BaseRequest, stub: Any) -> web.StreamResponse:
            try:
                permit = check(secret.encode(), http.headers.get(HEADER, ""), now=time.time())
            except UsageError as error:
                return answers.error(403, str(error))
            if permit.replica not in replicas:
                return answers.error(403, "the permit's replica is not in the table")
            named = permit.replica if says is None else says(permit.replica)
            headers = {} if named is None else {REPLICA_HEADER: named}
            url = replicas[permit.replica].url + "/chat/completions"
            body = await http.read()
            async with aiohttp.ClientSession() as session, session.post(url, data=body) as got:
                return web.Response(
                    body=await got.read(),
                    status=got.status,
                    headers=headers,
                    content_type=got.content_type,
                )

        return answer

    return handler
