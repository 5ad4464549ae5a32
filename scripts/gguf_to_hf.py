"""Write the lab's GGUF as a folder in Hugging Face's form, in float32, for engines that want one.

Usage: python scripts/gguf_to_hf.py model.gguf folder

It needs torch, transformers, gguf and accelerate; `serve_vllm.py` runs it where they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def write_tokenizer(gguf: Path, folder: Path) -> None:
    """Convert the tokenizer.

    The converter forgets that this model cuts numbers into single digits: ids would differ.
    """
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    digits = pre_tokenizers.Digits(individual_digits=True)
    words = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
    tokenizer.save_pretrained(folder)


def write_model(gguf: Path, folder: Path) -> None:
    """Convert the weights to float32, with no trace of a quantiser, which would refuse to save."""
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        dtype=torch.float32,
        quantization_config=GgufConfig(dequantize=True),
    )
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config.architectures = [type(model).__name__]
    model.save_pretrained(folder)


def main() -> None:
    """Read the two arguments and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    write_tokenizer(chosen.gguf, chosen.folder)
    write_model(chosen.gguf, chosen.folder)


if __name__ == "__main__":
    main()
