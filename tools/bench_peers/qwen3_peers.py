"""Embedding speed of a Qwen3 decoder beside PyTorch on CPU in float32 and bfloat16, in one run.

    python qwen3_peers.py MODEL_DIR [--lattice build/release/bin/lattice]
                          [--lattice-dtypes f32,bf16] [--shapes 1x32,1x512] [--json OUT]
                          [--markdown OUT]

MODEL_DIR is a Qwen3-Embedding directory, or a random one of its size that
tools/golden/qwen3_full.py writes. Engines take turns (A B C, B C A, ...) beside canaries, on token
ids; see protocol.py. Load time and peak RSS come from fresh processes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path

import protocol  # first: it sets OpenBLAS to one thread before NumPy starts
import numpy as np
from embed_peers import MIN_STEADY_ROUNDS, WARM_UP_SECONDS, Peer, machine
from lattice_engine import LatticeEngine

PEERS = ("sentence-transformers", "sentence-transformers-bf16")
BASE = PEERS[0]
AGREEMENT_TOKENS = (8, 64, 256)


class Setting:
    """What is measured, with so many threads on these CPUs."""

    def __init__(self, args: argparse.Namespace, threads: int, cpus: set[int]) -> None:
        self.args, self.threads, self.cpus = args, threads, cpus

    def peer(self, name: str) -> Peer:
        return Peer(name, self.args.model_dir, self.threads, Path(), self.cpus)

    def lattices(self) -> dict[str, LatticeEngine]:
        if self.args.lattice is None:
            return {}
        return {f"lattice-{dtype}": LatticeEngine(self.args.lattice, self.args.model_dir,
                                                  self.threads, self.cpus, dtype)
                for dtype in self.args.lattice_dtypes.split(",")}


def parse_shape(text: str) -> tuple[int, int]:
    batch, length = text.split("x")
    return int(batch), int(length)


def make_rows(model_dir: Path, batch: int, length: int, seed: int) -> dict:
    """Texts of words that are one token each: exactly `length` ids, the appended one included."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(model_dir / "tokenizer.json"))
    words = sorted(token[1:] for token in tokenizer.get_vocab() if token[0] == "\u0120"
                   and token[1:].isascii() and token[1:].isalpha())
    rng = random.Random(f"{seed} {batch} {length}")
    texts = ["".join(" " + rng.choice(words) for _ in range(length - 1)) for _ in range(batch)]
    ids = [tokenizer.encode(text).ids for text in texts]
    if any(len(row) != length for row in ids):
        raise SystemExit(f"{model_dir}: words of its vocabulary are not one token each")
    return {"texts": texts, "ids": ids}


def speed(setting: Setting, shape: tuple[int, int]) -> dict:
    workload = make_rows(setting.args.model_dir, *shape, setting.args.seed)
    peers = {name: setting.peer(name) for name in PEERS}
    try:
        legs = {}
        for name, peer in peers.items():
            peer.ask("load")
            peer.ask("run", workload=workload, mode="ids", seconds=WARM_UP_SECONDS)
            legs[name] = peer.leg(workload, "ids", setting.args.seconds)
        for name, lattice in setting.lattices().items():
            legs[name] = lattice.leg(*shape, setting.args.seconds)
        records = protocol.interleave(legs, setting.args.rounds, protocol.Canary(setting.threads))
        return {**protocol.summarise(records, BASE, MIN_STEADY_ROUNDS), "records": records}
    finally:
        for peer in peers.values():
            peer.close()


def fresh(setting: Setting, shapes: list[tuple[int, int]]) -> dict:
    """Load time, first vector and peak RSS, each from processes that did nothing else."""
    largest = max(shapes, key=lambda shape: shape[0] * shape[1])
    short, long = (make_rows(setting.args.model_dir, *shape, setting.args.seed)
                   for shape in ((1, 8), largest))
    found: dict[str, list[dict]] = {}
    for _ in range(setting.args.load_rounds):
        for name in PEERS:
            start = time.perf_counter()
            peer = setting.peer(name)
            load_s = peer.ask("load")["load_s"]
            peer.ask("run", workload=short, mode="text", seconds=0)
            cold_s = time.perf_counter() - start
            peer.ask("run", workload=long, mode="ids", seconds=0)
            found.setdefault(name, []).append({
                "load_s": load_s, "cold_first_vector_s": cold_s,
                "peak_rss_bytes": peer.ask("rss")["peak_rss_bytes"]})
            peer.close()
        for name, lattice in setting.lattices().items():
            row = lattice.fresh(short["texts"][0], (1, 8), largest)
            found.setdefault(name, []).append({
                "load_s": row["load_s"], "cold_first_vector_s": row["cold_first_vector_s"],
                "peak_rss_bytes": row["rss_batch_bytes"]})
    return {name: {key: protocol.quartiles([row[key] for row in rows]) for key in rows[0]}
            for name, rows in found.items()}


def agreement(setting: Setting) -> dict:
    """Cosine and greatest difference against PyTorch in float32, one text at a time."""
    texts = [make_rows(setting.args.model_dir, 1, length, setting.args.seed)["texts"][0]
             for length in AGREEMENT_TOKENS]
    vectors = {}
    for name in PEERS:
        peer = setting.peer(name)
        peer.ask("load")
        vectors[name] = np.array(peer.ask("embed", texts=texts)["embeddings"])
        peer.close()
    for name, lattice in setting.lattices().items():
        vectors[name] = np.array(lattice.embed(texts))
    truth, out = vectors.pop(BASE), {}
    for name, rows in vectors.items():
        norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(truth, axis=1)
        out[name] = {"min_cosine": float(((rows * truth).sum(1) / norms).min()),
                     "max_abs_difference": float(np.abs(rows - truth).max())}
    return out


def markdown(result: dict) -> str:
    lines = [f"Model {result['model']} ({result['weights']} weights); "
             f"{result['machine']['cpu']}; {result['rounds']} interleaved rounds; speed is relative "
             f"to {BASE} in float32 (median of per-round ratios, quartiles in brackets).", ""]
    for threads, part in result["threads"].items():
        lines += [f"### {threads} thread{'s' if threads != '1' else ''}", "",
                  "| shape | engine | median | tokens/s | speed | steady rounds |",
                  "|---|---|---|---|---|---|"]
        for shape, measured in part["speed"].items():
            batch, length = parse_shape(shape)
            noisy = " (noisy)" if measured["noisy"] else ""
            for engine, value in measured["engines"].items():
                seconds, ratio = value["seconds"]["median"], value["median_of_ratios"]
                lines.append(
                    f"| {shape} | {engine} | {seconds * 1e3:.0f} ms | "
                    f"{batch * length / seconds:,.0f} | {ratio['median']:.2f} "
                    f"[{ratio['q1']:.2f}, {ratio['q3']:.2f}] | "
                    f"{measured['steady_rounds']}/{measured['rounds']}{noisy} |")
        lines += ["", "| engine | load | cold start to first vector | peak RSS |", "|---|---|---|---|"]
        for engine, value in part["fresh"].items():
            lines.append(f"| {engine} | {value['load_s']['median'] * 1e3:.0f} ms | "
                         f"{value['cold_first_vector_s']['median'] * 1e3:.0f} ms | "
                         f"{value['peak_rss_bytes']['median'] / 2**20:.0f} MiB |")
        lines.append("")
    lines += [f"Against {BASE} in float32: " + "; ".join(
        f"{name} min cosine {value['min_cosine']:.7f}, max difference "
        f"{value['max_abs_difference']:.1e}" for name, value in result["agreement"].items()) + "."]
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("--lattice", type=Path, help="the lattice binary; without it, peers only")
    parser.add_argument("--lattice-dtypes", default="f32,bf16")
    parser.add_argument("--shapes", default="1x32,1x512")
    parser.add_argument("--threads", default="1,2", help="thread counts, e.g. 1,2")
    parser.add_argument("--seconds", type=float, default=0.5, help="least time of one turn")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--load-rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    return parser.parse_args()


def main() -> None:
    args = arguments()
    available = sorted(os.sched_getaffinity(0))
    shapes = [parse_shape(shape) for shape in args.shapes.split(",")]
    config = json.loads((args.model_dir / "config.json").read_text())
    result = {"format": 1, "model": args.model_dir.resolve().name, "rounds": args.rounds,
              "weights": config.get("dtype", config.get("torch_dtype")), "seed": args.seed,
              "command": sys.argv, "machine": machine(), "threads": {}}
    for threads in (int(value) for value in args.threads.split(",")):
        if threads > len(available):
            raise SystemExit(f"--threads {threads}: only {len(available)} CPUs may be used")
        cpus = set(available[:threads])
        os.sched_setaffinity(0, cpus)  # the canary must feel what the engines feel
        setting = Setting(args, threads, cpus)
        result["threads"][str(threads)] = {
            "fresh": fresh(setting, shapes),
            "speed": {f"{batch}x{length}": speed(setting, (batch, length))
                      for batch, length in shapes}}
        os.sched_setaffinity(0, set(available))
    result["agreement"] = agreement(Setting(args, len(available), set(available)))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")
    text = markdown(result)
    if args.markdown:
        args.markdown.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
