"""A stub of a replica that answers with the text it was asked, whole or as a stream."""

from __future__ import annotations

import argparse
import asyncio
import json

from aiohttp import web


async def _answer(request: web.Request) -> web.StreamResponse:
    options = request.app[OPTIONS]
    body = await request.json()
    text = body["messages"][-1]["content"]
    if options.delay_ms:
        await asyncio.sleep(options.delay_ms / 1e3)
    if body.get("stream"):
        return await _stream(request, text, drip_s=options.drip_s)
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return web.json_response({"object": "chat.completion", "choices": [choice]})


async def _models(_: web.Request) -> web.Response:
    return web.json_response({"data": [{"id": "m"}]})


async def _stream(request: web.Request, text: str, *, drip_s: float) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(request)
    chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}}]}
    chunk["choices"] = [{"index": 0, "delta": {"content": text}}]
    event = f"data: {json.dumps(chunk)}\n\n".encode()
    await answer.write(event)
    while drip_s:
        await asyncio.sleep(drip_s)
        await answer.write(event)
    await answer.write(b"data: [DONE]\n\n")
    return answer


OPTIONS = web.AppKey("options", argparse.Namespace)


def main() -> None:
    """Serve until killed."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--delay-ms", type=float, default=0)
    options.add_argument("--drip-s", type=float, default=0)
    app = web.Application()
    app[OPTIONS] = options.parse_args()
    app.router.add_post("/v1/chat/completions", _answer)
    app.router.add_get("/{rest:.*}", _models)
    web.run_app(app, host="127.0.0.1", port=app[OPTIONS].port, print=None, access_log=None)


if __name__ == "__main__":
    main()
