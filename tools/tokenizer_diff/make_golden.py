#!/usr/bin/env python3
"""Writes tests/golden/tokenizer/*.json: small tokenizers with what the `tokenizers` package makes of
a fixed set of texts.

    tools/tokenizer_diff/make_golden.py [--retrain]

Each file holds "tokenizer", a whole tokenizer.json with a vocabulary small enough to commit, and
"cases": a request as compare_tokens.py makes them, with the package's answer under "expected" (null
where it refuses). Training breaks ties at random, so the committed tokenizers are kept unless
--retrain asks for new ones; with them, every run writes the same files.
"""

import argparse
import copy
import json

import tokenizers

import build_tokenizers
from build_tokenizers import BUILDERS, REPOSITORY, as_json
from compare_tokens import Requests, expected

OUT = REPOSITORY / "tests/golden/tokenizer"

# Texts with which other engines went wrong.
TEXTS = [
    "", " ", "test", "Hyūga Shirō", "one\nline", "note\tbook", "a   b", " leading", "trailing ",
    "  both  ", "e\u0301a", "\u0928\u092e\u0938\u094d\u0924\u0947", "cafe\u0301 café",
    "Café déjà vu — 123 😊", "Straße €5 🙂 한국어", "ＡＢＣ ① ﬁ", "I don't, we'll", "x" * 120,
    "\u4f60\u597d\uff0c\u4e16\u754c", "[CLS] [MASK] <s></s> <|endoftext|>", "a\u0000b\u200bc\ufeff"]
PAIRS = [("A red apple", "A llama in the garden"), ("ping", ""), ("", "pong"),
         ("the quick brown fox jumps over", "a lazy dog")]


def requests(name, tokenizer, added):
    for text in TEXTS:
        yield {"text": text}
    for first, second in PAIRS:
        yield {"text": first, "pair": second}
        yield {"text": first, "pair": second, "special": False}
        for strategy in ("longest_first", "only_first", "only_second"):
            for side in ("left", "right"):
                yield {"text": first, "pair": second, "max_length": 7, "strategy": strategy,
                       "side": side}
    vocab_ids = sorted(tokenizer.get_vocab(with_added_tokens=True).values())
    generated = Requests(f"golden {name}", vocab_ids, added)
    for _ in range(40):
        yield generated.next()


def answer(tokenizer, request):
    want = expected(tokenizer, request)
    if isinstance(want, str):
        return None
    return want


def small(name, retrain):
    """The tokenizer, without the 300 kB charsmap where another file has it already."""
    path = OUT / f"{name}.json"
    if path.exists() and not retrain:
        return json.loads(path.read_text(encoding="utf-8"))["tokenizer"]
    data = BUILDERS[name]()
    data = copy.deepcopy(data if isinstance(data, dict) else as_json(data))
    data["truncation"] = data["padding"] = None
    if name == "t5":
        data["normalizer"] = {"type": "NFKC"}
    if name == "albert":
        data["normalizer"]["normalizers"].pop()
    return data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--retrain", action="store_true")
    args = parser.parse_args()
    build_tokenizers.VOCAB_SIZE = 700
    build_tokenizers.ALPHABET = 150
    OUT.mkdir(parents=True, exist_ok=True)
    for name in BUILDERS:
        data = small(name, args.retrain)
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(data))
        added = [t["content"] for t in data["added_tokens"]]
        cases = [{**request, "expected": answer(tokenizer, request)}
                 for request in requests(name, tokenizer, added)]
        head = {"format": 1, "package": f"tokenizers {tokenizers.__version__}", "tokenizer": data}
        lines = [json.dumps(head, ensure_ascii=False)[:-1] + ', "cases": [',
                 ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases), "]}"]
        (OUT / f"{name}.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(cases)} cases", flush=True)


if __name__ == "__main__":
    main()
