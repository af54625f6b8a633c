#!/usr/bin/env python3
"""Compares whole tokenizers with the `tokenizers` package.

    tools/tokenizer_diff/compare_tokens.py PROBE TOKENIZERS [--count N] [--seed N] [--only SUBSTRING]

PROBE is the built token_probe, TOKENIZERS the folder that build_tokenizers.py wrote. Every file gets
N generated strings (100,000 by default): ids, type ids, offsets, special-token mask and decoded text
must agree; every fourth one as a pair, every second one truncated somehow. Prints one line per file
and every difference (the first few in full); exits 1 if there is any.
"""

import argparse
import itertools
import json
import pathlib
import random
import subprocess
import sys
import time

from tokenizers import Tokenizer

from strings import Strings


class Probe:
    """A running token_probe."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, requests):
        lines = b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in requests)
        self.process.stdin.write(lines)
        self.process.stdin.flush()
        return [self.process.stdout.readline().decode().rstrip("\n") for _ in requests]


class Requests:
    """Random requests over random strings."""

    def __init__(self, seed, vocab_ids, added):
        self.random = random.Random(seed)
        self.strings = Strings(seed)
        self.vocab_ids = vocab_ids
        self.added = added

    def text(self):
        text = self.strings.next()
        # Added tokens only show their flags where they occur.
        while self.added and self.random.random() < 0.3:
            at = self.random.randint(0, len(text))
            text = text[:at] + self.random.choice(self.added) + text[at:]
        return text

    def next(self):
        if self.random.random() < 0.05:
            return {"ids": self.random.choices(self.vocab_ids, k=self.random.randint(0, 8))}
        request = {"text": self.text()}
        if self.random.random() < 0.25:
            request["pair"] = self.text()
        if self.random.random() < 0.2:
            request["special"] = False
        if self.random.random() < 0.5:
            request["max_length"] = self.random.choice([*range(0, 12), 16, 32])
            request["side"] = self.random.choice(["left", "right"])
            request["strategy"] = self.random.choice(
                ["longest_first", "only_first", "only_second"])
        return request


def byte_offsets(text):
    """The byte at which each character begins, and the end."""
    offsets = [0]
    for c in text:
        offsets.append(offsets[-1] + len(c.encode()))
    return offsets


def expected(tokenizer, request):
    """What the package answers; an exception's text where it refuses."""
    if "ids" in request:
        return {"text": tokenizer.decode(request["ids"]),
                "all_text": tokenizer.decode(request["ids"], skip_special_tokens=False)}
    special = request.get("special", True)
    pair = request.get("pair")
    if "max_length" in request:
        added = tokenizer.num_special_tokens_to_add(pair is not None) if special else 0
        if request["max_length"] < added:
            return "error: the library wraps around here"
        tokenizer.enable_truncation(request["max_length"], strategy=request["strategy"],
                                    direction=request["side"])
    else:
        tokenizer.no_truncation()
    try:
        encoding = tokenizer.encode(request["text"], pair, add_special_tokens=special)
    except BaseException as error:  # a Rust panic is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"error: {error}"
    maps = [byte_offsets(request["text"]), byte_offsets(pair or "")]
    offsets = []
    for (begin, end), sequence in zip(encoding.offsets, encoding.sequence_ids):
        chars = maps[sequence or 0]
        offsets += [chars[begin], chars[end]]
    answer = {"ids": encoding.ids, "type_ids": encoding.type_ids, "offsets": offsets,
              "mask": encoding.special_tokens_mask}
    if "max_length" not in request:
        answer["text"] = tokenizer.decode(encoding.ids)
        answer["all_text"] = tokenizer.decode(encoding.ids, skip_special_tokens=False)
    return answer


def agrees(got, want):
    if isinstance(want, str):
        return got.startswith("error")
    if got.startswith("error"):
        return False
    got = json.loads(got)
    got.pop("total", None)
    return got == want


def compare(probe, path, seed, count):
    """Number of differences."""
    reply = probe.ask([{"tokenizer": str(path)}])[0]
    if reply != "ok":
        print(f"{path.stem}: {reply}", flush=True)
        return 1
    tokenizer = Tokenizer.from_file(str(path))
    vocab_ids = sorted(tokenizer.get_vocab(with_added_tokens=True).values())
    added = [t["content"] for t in json.loads(tokenizer.to_str())["added_tokens"]]
    requests = Requests(f"{seed} {path.stem}", vocab_ids, added)
    differences = refusals = 0
    start = time.time()
    stream = (requests.next() for _ in range(count))
    while batch := list(itertools.islice(stream, 100)):
        for request, got in zip(batch, probe.ask(batch)):
            want = expected(tokenizer, request)
            refusals += isinstance(want, str)
            if not agrees(got, want):
                differences += 1
                if differences <= 3:
                    print(f"{path.stem}: {json.dumps(request)}\n  expected {json.dumps(want)}\n"
                          f"  got      {got.encode('ascii', 'backslashreplace').decode()}")
    print(f"{path.stem}: {count} strings, {differences} differences ({refusals} refused by both), "
          f"{time.time() - start:.0f} s", flush=True)
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("tokenizers", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    probe = Probe(args.probe)
    total = 0
    for path in sorted(args.tokenizers.glob("*.json")):
        if args.only in path.stem:
            total += compare(probe, path, args.seed, args.count)
    print("no differences" if total == 0 else f"{total} differences")
    sys.exit(total != 0)


if __name__ == "__main__":
    main()
