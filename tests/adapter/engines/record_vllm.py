"""Records what a real vLLM streams; the files beside it in ``data`` come from here.

python scripts/serve_vllm.py --dtype float32 --port 8393 --cache DIR &
python -m tests.adapter.engines.record_vllm http://127.0.0.1:8393
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import aiohttp

from denv.adapter.engines.completions import request
from denv.adapter.engines.protocol import Prompt, Sampling
from tests.adapter.engines.record_llama_cpp import DATA, EMOJI, PARIS

RECORDED = {
    "vllm-paris": (PARIS, Sampling(40, temperature=0.0, logprobs=2)),
    "vllm-emoji": (EMOJI + "🎉🦄🎉🦄", Sampling(8, temperature=0.0)),
    "vllm-emoji-probs": (EMOJI + "🎉🦄🎉🦄", Sampling(8, temperature=0.0, logprobs=0)),
}


async def record(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/v1/models") as response:
            models = await response.json()
        name = models["data"][0]["id"]
        for entry in models["data"]:
            entry["root"] = name  # a path of the machine
        Path(DATA / "vllm-models.json").write_text(json.dumps(models, indent=1) + "\n", "utf-8")
        for file, (prompt, sampling) in RECORDED.items():
            body = request(name, Prompt(prompt), sampling)
            async with session.post(f"{url}/v1/completions", json=body) as response:
                (DATA / f"{file}.sse").write_bytes(await response.read())


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1]))
