"""The process that holds one llama.cpp server; ``denv.lab.server`` starts it.

It reads one line of JSON from standard input, answers one line on standard output
(``{"url": ...}``), and serves until it is terminated, or until standard input ends: the pipe
closes with the parent, however that ends, so no server is left behind.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from denv.lab.extra import load_extra


def parameters(engine: Any, config: dict[str, Any]) -> Any:
    """Translate the line of JSON to llama.cpp's parameters."""
    weights = Path(config["weights"])
    os.chdir(weights.parent)  # the engine shows the path that it was given
    p = engine.CommonParams()
    p.model.path = weights.name
    p.model_alias = [config["alias"]]
    p.n_ctx, p.n_parallel = config["n_ctx"], config["n_parallel"]
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = config["n_threads"]
    p.hostnames, p.port = [config["host"]], config["port"]
    p.endpoint_props, p.cache_ram_mib, p.ui = True, 0, False
    p.cache_type_k = engine.ggml_type[f"GGML_TYPE_{config['cache_type_k'].upper()}"]
    p.cache_type_v = engine.ggml_type[f"GGML_TYPE_{config['cache_type_v'].upper()}"]
    if config["chat_template"] is not None:
        p.chat_template = config["chat_template"]
    p.use_jinja, p.cache_prompt = True, config["cache_prompt"]
    return p


def end_with_parent() -> None:
    """End this process at once when standard input does."""
    while os.read(0, 4096):
        pass
    os._exit(0)


def main() -> None:
    """Serve until terminated."""
    answer = os.dup(1)
    os.dup2(2, 1)  # what the engine prints belongs to the log
    config = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=end_with_parent, daemon=True).start()
    engine = load_extra("xllamacpp")
    try:
        server = engine.Server(parameters(engine, config))
    except RuntimeError as error:
        sys.exit(f"the engine did not start: {error}")
    os.write(answer, json.dumps({"url": server.listening_address}).encode() + b"\n")
    os.close(answer)
    threading.Event().wait()


if __name__ == "__main__":
    main()
