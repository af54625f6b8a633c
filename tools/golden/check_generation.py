"""Plants faults in the oracle of Qwen3.5 and shows which golden logits notice each of them.

    python check_generation.py [--write]

Prints a table; `--write` also puts it into README.md. Fails when no variant notices a fault by
more than ten times its tolerance. Prompts of more than 130 tokens are left out.
"""

from __future__ import annotations

import argparse
import copy
import sys

import numpy as np
from safetensors.numpy import load_file

from check_sensitivity import insert_table
from common import read_json
from faults_qwen3_5 import FAULTS
from generation import GENERATION, TOLERANCE
from generation_variants import VARIANTS
from qwen3_5_oracle import Oracle

FAMILY = "qwen3_5"
THRESHOLD = 10 * TOLERANCE[FAMILY]
MAX_LENGTH = 130
SAME = 1e-9  # the parts written out compute in another order


def logits_of(oracle: Oracle, prompts: list[list[int]]) -> np.ndarray:
    return np.stack([oracle.head(oracle.hidden(ids)[-1]).numpy() for ids in prompts])


def measure() -> dict[str, dict[str, float]]:
    """By fault and variant: the greatest difference of a logit."""
    results: dict[str, dict[str, float]] = {fault.name: {} for fault in FAULTS}
    for spec in VARIANTS:
        if spec.family != FAMILY or spec.same_as:
            continue
        directory = GENERATION / spec.name
        cases = [(row, case["ids"]) for row, case
                 in enumerate(read_json(directory / "golden.json")["cases"])
                 if len(case["ids"]) <= MAX_LENGTH]
        golden = load_file(directory / "golden.safetensors")["logits"][[row for row, _ in cases]]
        prompts, oracle = [ids for _, ids in cases], Oracle(directory)
        assert np.array_equal(logits_of(oracle, prompts), golden), spec.name
        for fault in FAULTS:
            faulty = copy.deepcopy(oracle)
            if fault.plant(spec, faulty):
                found = np.abs(logits_of(faulty, prompts) - golden).max()
                results[fault.name][spec.name] = float(found)
                assert not fault.invisible or found < SAME, (spec.name, fault.name, found)
        print(spec.name, file=sys.stderr, flush=True)
    return results


def table(results: dict[str, dict[str, float]]) -> tuple[str, list[str]]:
    lines = ["| planted fault | applies to | noticed by | clearest variant | its difference | "
             "not noticed by |", "|---|---|---|---|---|---|"]
    missed = []
    for fault in FAULTS:
        found = {name: np.nan_to_num(value, nan=np.inf)
                 for name, value in results[fault.name].items()}
        blind = [variant for variant, value in found.items() if value <= THRESHOLD]
        best = max(found, key=found.get) if found else "-"
        shown = f"{found.get(best, 0.0):.1e}"
        if fault.invisible:
            shown += f" ({fault.invisible})"
        elif len(blind) == len(found):
            missed.append(fault.name)
        unseen = ", ".join(blind) if len(blind) < len(found) else ""
        lines.append(f"| {fault.name} | {len(found)} | {len(found) - len(blind)} | {best} | "
                     f"{shown} | {unseen} |")
    return "\n".join(lines) + "\n", missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    text, missed = table(measure())
    print(text)
    if args.write:
        insert_table("generation", text)
    for name in missed:
        print(f"no variant notices: {name}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
