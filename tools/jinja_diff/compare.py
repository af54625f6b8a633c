#!/usr/bin/env python3
"""Compares the chat-template engine with jinja2 on random templates.

    tools/jinja_diff/compare.py build/dev/tools/jinja_diff/jinja_probe [--count N] [--seed S]

Both must write the same bytes or both must fail. Not compared: output with a Python address in it,
integers beyond 64 bits and what lattice says it does not support. Prints every difference and exits
1 if there is any.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "golden"))

from expressions import Generator  # noqa: E402
from jinja import LAB, render  # noqa: E402

ADDRESS = re.compile(r"0x[0-9a-f]{6,}|<(generator|function|built-in|bound|list_reverse|Macro|LoopContext)")
BATCH = 2000


def verdict(expected: dict, actual: dict) -> str:
    """"same", "different", or why the two are not compared."""
    if "text" not in expected and "error" in actual:
        return "same errors"
    if actual.get("error") == "unsupported":
        return "unsupported"
    if "64 bits" in actual.get("message", "") or "complex numbers" in actual.get("message", ""):
        return "large integers"
    if "text" in expected:
        if ADDRESS.search(expected["text"]) or ADDRESS.search(actual.get("text", "")):
            return "addresses"
        return "same" if expected["text"] == actual.get("text") else "different"
    return "large integers" if "OverflowError" in expected.get("error", "") else "different"


def explained(source: str, expected: dict, actual: dict) -> str | None:
    """A known reason for a difference."""
    if re.search(r"\|\s*(e|escape|forceescape|safe)\b|map\('(e|escape|safe)'", source):
        return "Markup"  # a kind of string that lattice does not have
    if "cannot be sliced" in actual.get("message", ""):
        return "slices of constants"  # folded by another rule than the one for variables
    if "text" in actual and ("syntax" in expected or "name 'inf'" in expected.get("error", "")):
        return "constants"  # that jinja2 folds, and then fails on, before they are reached
    return None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    generator = Generator(args.seed)
    totals = collections.Counter()
    for start in range(0, args.count, BATCH):
        sources = [generator.template() for _ in range(min(BATCH, args.count - start))]
        lines = [json.dumps({"template": source, "context": LAB}) for source in sources]
        result = subprocess.run([args.probe], input="\n".join(lines) + "\n", capture_output=True,
                                text=True, check=True)
        answers = result.stdout.split("\n")[:-1]
        for source, answer in zip(sources, answers, strict=True):
            expected, actual = render(source, LAB), json.loads(answer)
            outcome = verdict(expected, actual)
            if outcome == "different":
                outcome = explained(source, expected, actual) or outcome
            totals[outcome] += 1
            if outcome == "different":
                print(f"{source!r}\n  jinja2  {expected}\n  lattice {actual}")
    print(", ".join(f"{count} {name}" for name, count in totals.most_common()))
    return 1 if totals["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
