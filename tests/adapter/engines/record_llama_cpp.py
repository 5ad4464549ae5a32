"""Records what a real llama.cpp server streams; the files beside it in ``data`` come from here.

python -m tests.adapter.engines.record_llama_cpp
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp

from denv.adapter.engines.llama_cpp import request
from denv.adapter.engines.protocol import Sampling
from denv.lab.cache import cache_dir
from denv.lab.model import fetch
from denv.lab.server import ServerConfig, serve

DATA = Path(__file__).parent / "data"
CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
PARIS, EMOJI = CHAT.format("What is the capital of France?"), CHAT.format("Say 🎉🦄")
RECORDED = {
    "llama-paris": (PARIS, {"n_probs": 2}),
    "llama-emoji": (EMOJI + "🎉🦄🎉🦄", {"n_predict": 8}),
    "llama-emoji-probs": (EMOJI + "🎉🦄🎉🦄", {"n_predict": 8, "n_probs": 1}),
    "llama-limit": (PARIS, {"n_predict": 3}),
}


async def record() -> None:
    weights = fetch(cache_dir(), progress=print)
    plain = request((1,), Sampling(40, temperature=0.0), special=(), cache_prompt=False)
    async with serve(ServerConfig(weights=weights)) as server, aiohttp.ClientSession() as session:
        url = server.url.removesuffix("/v1") + "/completion"
        for name, (prompt, fields) in RECORDED.items():
            body = {**plain, "prompt": prompt, **fields}
            async with session.post(url, json=body, headers={"Connection": "close"}) as response:
                (DATA / f"{name}.sse").write_bytes(await response.read())


if __name__ == "__main__":
    asyncio.run(record())
