"""Requantising changes the matrices and nothing else."""

import numpy as np
import pytest

from denv.errors import HarnessError, UsageError
from denv.lab.weights import requantise

gguf = pytest.importorskip("gguf")

SHAPE = (8, 64)
MATRIX = np.random.default_rng(7).normal(size=SHAPE).astype(np.float32)
NORM = np.linspace(0.5, 1.5, 64, dtype=np.float32)
BLOCK_BYTES = {"q8_0": 34, "q5_0": 22, "q4_0": 18, "f16": 64}
"""Bytes of a block of 32 values: a half-precision scale, fifth bits where there are, values."""


@pytest.fixture
def source(tmp_path):
    """Write a small file with one matrix, one vector and metadata of several types."""
    path = tmp_path / "small.gguf"
    writer = gguf.GGUFWriter(path, arch="llama")
    writer.add_uint32("llama.block_count", 1)
    writer.add_float32("llama.rope.freq_base", 100000.0)
    writer.add_bool("tokenizer.ggml.add_bos_token", False)
    writer.add_array("tokenizer.ggml.tokens", ["a", "é", "<|im_end|>"])
    writer.add_array("tokenizer.ggml.token_type", [1, 1, 3])
    writer.add_file_type(0)
    writer.add_tensor("blk.0.ffn_up.weight", MATRIX)
    writer.add_tensor("blk.0.ffn_norm.weight", NORM)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def metadata(path, *, without=("general.file_type",)):
    fields = gguf.GGUFReader(path).fields.values()
    kept = [f for f in fields if not f.name.startswith("GGUF.") and f.name not in without]
    return {field.name: (field.types, field.contents()) for field in kept}


@pytest.mark.parametrize(("type_name", "block"), BLOCK_BYTES.items())
def test_matrices_take_the_new_type_and_size(source, tmp_path, type_name, block):
    """A matrix takes its type's bytes a block of 32; a vector keeps type and values."""
    tensors = {t.name: t for t in gguf.GGUFReader(requantise(source, type_name, tmp_path)).tensors}
    matrix, norm = tensors["blk.0.ffn_up.weight"], tensors["blk.0.ffn_norm.weight"]
    assert matrix.tensor_type.name.lower() == type_name
    assert matrix.n_bytes == 8 * 64 // 32 * block
    assert norm.tensor_type.name == "F32"
    assert np.array_equal(norm.data, NORM)


def test_metadata_is_kept(source, tmp_path):
    """Every key keeps its type and value, but the one that names the file's type."""
    made = requantise(source, "q8_0", tmp_path)
    assert metadata(made) == metadata(source)
    file_type = gguf.GGUFReader(made).get_field("general.file_type").contents()
    assert file_type == 7  # llama.cpp's number of MOSTLY_Q8_0


@pytest.mark.parametrize(("type_name", "levels"), [("q8_0", 127), ("q5_0", 16), ("q4_0", 8)])
def test_values_are_within_one_step_of_the_source(source, tmp_path, type_name, levels):
    """Rounding moves a value by at most one step of its block: largest magnitude / levels."""
    made = gguf.GGUFReader(requantise(source, type_name, tmp_path)).tensors[0]
    values = gguf.quants.dequantize(made.data, made.tensor_type).reshape(-1, 32)
    original = MATRIX.reshape(-1, 32)
    step = np.abs(original).max(axis=1, keepdims=True) / levels
    assert (np.abs(values - original) <= step * 1.01).all()  # the scale is a half-precision number


def test_same_source_and_type_are_made_once(source, tmp_path):
    """The second request gives the first one's file, untouched."""
    first = requantise(source, "q4_0", tmp_path)
    made = first.stat().st_mtime_ns
    assert requantise(source, "q4_0", tmp_path) == first
    assert first.stat().st_mtime_ns == made


def test_other_source_is_another_file(source, tmp_path):
    """The name follows the bytes: a changed source is never answered from the cache."""
    before = requantise(source, "q4_0", tmp_path)
    data = bytearray(source.read_bytes())
    data[-1] ^= 1
    source.write_bytes(data)
    assert requantise(source, "q4_0", tmp_path) != before


def test_unknown_type_lists_the_known(source, tmp_path):
    """A type that cannot be written is a usage error that lists the others."""
    with pytest.raises(UsageError, match=r"q2_k.*q8_0"):
        requantise(source, "q2_k", tmp_path)


def test_what_is_not_gguf_is_refused(tmp_path):
    """A file of another kind is an error that names it, and leaves nothing behind."""
    path = tmp_path / "notes.gguf"
    path.write_bytes(b"not a model at all" * 100)
    with pytest.raises(HarnessError, match=r"notes\.gguf: not a GGUF file"):
        requantise(path, "q4_0", tmp_path / "cache")
    assert [file.suffix for file in (tmp_path / "cache").iterdir()] == [".lock"]


def test_matrix_that_does_not_fit_the_blocks_is_refused(tmp_path):
    """Rows that are no multiple of 32 values have no block form: an error that names the file."""
    path = tmp_path / "odd.gguf"
    writer = gguf.GGUFWriter(path, arch="llama")
    writer.add_tensor("odd.weight", np.ones((4, 20), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(HarnessError, match=r"odd\.gguf: cannot be written as q4_0"):
        requantise(path, "q4_0", tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*.gguf"))


def test_missing_source_is_named(tmp_path):
    """A source that is not there is a usage error."""
    with pytest.raises(UsageError, match="no such weights file"):
        requantise(tmp_path / "absent.gguf", "q4_0", tmp_path)


@pytest.mark.slow
@pytest.mark.lab
def test_real_model_keeps_its_header(weights, coarse_weights):
    """The real model's tokenizer, template and sizes survive, and the file shrinks."""
    assert metadata(coarse_weights) == metadata(weights)
    assert coarse_weights.stat().st_size < weights.stat().st_size
