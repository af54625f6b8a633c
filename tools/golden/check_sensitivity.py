"""Plants faults in the oracle and shows that the tiny goldens notice each of them.

    python check_sensitivity.py [--family NAME] [--write]

Prints a table for each family; `--write` also puts them into README.md. Fails when a fault that
can be seen changes no value of any variant by more than 1e-4.
"""

from __future__ import annotations

import argparse
import copy
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

import faults_bert
import faults_qwen3
from tiny import FAMILIES
from tiny_family import TINY, Family, embed

THRESHOLD = 1e-4
README = Path(__file__).with_name("README.md")
FAULTS = {"bert": faults_bert.FAULTS, "qwen3": faults_qwen3.FAULTS}


def compared(family: Family, spec, golden: dict, model, in_logits: bool) -> list[tuple]:
    """Pairs of a committed vector and what the model gives now."""
    pairs = []
    for index, (text, pair) in enumerate(family.inputs(spec, {})):
        logits = golden.get(f"tap.{index}.logits")
        if in_logits and logits is None:
            continue
        out, vector = embed(family, model, text, pair, {})
        if in_logits:
            pairs.append((logits, family.logits(model, out["token_embeddings"][0, -1]).numpy()))
        else:
            pairs.append((golden["embedding"][index], vector))
    return pairs


def difference(pairs: list[tuple]) -> float:
    """Greatest difference of any element; infinite when the width is wrong."""
    if any(a.shape != b.shape for a, b in pairs):
        return float("inf")
    return float(max((np.abs(a - b).max() for a, b in pairs), default=0.0))


def measure_variant(family: Family, spec, results: dict[str, dict[str, float]]) -> None:
    golden = load_file(TINY / spec.name / "golden.safetensors")
    model = family.load(TINY / spec.name, True)
    for in_logits in (False, True):
        assert difference(compared(family, spec, golden, model, in_logits)) == 0.0, spec.name
    for fault in FAULTS[family.name]:
        faulty = copy.deepcopy(model)
        if not fault.plant(spec, faulty):
            continue
        try:
            value = difference(compared(family, spec, golden, faulty, fault.in_logits))
        except RuntimeError as error:  # the next module refuses the width
            assert "shapes cannot be multiplied" in str(error), error
            value = float("inf")
        results[fault.name][spec.name] = value


def measure(family: Family) -> dict[str, dict[str, float]]:
    results: dict[str, dict[str, float]] = {fault.name: {} for fault in FAULTS[family.name]}
    for spec in family.variants:
        measure_variant(family, spec, results)
    return results


def table(family: Family, results: dict[str, dict[str, float]]) -> tuple[str, list[str]]:
    invisible = {fault.name: fault.invisible for fault in FAULTS[family.name]}
    lines = ["| planted fault | applies to | noticed by | clearest variant | its difference |",
             "|---|---|---|---|---|"]
    missed = []
    for name, found in results.items():
        noticed = {variant: value for variant, value in found.items() if value > THRESHOLD}
        best = max(found, key=lambda variant: min(found[variant], 1e9)) if found else "-"
        value = found.get(best, 0.0)
        shown = "wrong width" if np.isinf(value) else f"{value:.1e}"
        if invisible[name]:
            shown += f" ({invisible[name]})"
        elif not noticed:
            missed.append(name)
        lines.append(f"| {name} | {len(found)} | {len(noticed)} | {best} | {shown} |")
    return "\n".join(lines) + "\n", missed


def insert_table(name: str, text: str) -> None:
    start, end = f"<!-- sensitivity {name} -->\n", f"<!-- end of {name} -->\n"
    head, rest = README.read_text().split(start)
    README.write_text(head + start + text + end + rest.split(end)[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--family", choices=sorted(FAMILIES))
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    missed = []
    for family in FAMILIES.values():
        if args.family and family.name != args.family:
            continue
        text, unseen = table(family, measure(family))
        print(text, flush=True)
        missed += unseen
        if args.write:
            insert_table(family.name, text)
    for name in missed:
        print(f"no variant notices: {name}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
