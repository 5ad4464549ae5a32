"""Coarser weights of the same model: what a careless deployment would serve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from denv.errors import HarnessError, UsageError
from denv.lab.cache import locked, sha256_of, written_whole
from denv.lab.extra import load_extra

FORMAT = "1"
"""Changes whenever the same source and type would give other bytes."""

FILE_TYPES = {
    "f32": "ALL_F32",
    "f16": "MOSTLY_F16",
    "bf16": "MOSTLY_BF16",
    "q8_0": "MOSTLY_Q8_0",
    "q5_1": "MOSTLY_Q5_1",
    "q5_0": "MOSTLY_Q5_0",
    "q4_1": "MOSTLY_Q4_1",
    "q4_0": "MOSTLY_Q4_0",
}
"""Types that can be written, with llama.cpp's name for a file of them."""


def requantise(source: Path, type: str, cache: Path) -> Path:  # noqa: A002 - the field's word
    """Write ``source`` with its matrices as ``type`` into ``cache``, and give the file's path.

    Metadata, and tensors of one dimension, stay as they are. A file that was made before
    from the same bytes is taken again.

    Raises
    ------
    UsageError
        ``type`` is not one of ``FILE_TYPES``, or there is no file ``source``.
    HarnessError
        ``source`` is not a GGUF file, or the cache cannot be written.
    """
    if type not in FILE_TYPES:
        raise UsageError(f"unknown weight type {type!r}; known are {', '.join(FILE_TYPES)}")
    if not source.is_file():
        raise UsageError(f"{source}: no such weights file")
    digest = sha256_of(source)
    target = cache / f"{source.stem}-{digest[:16]}-{type}-v{FORMAT}.gguf"
    with locked(target):
        if not target.is_file():
            with written_whole(target) as part:
                _write(source, part, type)
    return target


def _write(source: Path, target: Path, type_name: str) -> None:
    gguf = load_extra("gguf")
    try:
        reader = gguf.GGUFReader(source)
    except (ValueError, IndexError) as error:
        raise HarnessError(f"{source}: not a GGUF file ({error})") from error
    architecture = reader.get_field("general.architecture").contents()
    writer = gguf.GGUFWriter(target, arch=architecture)
    try:
        _copy_metadata(gguf, reader, writer=writer, type_name=type_name)
        for tensor in reader.tensors:
            _add_tensor(gguf, tensor, writer=writer, type_name=type_name)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    except (gguf.quants.QuantError, NotImplementedError) as error:
        raise HarnessError(f"{source}: cannot be written as {type_name} ({error})") from error
    finally:
        writer.close()


def _copy_metadata(gguf: Any, reader: Any, *, writer: Any, type_name: str) -> None:
    own = {"general.architecture", "general.file_type"}  # the writer's, and ours below
    for field in reader.fields.values():
        if field.name in own or field.name.startswith("GGUF."):
            continue
        sub_type = field.types[1] if len(field.types) > 1 else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type)
    writer.add_file_type(int(gguf.LlamaFileType[FILE_TYPES[type_name]]))


def _add_tensor(gguf: Any, tensor: Any, *, writer: Any, type_name: str) -> None:
    wanted = gguf.GGMLQuantizationType[type_name.upper()]
    if tensor.data.ndim < 2 or tensor.tensor_type == wanted:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        return
    values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    writer.add_tensor(tensor.name, gguf.quants.quantize(values, wanted), raw_dtype=wanted)
