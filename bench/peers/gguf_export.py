"""Writes a GGUF file, as llama.cpp reads it, from a Hugging Face directory.

    python gguf_export.py MODEL_DIR OUT.gguf [--dtype f32|f16|bf16|q8_0]

Qwen3.5 (dense), Qwen3 (language or embedding model) and BERT. Needs the PyPI package gguf; names,
keys and quantization are those of that package. Matrices get the dtype; vectors and convolutions
stay in float32. A multi-token prediction head and a vision tower are left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
from gguf_tokenizer import add_tokenizer
from hf_weights import HfWeights

DTYPES = {
    "f32": (gguf.GGMLQuantizationType.F32, gguf.LlamaFileType.ALL_F32),
    "f16": (gguf.GGMLQuantizationType.F16, gguf.LlamaFileType.MOSTLY_F16),
    "bf16": (gguf.GGMLQuantizationType.BF16, gguf.LlamaFileType.MOSTLY_BF16),
    "q8_0": (gguf.GGMLQuantizationType.Q8_0, gguf.LlamaFileType.MOSTLY_Q8_0),
}
POOLING = {"cls": gguf.PoolingType.CLS, "cls_token": gguf.PoolingType.CLS,
           "mean": gguf.PoolingType.MEAN, "mean_tokens": gguf.PoolingType.MEAN,
           "lasttoken": gguf.PoolingType.LAST}
PREFIXES = ("model.language_model.", "model.", "bert.")


class Bert:
    """An encoder with learned positions; llama.cpp has the tanh form of GELU only."""

    arch = gguf.MODEL_ARCH.BERT
    root = ""
    skipped = ("pooler.", "embeddings.position_ids", "cls.")

    def __init__(self, config: dict) -> None:
        self.config = config

    def add_keys(self, writer: gguf.GGUFWriter) -> None:
        config = self.config
        writer.add_context_length(config["max_position_embeddings"])
        writer.add_embedding_length(config["hidden_size"])
        writer.add_block_count(config["num_hidden_layers"])
        writer.add_feed_forward_length(config["intermediate_size"])
        writer.add_head_count(config["num_attention_heads"])
        self.add_family_keys(writer)

    def add_family_keys(self, writer: gguf.GGUFWriter) -> None:
        writer.add_layer_norm_eps(self.config["layer_norm_eps"])
        writer.add_causal_attention(False)
        writer.add_token_type_count(self.config["type_vocab_size"])

    def convert(self, name: str, value: np.ndarray) -> tuple[str, np.ndarray]:
        """The name that gguf's table of names knows, and the values that llama.cpp expects."""
        return name, value


class Qwen3(Bert):
    arch = gguf.MODEL_ARCH.QWEN3
    root = "model."
    skipped = ("visual.", "mtp.")

    def rope(self) -> dict:
        """Either layout of the rotary settings; only the plain kind is written."""
        config = self.config
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        if rope.get("rope_type", rope.get("type", "default")) != "default":
            raise SystemExit(f"config.json: rope scaling {rope} is not written here")
        return {**config, **rope}

    def add_family_keys(self, writer: gguf.GGUFWriter) -> None:
        config = self.config
        writer.add_head_count_kv(config["num_key_value_heads"])
        writer.add_key_length(config["head_dim"])
        writer.add_value_length(config["head_dim"])
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
        writer.add_rope_freq_base(self.rope()["rope_theta"])


class Qwen35(Qwen3):
    """Gated DeltaNet layers between full attention; norms hold their difference from one."""

    arch = gguf.MODEL_ARCH.QWEN35

    def __init__(self, config: dict) -> None:
        super().__init__(config)
        self.key_heads = config["linear_num_key_heads"]
        self.value_heads = config["linear_num_value_heads"]
        self.head_dim = config["linear_value_head_dim"]
        self.key_dim = self.key_heads * config["linear_key_head_dim"]
        if config["linear_key_head_dim"] != self.head_dim:
            raise SystemExit("config.json: llama.cpp wants key and value heads of one width")
        self.interval = config.get("full_attention_interval", 4)
        kinds = ["linear_attention" if (layer + 1) % self.interval else "full_attention"
                 for layer in range(config["num_hidden_layers"])]
        if config.get("layer_types", kinds) != kinds:
            raise SystemExit("config.json: layer_types other than every n-th are not written here")

    def add_family_keys(self, writer: gguf.GGUFWriter) -> None:
        super().add_family_keys(writer)
        rope = self.rope()
        writer.add_rope_dimension_count(int(rope["head_dim"] * rope["partial_rotary_factor"]))
        sections = rope["mrope_section"]
        writer.add_rope_dimension_sections([*sections, *[0] * (4 - len(sections))])
        writer.add_full_attention_interval(self.interval)
        writer.add_ssm_conv_kernel(self.config["linear_conv_kernel_dim"])
        writer.add_ssm_inner_size(self.value_heads * self.head_dim)
        writer.add_ssm_state_size(self.head_dim)
        writer.add_ssm_time_step_rank(self.value_heads)
        writer.add_ssm_group_count(self.key_heads)

    def regroup(self, value: np.ndarray, width: int) -> np.ndarray:
        """Value heads, of `width` rows each, in llama.cpp's order.

        Here the value heads of one key head are neighbours; there value head h belongs to key
        head h % key_heads.
        """
        shape = (self.key_heads, self.value_heads // self.key_heads, width, *value.shape[1:])
        return value.reshape(shape).swapaxes(0, 1).reshape(value.shape)

    def regroup_qkv(self, value: np.ndarray) -> np.ndarray:
        split = 2 * self.key_dim
        return np.concatenate([value[:split], self.regroup(value[split:], self.head_dim)])

    def convert(self, name: str, value: np.ndarray) -> tuple[str, np.ndarray]:
        layer, _, leaf = name.partition(".linear_attn.")
        if not leaf:
            return name, 1 + value if "norm" in name else value
        if leaf == "A_log":
            value = -np.exp(self.regroup(value, 1))
        elif leaf == "dt_bias":
            value, leaf = self.regroup(value, 1), "dt_proj.bias"
        elif leaf in ("in_proj_a.weight", "in_proj_b.weight"):
            value = self.regroup(value, 1)
        elif leaf == "in_proj_z.weight":
            value = self.regroup(value, self.head_dim)
        elif leaf == "in_proj_qkv.weight":
            value = self.regroup_qkv(value)
        elif leaf == "conv1d.weight":
            value = self.regroup_qkv(value[:, 0])
        elif leaf == "out_proj.weight":
            value = self.regroup(value.T, self.head_dim).T
        return f"{layer}.linear_attn.{leaf}", value


FAMILIES = {"bert": Bert, "qwen3": Qwen3, "qwen3_5": Qwen35, "qwen3_5_text": Qwen35}


def pooling(directory: Path) -> gguf.PoolingType | None:
    file = directory / "1_Pooling" / "config.json"
    if not file.exists():
        return None
    config = json.loads(file.read_text())
    modes = [config["pooling_mode"]] if "pooling_mode" in config else [
        key.removeprefix("pooling_mode_") for key, value in config.items()
        if key.startswith("pooling_mode_") and value]
    if len(modes) != 1 or modes[0] not in POOLING:
        raise SystemExit(f"{file}: pooling {modes} is not written here")
    return POOLING[modes[0]]


def bare(name: str) -> str:
    """The name of a tensor without the prefix that differs between releases."""
    return next((name.removeprefix(prefix) for prefix in PREFIXES if name.startswith(prefix)), name)


def add_tensors(writer: gguf.GGUFWriter, family: Bert, weights: HfWeights,
                dtype: gguf.GGMLQuantizationType) -> None:
    names = gguf.get_tensor_name_map(family.arch, family.config["num_hidden_layers"])
    tied = family.config.get("tie_word_embeddings", False)
    for name in weights:
        leaf = bare(name)
        if leaf.startswith(family.skipped) or leaf == "lm_head.weight" and tied:
            continue
        root = "" if leaf.startswith("lm_head.") else family.root
        known, value = family.convert(root + leaf, weights.read(name))
        target = names.get_name(known, try_suffixes=(".weight", ".bias"))
        if target is None:
            raise SystemExit(f"{name}: no name in a GGUF file of {family.arch.name}")
        kept = value.ndim < 2 or "conv1d" in leaf or "position" in leaf or "token_type" in leaf
        kind = gguf.GGMLQuantizationType.F32 if kept else dtype
        stored = gguf.quantize(np.ascontiguousarray(value), kind)
        writer.add_tensor(target, stored, raw_dtype=kind)


def export(directory: Path, output: Path, dtype: str) -> None:
    config = json.loads((directory / "config.json").read_text())
    if config["model_type"] not in FAMILIES:
        raise SystemExit(f"{directory}: model_type {config['model_type']} is not written here")
    text = {"tie_word_embeddings": config.get("tie_word_embeddings", False),
            **config.get("text_config", config)}
    family = FAMILIES[config["model_type"]](text)
    kind, file_type = DTYPES[dtype]
    # Tensors wait in a temporary file: all of them in memory may be too much.
    writer = gguf.GGUFWriter(output, gguf.MODEL_ARCH_NAMES[family.arch], use_temp_file=True)
    writer.add_name(directory.resolve().name)
    writer.add_file_type(file_type)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    family.add_keys(writer)
    if (kind_of_pooling := pooling(directory)) is not None:
        writer.add_pooling_type(kind_of_pooling)
    add_tokenizer(writer, directory, text["vocab_size"])
    add_tensors(writer, family, HfWeights(directory), kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--dtype", choices=DTYPES, default="f16")
    args = parser.parse_args()
    export(args.model_dir, args.output, args.dtype)
    print(json.dumps({"file": str(args.output), "bytes": args.output.stat().st_size}))


if __name__ == "__main__":
    main()
