#!/usr/bin/env python3
"""Compares lattice's normalizers and pre-tokenizers with the `tokenizers` package.

    tools/tokenizer_diff/compare.py PROBE [--count N] [--seed N] [--only SUBSTRING]

PROBE is the built text_probe. Every pipeline of pipelines.py gets N generated strings (100,000 by
default); pieces and the origin of every character must agree. Prints one line per pipeline and
every difference (the first few in full); exits 1 if there is any.
"""

import argparse
import itertools
import json
import subprocess
import sys
import time

from oracle import Oracle
from pipelines import PIPELINES, built_in_charsmap
from strings import Strings


class Probe:
    """A running text_probe."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, requests):
        """The answers to a list of JSON values, in order."""
        lines = b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in requests)
        self.process.stdin.write(lines)
        self.process.stdin.flush()
        return [self.process.stdout.readline() for _ in requests]


def compare(probe, name, pipeline, texts):
    """Number of differences."""
    reply = probe.ask([pipeline])[0].decode().strip()
    if reply != "ok":
        print(f"{name}: {reply}")
        return 1
    oracle = Oracle(pipeline)
    differences = failures = count = 0
    start = time.time()
    while batch := list(itertools.islice(texts, 100)):
        for text, line in zip(batch, probe.ask(batch)):
            count += 1
            expected = oracle.answer(text)
            if expected is None:
                failures += 1
                continue
            got = json.loads(line) if line.startswith(b"[") else line.decode()
            if got != expected:
                differences += 1
                if differences <= 3:
                    print(f"{name}: {text!r}\n  expected {expected}\n  got      {got}")
    note = f", {failures} on which the library itself fails" if failures else ""
    print(f"{name}: {count} strings, {differences} differences{note}, {time.time() - start:.0f} s",
          flush=True)
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    probe = Probe(args.probe)
    total = 0
    pipelines = PIPELINES | built_in_charsmap("nmt_nfkc") | built_in_charsmap("nmt_nfkc_cf")
    for name, pipeline in pipelines.items():
        if args.only in name:
            strings = Strings(f"{args.seed} {name}")
            total += compare(probe, name, pipeline, (strings.next() for _ in range(args.count)))
    print("no differences" if total == 0 else f"{total} differences")
    sys.exit(total != 0)


if __name__ == "__main__":
    main()
