"""Real servers start, answer, hide their paths, and never outlive their parent."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from denv.errors import HarnessError, UsageError
from denv.lab.server import ServerConfig, serve, serve_forever, serve_many
from denv.lab.templates import template
from tests.lab_servers import chat, get, post

PARENT = """
import asyncio, sys
from pathlib import Path
from urllib.parse import urlsplit
from denv.lab.server import ServerConfig, serve

async def main():
    async with serve(ServerConfig(weights=Path(sys.argv[1]))) as server:
        print(server.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def alive(pid):
    """Say whether a process runs (a zombie, which only waits for its parent, does not)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def gone(pid, within_s=10.0):
    """Wait until a process has ended."""
    end = time.monotonic() + within_s
    while alive(pid) and time.monotonic() < end:
        await asyncio.sleep(0.05)
    return not alive(pid)


async def test_missing_weights_are_named(tmp_path):
    """A path without a file is a usage error, before any process is started."""
    with pytest.raises(UsageError, match=r"absent\.gguf: no such weights file"):
        async with serve(ServerConfig(weights=tmp_path / "absent.gguf")):
            pass


@pytest.mark.parametrize("change", [{"cache_type_k": "q3_x"}, {"n_parallel": 0}])
async def test_options_out_of_range(tmp_path, change):
    """An option that the engine does not have is a usage error that names it."""
    path = tmp_path / "model.gguf"
    path.touch()
    with pytest.raises(UsageError, match=next(iter(change))):
        async with serve(ServerConfig(weights=path, **change)):
            pass


@pytest.mark.lab
async def test_start_that_fails_shows_the_log(tmp_path):
    """Weights that the engine cannot load are an error that ends with what its log says."""
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(200))
    with pytest.raises(HarnessError, match=r"did not start: .*did not start"):
        async with serve(ServerConfig(weights=path, log_dir=tmp_path / "log")):
            pass
    assert [file.suffix for file in (tmp_path / "log").iterdir()] == [".log"]


@pytest.mark.lab
async def test_port_in_use_is_an_error(weights, lab_server):
    """A port that another server holds is an error that says the server did not start."""
    port = urlsplit(lab_server.url).port
    assert port is not None
    with pytest.raises(HarnessError, match="did not start"):
        async with serve(ServerConfig(weights=weights, n_ctx=512, n_parallel=1, port=port)):
            pass


@pytest.mark.lab
async def test_start_that_takes_too_long_is_ended(weights):
    """A server that is not up in time is an error, and its process is gone."""
    with pytest.raises(HarnessError, match=r"within 0\.01 s"):
        async with serve(ServerConfig(weights=weights, start_timeout_s=0.01)):
            pass


@pytest.mark.lab
async def test_server_ends_with_its_block(weights, capfd):
    """The server runs in a session of its own, prints nothing, and is gone after the block."""
    async with serve_many([ServerConfig(weights=weights, n_ctx=512, n_parallel=1)] * 2) as pair:
        assert all(os.getsid(server.pid) == server.pid for server in pair)
        assert pair[0].url != pair[1].url
        logs = [server.log for server in pair]
    assert not any(alive(server.pid) for server in pair)
    assert not any(log.exists() for log in logs)
    assert capfd.readouterr() == ("", "")


@pytest.mark.lab
async def test_server_does_not_outlive_a_killed_parent(weights):
    """Where the parent is killed outright its server ends by itself."""
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT, str(weights)), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    assert alive(pid)
    parent.send_signal(signal.SIGKILL)
    await parent.wait()
    assert await gone(pid)


@pytest.mark.lab
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_serving_ends_at_a_signal(weights, number):
    """``serve_forever`` tells the address, and returns when it is interrupted."""
    served = []

    def ready(server):
        served.append(server)
        os.kill(os.getpid(), number)

    await serve_forever(ServerConfig(weights=weights, n_ctx=512, n_parallel=1), ready)
    assert len(served) == 1
    assert not alive(served[0].pid)


@pytest.mark.lab
async def test_server_that_dies_ends_the_serving(weights):
    """A server that ends by itself is an error, never a quiet return."""
    with pytest.raises(HarnessError, match="ended by itself"):
        await serve_forever(
            ServerConfig(weights=weights, n_ctx=512, n_parallel=1),
            lambda server: os.kill(server.pid, signal.SIGKILL),
        )


@pytest.mark.lab
async def test_alias_is_the_only_name(lab_server, weights):
    """No answer shows where the weights lie."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    status, completion = await post(f"{lab_server.url}/chat/completions", body)
    assert status == 200
    assert completion["model"] == lab_server.model == "smollm2"
    root = lab_server.url.removesuffix("/v1")
    pages = [f"{lab_server.url}/models", f"{root}/props", f"{root}/slots"]
    shown = str(completion) + "".join([await get(page) for page in pages])
    assert str(weights.parent) not in shown


@pytest.mark.lab
async def test_same_request_has_the_same_answer_beside_others(lab_server):
    """Text and logprobs are bit-identical alone, again, and beside other requests."""
    ask = {"logprobs": True, "top_logprobs": 3, "max_tokens": 12}
    alone = await chat(lab_server.url, "Why is the sky blue?", **ask)
    answers = await asyncio.gather(
        chat(lab_server.url, "Why is the sky blue?", **ask),
        chat(lab_server.url, "Why is the sea blue?", **ask),
        chat(lab_server.url, "Describe a cat.", **ask),
    )
    assert answers[0] == alone


@pytest.mark.lab
async def test_cache_types_reach_the_engine(weights, lab_server):
    """A coarser key and value cache gives other logprobs for the same weights."""
    coarse = ServerConfig(
        weights=weights, chat_template=template("tools"), cache_type_k="q4_0", cache_type_v="q4_0"
    )
    ask = {"logprobs": True, "top_logprobs": 1, "max_tokens": 8}
    async with serve(coarse) as server:
        got = await chat(server.url, "What is gravity?", **ask)
    assert got["logprobs"] != (await chat(lab_server.url, "What is gravity?", **ask))["logprobs"]
