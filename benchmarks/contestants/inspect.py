"""inspect_ai on the same cases: one request a case, scored by ``includes``."""

from __future__ import annotations

import json
import sys
import tempfile
import time

from inspect_ai import Task, eval  # noqa: A004 - the library's own name
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


def run(url: str, path: str, concurrency: int) -> float:
    """Evaluate the suite; give the seconds."""
    started = time.perf_counter()
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        samples = [
            Sample(id=case["id"], input=case["messages"][0]["content"], target="391")
            for case in map(json.loads, file)
        ]
    config = GenerateConfig(temperature=0, seed=0, max_tokens=4096, max_connections=concurrency)
    model = get_model("openai/stub", base_url=url, config=config, responses_api=False)
    with tempfile.TemporaryDirectory() as logs:
        log = eval(
            Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes()),
            model=model,
            log_dir=logs,
            display="none",
            max_samples=concurrency,
            log_samples=True,
        )[0]
    assert log.status == "success", log.error
    return time.perf_counter() - started


if __name__ == "__main__":
    print(run(sys.argv[1], sys.argv[2], int(sys.argv[3])))
