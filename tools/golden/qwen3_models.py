"""Builds Qwen3-Embedding directories of tiny random models, with the files that real ones have.

Weights are drawn by seed and scaled so that a fault shows in the output: linear weights by
1/sqrt(fan_in), biases +-0.15, norm weights 1 +- 0.3, embeddings as the spec says.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import transformers

import tiny_tokenizers
from common import write_if_changed, write_json
from tiny_models import (NEW, NEW_ST, OLD, OLD_POOLING_KEYS, STORED_TYPES, write_shards)

ABSENT = object()  # as a value in Qwen3Spec.config: config.json has no such key


@dataclasses.dataclass
class Qwen3Spec:
    """One variant: what its files say. See qwen3_variants.py for the list."""

    name: str
    proves: str
    seed: int
    config: dict = dataclasses.field(default_factory=dict)  # over the defaults in base_config
    new_config: bool = False  # config.json in the spelling of transformers 5
    prefix: str = ""  # released embedding files have no "model.", causal ones do
    lm_head: bool = False
    dtype: str = "BF16"
    shards: int = 1
    max_seq_length: int | None = None  # sentence_bert_config.json, which released models lack
    tokenizer_config: dict = dataclasses.field(default_factory=dict)
    st_config: dict = dataclasses.field(default_factory=dict)
    new_class_paths: bool = False
    pooling_file: dict | None = None  # the file as it is, instead of the booleans
    normalize: bool = True
    embedding_scale: float = 0.5
    second_tap: bool = False
    tolerance: float = 1e-5
    same_as: str | None = None
    encodes: list[dict] = dataclasses.field(default_factory=lambda: [{}])


def token_id(token: str) -> int:
    return tiny_tokenizers.token_id(tiny_tokenizers.qwen3(), token)


def base_config(spec: Qwen3Spec) -> dict:
    """config.json with the keys that released models carry."""
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": token_id("<|endoftext|>"),
        "eos_token_id": token_id("<|im_end|>"),
        "head_dim": 16,
        "hidden_act": "silu",
        "hidden_size": 32,
        "initializer_range": 0.02,
        "intermediate_size": 20,
        "max_position_embeddings": 64,
        "max_window_layers": 2,
        "model_type": "qwen3",
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-6,
        "rope_scaling": None,
        "rope_theta": 1000000,
        "sliding_window": None,
        "tie_word_embeddings": True,
        "torch_dtype": {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}[spec.dtype],
        "transformers_version": "4.51.3",
        "use_cache": True,
        "use_sliding_window": False,
        "vocab_size": tiny_tokenizers.vocab_size(tiny_tokenizers.qwen3()),
    }
    if spec.new_config:
        for old in ("rope_scaling", "rope_theta", "torch_dtype"):
            del config[old]
        config.update(
            dtype="bfloat16", layer_types=["full_attention"] * 2, pad_token_id=None,
            rope_parameters={"rope_theta": 1000000, "rope_type": "default"},
            transformers_version="5.0.0")
    config.update(spec.config)
    return {key: config[key] for key in sorted(config) if config[key] is not ABSENT}


def draw(rng: np.random.Generator, name: str, shape: tuple[int, ...], scale: float) -> np.ndarray:
    """One parameter, by the role that its name tells."""
    if "norm" in name:
        return (1.0 + 0.3 * rng.uniform(-1, 1, shape)).astype(np.float32)
    if name.endswith("bias"):
        return (0.15 * rng.uniform(-1, 1, shape)).astype(np.float32)
    if name == "embed_tokens.weight":
        return (scale * rng.standard_normal(shape)).astype(np.float32)
    return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def body_weights(spec: Qwen3Spec) -> dict[str, np.ndarray]:
    """The parameters of Qwen3Model, as stored, by the names that transformers gives them."""
    config = transformers.AutoConfig.for_model(**base_config(spec))
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(config)
    rng = np.random.Generator(np.random.PCG64(spec.seed))
    return {name: draw(rng, name, tuple(value.shape), spec.embedding_scale).astype(
        STORED_TYPES[spec.dtype]) for name, value in model.named_parameters()}


def file_tensors(spec: Qwen3Spec) -> dict[str, np.ndarray]:
    """The tensors by the names in the file."""
    tensors = {spec.prefix + name: value for name, value in body_weights(spec).items()}
    if spec.lm_head:
        shape = tensors[spec.prefix + "embed_tokens.weight"].shape
        rng = np.random.Generator(np.random.PCG64([spec.seed, 1]))
        tensors["lm_head.weight"] = draw(rng, "lm_head.weight", shape, 1.0).astype(
            STORED_TYPES[spec.dtype])
    return tensors


def tokenizer_config(id_of: Callable[[str], int]) -> dict:
    """tokenizer_config.json as Qwen releases it; `id_of` gives the ids of the added tokens."""
    added = {str(id_of(token)): {
        "content": token, "lstrip": False, "normalized": False, "rstrip": False,
        "single_word": False, "special": token in tiny_tokenizers.QWEN3_SPECIALS}
        for token in tiny_tokenizers.QWEN3_SPECIALS + tiny_tokenizers.QWEN3_THINK}
    # As released: eos_token is not the token that the template of tokenizer.json appends.
    return {
        "add_bos_token": False, "add_prefix_space": False, "added_tokens_decoder": added,
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>"], "bos_token": None,
        "clean_up_tokenization_spaces": False, "eos_token": "<|im_end|>", "errors": "replace",
        "model_max_length": 131072, "pad_token": "<|endoftext|>", "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer", "unk_token": None,
    }


def write_tokenizer(spec: Qwen3Spec, directory: Path) -> None:
    config = tokenizer_config(token_id) | spec.tokenizer_config
    write_json(directory / "tokenizer_config.json", config)
    text = json.dumps(json.loads(tiny_tokenizers.qwen3()), separators=(",", ":"))
    write_if_changed(directory / "tokenizer.json", (text + "\n").encode())


def write_modules(spec: Qwen3Spec, directory: Path) -> None:
    packages = (NEW, NEW_ST, NEW) if spec.new_class_paths else (OLD, OLD, OLD)
    names = ("transformer.Transformer", "pooling.Pooling", "normalize.Normalize")
    if not spec.new_class_paths:
        names = tuple(name.split(".")[1] for name in names)
    modules = [{"idx": index, "name": str(index), "path": path, "type": package + name}
               for index, (package, name, path)
               in enumerate(zip(packages, names, ("", "1_Pooling", "2_Normalize")))]
    write_json(directory / "modules.json", modules if spec.normalize else modules[:2])
    dimension = base_config(spec)["hidden_size"]
    pooling = {"word_embedding_dimension": dimension,
               **{key: mode == "lasttoken" for mode, key in OLD_POOLING_KEYS.items()},
               "include_prompt": True}
    if spec.pooling_file is not None:
        pooling = {"embedding_dimension": dimension, **spec.pooling_file}
    write_json(directory / "1_Pooling" / "config.json", pooling)


def build_directory(spec: Qwen3Spec, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    config = base_config(spec)
    write_json(directory / "config.json", config)
    write_json(directory / "generation_config.json", {
        "bos_token_id": token_id("<|endoftext|>"), "eos_token_id": token_id("<|im_end|>"),
        "max_new_tokens": 2048, "transformers_version": config["transformers_version"]})
    write_shards(directory, file_tensors(spec), spec.shards)
    write_tokenizer(spec, directory)
    write_modules(spec, directory)
    if spec.max_seq_length is not None:
        write_json(directory / "sentence_bert_config.json",
                   {"max_seq_length": spec.max_seq_length, "do_lower_case": False})
    write_json(directory / "config_sentence_transformers.json", {
        "__version__": {"sentence_transformers": "3.4.1", "transformers": "4.51.3",
                        "pytorch": "2.6.0"},
        "prompts": {"query": "Instruct: Given a question, find the answer\nQuery:",
                    "document": ""},
        "default_prompt_name": None, "similarity_fn_name": "cosine", **spec.st_config})
