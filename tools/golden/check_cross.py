"""Plants faults in the cross-encoder oracle and shows which goldens notice each of them.

    python check_cross.py [--write]

Prints a table; `--write` also puts it into README.md. Fails when no variant notices a fault by
more than 1e-3.
"""

from __future__ import annotations

import argparse
import copy
import sys

import numpy as np
from safetensors.numpy import load_file

import cross_official
import cross_oracle
from check_sensitivity import insert_table
from common import read_json
from cross import CROSS, VARIANTS
from cross_fault import is_official
from faults_cross import FAULTS

THRESHOLD = 1e-3


def load(spec):
    directory = CROSS / spec.name
    if is_official(spec):
        return cross_official.Official(directory, True)
    return cross_oracle.load(directory, True)


def values_of(spec, model, head: dict, of: str) -> np.ndarray:
    """The logits, scores or probabilities that the oracle gives now."""
    if is_official(spec):
        logits = np.stack([model.logits(case) for case in head["cases"]])
    else:
        logits = np.stack([cross_oracle.logits_of(model, case["text"], case.get("pair"))
                           for case in head["cases"]])
    if of == "logits":
        return logits
    if of == "scores" and not is_official(spec):
        return cross_oracle.activate(model, logits)
    function = getattr(model, "pipeline_function", head["function_to_apply"])
    return cross_oracle.apply_function(function, logits)


def measure() -> dict[str, dict[str, float]]:
    """By fault and variant: the greatest difference."""
    results: dict[str, dict[str, float]] = {fault.name: {} for fault in FAULTS}
    for spec in VARIANTS:
        head = read_json(CROSS / spec.name / "golden.json")
        golden = load_file(CROSS / spec.name / "golden.safetensors")
        model = load(spec)
        for of in ("logits", "scores", "probabilities"):
            assert np.array_equal(values_of(spec, model, head, of), golden[of]), (spec.name, of)
        for fault in FAULTS:
            faulty = copy.deepcopy(model)
            if fault.plant(spec, faulty):
                changed = values_of(spec, faulty, head, fault.of)
                results[fault.name][spec.name] = float(np.abs(changed - golden[fault.of]).max())
        print(spec.name, file=sys.stderr, flush=True)
    return results


def table(results: dict[str, dict[str, float]]) -> tuple[str, list[str]]:
    lines = ["| planted fault | shows in | applies to | noticed by | clearest variant | "
             "its difference |", "|---|---|---|---|---|---|"]
    missed = []
    for fault in FAULTS:
        found = results[fault.name]
        noticed = [variant for variant, value in found.items() if value > THRESHOLD]
        best = max(found, key=found.get) if found else "-"
        if not noticed:
            missed.append(fault.name)
        lines.append(f"| {fault.name} | {fault.of} | {len(found)} | {len(noticed)} | {best} | "
                     f"{found.get(best, 0.0):.1e} |")
    return "\n".join(lines) + "\n", missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    results = measure()
    text, missed = table(results)
    print(text)
    for fault, found in results.items():
        blind = [variant for variant, value in found.items() if value <= THRESHOLD]
        if blind and len(blind) < len(found):
            print(f"{fault}: not noticed by {', '.join(blind)}", file=sys.stderr)
    if args.write:
        insert_table("cross", text)
    for name in missed:
        print(f"no variant notices: {name}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
