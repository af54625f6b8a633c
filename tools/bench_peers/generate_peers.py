"""Text generation speed of a Qwen3.5 model beside PyTorch on CPU, in one run.

    python generate_peers.py MODEL_DIR --lattice build/release/bin/lattice
                             [--shape 512x32] [--lattice-dtypes f32,q8_0] [--torch-dtypes float32]
                             [--threads 2] [--rounds 3] [--json OUT]

MODEL_DIR is a Qwen3.5 directory, or a random one of its size that tools/golden/qwen3_5_full.py
writes. Every engine feeds a prompt of random ids and then chooses tokens greedily without a stop
token. Engines take turns beside canaries (protocol.py); a table of the time to the first token and
of each further one is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from pathlib import Path

from protocol import Canary, interleave, summarise  # first: it limits OpenBLAS's threads
from lattice_engine import LatticeEngine


class TorchEngine:
    """transformers' model with its cache, one forward pass a token, in this process."""

    def __init__(self, model_dir: Path, dtype: str, shape: tuple[int, int]) -> None:
        import torch
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        self.torch, self.output = torch, shape[1]
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            str(model_dir), local_files_only=True, dtype=getattr(torch, dtype)).eval()
        rng = random.Random(42)
        self.ids = torch.tensor([[rng.randrange(100000) for _ in range(shape[0])]])

    def run(self) -> dict[str, float]:
        with self.torch.inference_mode():
            start = time.perf_counter()
            out = self.model(input_ids=self.ids, use_cache=True, logits_to_keep=1)
            token = out.logits[:, -1:].argmax(-1)
            first = time.perf_counter()
            for _ in range(self.output - 1):
                out = self.model(input_ids=token, past_key_values=out.past_key_values,
                                 use_cache=True, logits_to_keep=1)
                token = out.logits[:, -1:].argmax(-1)
            end = time.perf_counter()
        return {"prompt_s": first - start, "token_s": (end - first) / (self.output - 1)}


class Lattice:
    def __init__(self, engine: LatticeEngine, shape: str) -> None:
        self.engine, self.shape = engine, shape
        self.peak_rss_bytes = 0

    def run(self) -> dict[str, float]:
        value = self.engine.bench_generation(self.shape)
        self.peak_rss_bytes = max(self.peak_rss_bytes, value["peak_rss_bytes"])
        return {"prompt_s": value["prompt_ms"] / 1e3, "token_s": value["token_ms"] / 1e3,
                "read_bytes_per_s": value["read_bytes_per_s"]}


def measure(engines: dict, rounds: int, threads: int) -> tuple[list[dict], dict[str, list[dict]]]:
    """The rounds by the time of a further token, and everything that each engine measured."""
    details: dict[str, list[dict]] = {name: [] for name in engines}

    def leg(name: str):
        def run() -> list[float]:
            details[name].append(engines[name].run())
            return [details[name][-1]["token_s"]]
        return run

    return interleave({name: leg(name) for name in engines}, rounds, Canary(threads)), details


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("--lattice", type=Path, required=True)
    parser.add_argument("--shape", default="512x32")
    parser.add_argument("--lattice-dtypes", default="f32,q8_0")
    parser.add_argument("--torch-dtypes", default="float32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    cpus = set(sorted(os.sched_getaffinity(0))[:args.threads])
    os.sched_setaffinity(0, cpus)
    import torch

    torch.set_num_threads(args.threads)
    prompt, output = (int(part) for part in args.shape.split("x"))
    engines = {f"transformers {dtype}": TorchEngine(args.model_dir, dtype, (prompt, output))
               for dtype in filter(None, args.torch_dtypes.split(","))}
    for dtype in args.lattice_dtypes.split(","):
        engines[f"lattice {dtype}"] = Lattice(
            LatticeEngine(args.lattice, args.model_dir, args.threads, cpus, dtype), args.shape)
    records, details = measure(engines, args.rounds, args.threads)
    base = next(iter(engines))
    summary = summarise(records, base, min(args.rounds, 5))
    print(f"{args.shape}, {args.threads} threads, {args.rounds} rounds"
          f"{', noisy' if summary['noisy'] else ''}")
    print("| engine | first token | prompt tokens/s | a further token | tokens/s | this machine reads |")
    print("|---|---|---|---|---|---|")
    for name, runs in details.items():
        first = median([run["prompt_s"] for run in runs])
        token = median([run["token_s"] for run in runs])
        reads = [run["read_bytes_per_s"] for run in runs if "read_bytes_per_s" in run]
        share = f"{median(reads) / 1e9:.1f} GB/s" if reads else ""
        print(f"| {name} | {first:.2f} s | {prompt / first:.1f} | {token * 1e3:.1f} ms "
              f"| {1 / token:.1f} | {share} |")
    if args.json:
        args.json.write_text(json.dumps(
            {"summary": summary, "details": details, "records": records}, indent=1))


if __name__ == "__main__":
    main()
