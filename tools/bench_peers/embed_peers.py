"""Embedding speed of lattice beside sentence-transformers and ONNX Runtime, in one run.

    python embed_peers.py MODEL_DIR [--lattice build/release/lattice] [--json OUT] [--markdown OUT]

Per thread count: load time, latency of one 16-token text, throughput of 32 texts of 128 tokens
(on token ids, and end to end with tokenization), peak RSS in fresh processes, and agreement of
the vectors. Engines take turns (A B C, B C A, ...) beside canaries; see protocol.py.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import random
import subprocess
import sys
import time
from pathlib import Path

import protocol  # first: it sets OpenBLAS to one thread before NumPy starts
import numpy as np
from lattice_engine import LatticeEngine

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
PEERS = ("sentence-transformers", "onnxruntime")
SHORT, BATCH = (1, 16), (32, 128)
WARM_UP_SECONDS = 1.5
MIN_STEADY_ROUNDS = 5
PACKAGES = ("torch", "transformers", "sentence-transformers", "tokenizers", "onnxruntime", "numpy")


class Peer:
    """A worker process with its own threads, pinned to the CPUs of this thread count."""

    def __init__(self, name: str, model_dir: Path, threads: int, onnx: Path, cpus: set[int]):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1",
                       "RAYON_NUM_THREADS": str(threads),
                       "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false",
                       "CUDA_VISIBLE_DEVICES": ""}
        self.name, start = name, time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), name, str(model_dir), str(threads),
             str(onnx)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.started = self._answer()
        self.start_s = time.perf_counter() - start

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name}: the worker ended (exit code {self.process.wait()}); "
                             "run worker.py by hand to see why")
        return json.loads(line)

    def ask(self, op: str, **arguments) -> dict:
        self.process.stdin.write(json.dumps({"op": op, **arguments}) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def leg(self, workload: dict, mode: str, seconds: float):
        return lambda: self.ask("run", workload=workload, mode=mode, seconds=seconds)["seconds"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def make_workload(model_dir: Path, batch: int, length: int, seed: int) -> dict:
    """Texts of whole words that tokenize to exactly `length` ids, and those ids."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(model_dir / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    words = sorted(token for token in tokenizer.get_vocab()
                   if token.isascii() and token.isalpha() and token.islower())
    specials = len(tokenizer.encode("").ids)
    rng = random.Random(seed)
    texts, ids = [], []
    while len(texts) < batch:
        text = " ".join(rng.choice(words) for _ in range(length - specials))
        row = tokenizer.encode(text).ids
        if len(row) == length:
            texts.append(text)
            ids.append(row)
    return {"texts": texts, "ids": ids}


def onnx_file(model_dir: Path, cache: Path) -> Path:
    """The exported model, made once per weights and library versions."""
    key = hashlib.sha256((model_dir / "model.safetensors").read_bytes())
    for package in ("torch", "transformers", "onnxruntime"):
        key.update(importlib.metadata.version(package).encode())
    path = cache / f"{model_dir.name}-{key.hexdigest()[:16]}.onnx"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(HERE / "onnx_export.py"), str(model_dir), str(path)],
                       check=True, stdout=subprocess.DEVNULL)
    return path


def fresh_processes(model_dir, threads, onnx, cpus, workloads, rounds) -> dict:
    """Load time and memory, each from processes that did nothing else; engines in turns."""
    found = {name: [] for name in PEERS}
    for _ in range(rounds):
        for name in PEERS:
            start = time.perf_counter()
            peer = Peer(name, model_dir, threads, onnx, cpus)
            load_s = peer.ask("load")["load_s"]
            peer.ask("run", workload=workloads["short"], mode="text", seconds=0)
            cold_s = time.perf_counter() - start
            one = peer.ask("rss")["peak_rss_bytes"]
            peer.ask("run", workload=workloads["batch"], mode="ids", seconds=0)
            found[name].append({
                "import_s": peer.started["import_s"], "load_s": load_s,
                "cold_first_vector_s": cold_s,
                "rss_imported_bytes": peer.started["peak_rss_bytes"],
                "rss_one_text_bytes": one,
                "rss_batch_bytes": peer.ask("rss")["peak_rss_bytes"]})
            peer.close()
    return {name: {key: protocol.quartiles([row[key] for row in rows]) for key in rows[0]}
            for name, rows in found.items()}


def lattice_fresh(lattice: LatticeEngine, text: str, rounds: int) -> dict:
    """The same facts for lattice; it has no import to pay for."""
    rows = [lattice.fresh(text, SHORT, BATCH) for _ in range(rounds)]
    return {key: protocol.quartiles([row[key] for row in rows]) for key in rows[0]}


def speed(model_dir, threads, onnx, cpus, workloads, rounds, lattice) -> dict:
    peers = {name: Peer(name, model_dir, threads, onnx, cpus) for name in PEERS}
    canary = protocol.Canary(threads)
    out = {}
    try:
        for peer in peers.values():
            peer.ask("load")
        for size, mode, seconds in (("short", "ids", 0.2), ("short", "text", 0.2),
                                    ("batch", "ids", 0), ("batch", "text", 0)):
            workload = workloads[size]
            legs = {name: peer.leg(workload, mode, seconds) for name, peer in peers.items()}
            if lattice is not None and mode == "ids":
                legs["lattice"] = lattice.leg(*(SHORT if size == "short" else BATCH), seconds)
            for peer in peers.values():
                peer.ask("run", workload=workload, mode=mode, seconds=WARM_UP_SECONDS)
            records = protocol.interleave(legs, rounds, canary)
            out[f"{size}_{mode}"] = {
                **protocol.summarise(records, "onnxruntime", MIN_STEADY_ROUNDS),
                "records": records}
    finally:
        for peer in peers.values():
            peer.close()
    return out


def agreement(model_dir, onnx, cpus, lattice) -> dict:
    """Cosine and greatest difference against sentence-transformers, one text at a time."""
    lines = (REPO / "tests" / "golden" / "texts.jsonl").read_text().split("\n")[:120]
    texts = [json.loads(line)["text"] for line in lines if line]
    texts = [text for text in texts if text.strip()]
    vectors = {}
    for name in PEERS:
        peer = Peer(name, model_dir, 1, onnx, cpus)
        peer.ask("load")
        vectors[name] = np.array(peer.ask("embed", texts=texts)["embeddings"])
        peer.close()
    if lattice is not None:
        vectors["lattice"] = np.array(lattice.embed(texts))
    truth = vectors.pop(PEERS[0])
    out = {"texts": len(texts), "reference": PEERS[0]}
    for name, rows in vectors.items():
        norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(truth, axis=1)
        cosines = (rows * truth).sum(1) / norms
        out[name] = {"min_cosine": float(cosines.min()), "mean_cosine": float(cosines.mean()),
                     "max_abs_difference": float(np.abs(rows - truth).max())}
    return out


def machine() -> dict:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {"cpu": models[0] if models else platform.processor(),
            "usable_cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "python": platform.python_version(),
            "versions": {name: importlib.metadata.version(name) for name in PACKAGES}}


def markdown(result: dict) -> str:
    lines = [f"Model {result['model']}; {result['machine']['cpu']}; float32; "
             f"{result['rounds']} interleaved rounds; speed is relative to ONNX Runtime "
             "(median of per-round ratios, quartiles in brackets).", ""]
    for threads, part in result["threads"].items():
        lines += [f"### {threads} thread{'s' if threads != '1' else ''}", "",
                  "| workload | engine | median | tokens/s | vs ONNX Runtime | steady rounds |",
                  "|---|---|---|---|---|---|"]
        for name, measured in part["speed"].items():
            size, mode = name.split("_")
            batch, length = SHORT if size == "short" else BATCH
            for engine, value in measured["engines"].items():
                seconds, ratio = value["seconds"]["median"], value["median_of_ratios"]
                noisy = " (noisy)" if measured["noisy"] else ""
                lines.append(
                    f"| {batch}x{length} {'ids' if mode == 'ids' else 'end to end'} | {engine} | "
                    f"{seconds * 1e3:.2f} ms | {batch * length / seconds:,.0f} | "
                    f"{ratio['median']:.2f} [{ratio['q1']:.2f}, {ratio['q3']:.2f}] | "
                    f"{measured['steady_rounds']}/{measured['rounds']}{noisy} |")
        lines += ["", "| engine | import | load | cold start to first vector | "
                  "RSS after imports | RSS after one text | RSS after 32x128 |",
                  "|---|---|---|---|---|---|---|"]
        for engine, value in part["fresh"].items():
            cells = [f"{value[key]['median'] * 1e3:.0f} ms" if key in value else "-"
                     for key in ("import_s", "load_s", "cold_first_vector_s")]
            cells += [f"{value[key]['median'] / 2**20:.0f} MiB" if key in value else "-"
                      for key in ("rss_imported_bytes", "rss_one_text_bytes", "rss_batch_bytes")]
            lines.append(f"| {engine} | " + " | ".join(cells) + " |")
        lines.append("")
    found = result["agreement"]
    lines += [f"Against {found['reference']} on {found['texts']} texts: " + "; ".join(
        f"{name} min cosine {value['min_cosine']:.7f}, mean {value['mean_cosine']:.7f}, "
        f"max difference {value['max_abs_difference']:.1e}"
        for name, value in found.items() if isinstance(value, dict)) + "."]
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("--lattice", type=Path, help="the lattice binary; without it, peers only")
    parser.add_argument("--threads", default="1,2", help="thread counts, e.g. 1,2")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--load-rounds", type=int, default=5)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "lattice-bench")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    return parser.parse_args()


def main() -> None:
    args = arguments()
    available = sorted(os.sched_getaffinity(0))
    onnx = onnx_file(args.model_dir, args.cache)
    workloads = {"short": make_workload(args.model_dir, *SHORT, args.seed),
                 "batch": make_workload(args.model_dir, *BATCH, args.seed)}
    result = {"format": 1, "model": args.model_dir.resolve().name, "rounds": args.rounds,
              "seed": args.seed, "command": sys.argv, "machine": machine(), "threads": {}}
    for threads in (int(value) for value in args.threads.split(",")):
        if threads > len(available):
            raise SystemExit(f"--threads {threads}: only {len(available)} CPUs may be used")
        cpus = set(available[:threads])
        os.sched_setaffinity(0, cpus)  # the canary must feel what the engines feel
        make_lattice = functools.partial(LatticeEngine, args.lattice, args.model_dir)
        lattice = make_lattice(threads, cpus) if args.lattice else None
        common = (args.model_dir, threads, onnx, cpus, workloads)
        fresh = fresh_processes(*common, args.load_rounds)
        if lattice is not None:
            text = workloads["short"]["texts"][0]
            fresh["lattice"] = lattice_fresh(lattice, text, args.load_rounds)
        result["threads"][str(threads)] = {
            "fresh": fresh, "speed": speed(*common, args.rounds, lattice)}
        os.sched_setaffinity(0, set(available))
    result["agreement"] = agreement(args.model_dir, onnx, set(available), lattice)
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")
    text = markdown(result)
    if args.markdown:
        args.markdown.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
