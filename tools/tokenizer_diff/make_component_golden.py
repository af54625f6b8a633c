#!/usr/bin/env python3
"""Writes tests/golden/tokenizer_components.jsonl: for every pipeline of pipelines.py some generated
strings with what the `tokenizers` package makes of them.

    tools/tokenizer_diff/make_component_golden.py [OUTPUT]

The first line names the library's version. Every other line is one pipeline: its name, its
components, and its cases, each [text, pieces] with pieces as text_probe prints them.
"""

import json
import pathlib
import sys

import tokenizers

from oracle import Oracle
from pipelines import PIPELINES
from strings import Strings

CASES = 16
LONGEST = 160  # characters; very long strings are for the differential runs


def cases(name, pipeline):
    oracle, strings = Oracle(pipeline), Strings(f"golden {name}")
    chosen = []
    while len(chosen) < CASES:
        text = strings.next()
        answer = oracle.answer(text)
        if len(text) <= LONGEST and answer is not None:
            chosen.append([text, answer])
    return chosen


def main():
    default = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/tokenizer_components.jsonl"
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = [{"tokenizers": tokenizers.__version__}]
    for name, pipeline in PIPELINES.items():
        lines.append({"name": name} | pipeline | {"cases": cases(name, pipeline)})
    out.write_text("".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
                           for line in lines))


if __name__ == "__main__":
    main()
