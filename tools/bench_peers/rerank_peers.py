"""Reranking speed of lattice beside sentence-transformers and ONNX Runtime, in one run.

    python rerank_peers.py MODEL_DIR [--lattice build/release/bin/lattice]
                           [--lattice-dtypes f32,bf16,q8_0] [--shape 100x128] [--json OUT]
                           [--markdown OUT]

MODEL_DIR is an embedding model of the wanted shape (all-MiniLM-L6-v2): its encoder with a random
pooler and classifier becomes the cross-encoder, because speed does not depend on the weights. One
query against 100 documents, pairs of 128 tokens, on token ids; see protocol.py for the turns.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import protocol  # first: it sets OpenBLAS to one thread before NumPy starts
from embed_peers import HERE, MIN_STEADY_ROUNDS, WARM_UP_SECONDS, Peer, machine
from lattice_engine import LatticeEngine

PEERS = ("cross-encoder", "onnxruntime-cross")


def make_cross_encoder(model_dir: Path, out: Path) -> None:
    """The encoder of `model_dir` as BertForSequenceClassification with one label."""
    import torch
    import transformers

    torch.manual_seed(1)
    config = transformers.AutoConfig.from_pretrained(str(model_dir), num_labels=1)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    encoder = transformers.AutoModel.from_pretrained(str(model_dir))
    model.base_model.load_state_dict(encoder.state_dict(), strict=False)
    model.save_pretrained(str(out))
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
                 "vocab.txt"):
        if (model_dir / name).exists():
            shutil.copy(model_dir / name, out / name)


def prepare(args: argparse.Namespace) -> tuple[Path, Path]:
    """The cross-encoder's directory and ONNX file, made once."""
    directory = args.cache / f"{args.model_dir.resolve().name}-cross-encoder"
    onnx = directory / "logits.onnx"
    if not onnx.exists():
        directory.mkdir(parents=True, exist_ok=True)
        make_cross_encoder(args.model_dir, directory)
        subprocess.run([sys.executable, str(HERE / "onnx_export.py"), str(directory), str(onnx),
                        "--logits"], check=True, stdout=subprocess.DEVNULL)
    return directory, onnx


def speed(args, directory: Path, onnx: Path, threads: int, cpus: set[int]) -> dict:
    batch, length = (int(value) for value in args.shape.split("x"))
    rng = random.Random(args.seed)
    workload = {"texts": [], "ids": [[rng.randrange(1000, 29000) for _ in range(length)]
                                     for _ in range(batch)]}
    peers = {name: Peer(name, directory, threads, onnx, cpus) for name in PEERS}
    try:
        for peer in peers.values():
            peer.ask("load")
            peer.ask("run", workload=workload, mode="ids", seconds=WARM_UP_SECONDS)
        legs = {name: peer.leg(workload, "ids", 0) for name, peer in peers.items()}
        for dtype in args.lattice_dtypes.split(",") if args.lattice else ():
            engine = LatticeEngine(args.lattice, directory, threads, cpus, dtype, score=True)
            legs[f"lattice {dtype}"] = engine.leg(batch, length, 0)
        records = protocol.interleave(legs, args.rounds, protocol.Canary(threads))
    finally:
        for peer in peers.values():
            peer.close()
    return {**protocol.summarise(records, "onnxruntime-cross", MIN_STEADY_ROUNDS),
            "records": records}


def markdown(result: dict) -> str:
    batch, length = (int(value) for value in result["shape"].split("x"))
    lines = [f"One query, {batch} documents, pairs of {length} tokens, shape of "
             f"{result['model']}; {result['machine']['cpu']}; {result['rounds']} interleaved "
             "rounds; speed is relative to ONNX Runtime (float32).", "",
             "| threads | engine | median | pairs/s | vs ONNX Runtime | steady rounds |",
             "|---|---|---|---|---|---|"]
    for threads, measured in result["threads"].items():
        for engine, value in measured["engines"].items():
            seconds, ratio = value["seconds"]["median"], value["median_of_ratios"]
            noisy = " (noisy)" if measured["noisy"] else ""
            lines.append(f"| {threads} | {engine} | {seconds * 1e3:.0f} ms | "
                         f"{batch / seconds:,.0f} | {ratio['median']:.2f} [{ratio['q1']:.2f}, "
                         f"{ratio['q3']:.2f}] | {measured['steady_rounds']}/"
                         f"{measured['rounds']}{noisy} |")
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("--lattice", type=Path, help="the lattice binary; without it, peers only")
    parser.add_argument("--lattice-dtypes", default="f32,bf16,q8_0")
    parser.add_argument("--shape", default="100x128")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "lattice-bench")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    return parser.parse_args()


def main() -> None:
    args = arguments()
    directory, onnx = prepare(args)
    available = sorted(os.sched_getaffinity(0))
    result = {"format": 1, "model": args.model_dir.resolve().name, "shape": args.shape,
              "rounds": args.rounds, "seed": args.seed, "command": sys.argv,
              "machine": machine(), "threads": {}}
    for threads in (int(value) for value in args.threads.split(",")):
        cpus = set(available[:threads])
        os.sched_setaffinity(0, cpus)  # the canary must feel what the engines feel
        result["threads"][str(threads)] = speed(args, directory, onnx, threads, cpus)
        os.sched_setaffinity(0, set(available))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")
    text = markdown(result)
    if args.markdown:
        args.markdown.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
