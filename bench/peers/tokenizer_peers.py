#!/usr/bin/env python3
"""Single-thread tokenizer throughput: lattice and the `tokenizers` package, taking turns.

    bench/peers/tokenizer_peers.py BENCH TOKENIZER_JSON... [--texts FILE] [--rounds N]
                                   [--json OUT]

BENCH is the built tokenizer_bench. The texts (by default: the repository's own passages, golden
texts, documents and sources, in pieces of up to 2,000 characters, so prose, many languages and
code) are encoded one by one; the package uses encode_batch_fast, its fastest call, on one thread.
Both count the processor time of their thread. The numbers of tokens must agree.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

from tokenizers import Tokenizer  # noqa: E402

from canary import Canaries  # noqa: E402
from protocol import compare, interleave  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PIECE = 2000


def default_texts():
    files = subprocess.run(["git", "ls-files", "*.md", "*.h", "*.cc", "*.py", "*.jsonl"],
                           cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    texts = []
    for name in files.split("\n"):
        if not name or "_data.cc" in name or "/tiny/" in name:
            continue
        content = (REPOSITORY / name).read_text(encoding="utf-8")
        if name.endswith(".jsonl"):
            pieces = [json.loads(line).get("text", "") for line in content.split("\n") if line]
        else:
            pieces = [content]
        for piece in pieces:
            texts += [piece[i:i + PIECE] for i in range(0, len(piece), PIECE)]
    return [t for t in texts if t]


class Lattice:
    def __init__(self, program, tokenizer, texts):
        self.process = subprocess.Popen([program, tokenizer, texts, "--serve"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seconds, tokens = self.process.stdout.readline().split()
        self.tokens = int(tokens)
        return [float(seconds)]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Package:
    def __init__(self, path, texts):
        self.tokenizer = Tokenizer.from_file(path)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.texts = texts

    def run(self):
        start = time.thread_time()
        encodings = self.tokenizer.encode_batch_fast(self.texts)
        seconds = time.thread_time() - start
        self.tokens = sum(len(encoding) for encoding in encodings)
        return [seconds]


def measure(program, path, texts_file, texts, rounds):
    lattice, package = Lattice(program, path, texts_file), Package(path, texts)
    legs = {"tokenizers": package.run, "lattice": lattice.run}
    for leg in list(legs.values()) * 3:
        leg()
    if lattice.tokens != package.tokens:
        sys.exit(f"{path}: {lattice.tokens} tokens, the package has {package.tokens}")
    records = interleave(legs, rounds, Canaries(1).measure)
    engines = {name: compare(records, name, "tokenizers") for name in legs}
    lattice.close()
    size = sum(len(t.encode()) for t in texts)
    speed = {name: size / engine["seconds"]["median"] / 1e6 for name, engine in engines.items()}
    ratio = engines["lattice"]["ratio"]
    print(f"{pathlib.Path(path).parent.name}/{pathlib.Path(path).name}: "
          f"lattice {speed['lattice']:.1f} MB/s, tokenizers {speed['tokenizers']:.1f} MB/s, "
          f"x{ratio['median']:.1f} ({ratio['q1']:.1f} to {ratio['q3']:.1f})"
          f"{' noisy' if engines['lattice']['noisy'] else ''}", flush=True)
    return {"tokenizer": path, "bytes": size, "tokens": package.tokens, "mb_per_s": speed,
            "engines": engines, "records": records}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("tokenizers", nargs="+")
    parser.add_argument("--texts")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json")
    args = parser.parse_args()
    if args.texts:
        lines = pathlib.Path(args.texts).read_bytes().split(b"\n")
        texts = [json.loads(line)["text"] for line in lines if line]
    else:
        texts = default_texts()
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write("".join(json.dumps({"text": t}, ensure_ascii=False) + "\n" for t in texts))
        file.flush()
        results = [measure(args.bench, path, file.name, texts, args.rounds)
                   for path in args.tokenizers]
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
