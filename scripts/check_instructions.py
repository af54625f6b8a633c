#!/usr/bin/env python3
"""Guards against slower code where clocks are too noisy: counts instructions with callgrind.

    scripts/check_instructions.py build/dev/tests/instructions/instruction_probe [--record]

Every case of the probe runs a few times more in one of two runs; the difference of the counts belongs to
the runs alone. More than 10 % above tests/instructions/counts.json fails; --record writes that file
anew. The counts are those of the avx2 target: Valgrind does not know AVX-512. Needs valgrind, x86-64.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNTS = ROOT / "tests" / "instructions" / "counts.json"
FEW, MANY = 1, 3
ALLOWED = 1.10
NOTEWORTHY = 0.95


def instructions(probe: str, case: str, runs: int) -> int:
    """All instructions of one process."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", probe, case, str(runs)]
    environment = {**os.environ, "LATTICE_CPU_TARGET": "avx2"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    match = re.search(r"Collected : (\d+)", result.stderr)
    if result.returncode != 0 or not match:
        sys.exit(f"check_instructions: {case}: {result.stderr.strip()[-600:]}")
    return int(match[1])


def count_all(probe: str) -> dict[str, int]:
    """Case -> instructions of one run."""
    listed = subprocess.run([probe, "--list"], capture_output=True, text=True, check=True)
    cases = listed.stdout.splitlines()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {(case, runs): pool.submit(instructions, probe, case, runs)
                for case in cases for runs in (FEW, MANY)}
        return {case: (jobs[case, MANY].result() - jobs[case, FEW].result()) // (MANY - FEW)
                for case in cases}


def problems_of(counts: dict[str, int], recorded: dict[str, int]) -> list[str]:
    """Cases that take too many instructions, and those that are only on one side."""
    problems = []
    for case in sorted(counts.keys() | recorded.keys()):
        if case not in recorded or case not in counts:
            where = "counts.json" if case not in recorded else "the probe"
            problems.append(f"{case}: not in {where}; run with --record")
        elif counts[case] > ALLOWED * recorded[case]:
            more = 100 * counts[case] / recorded[case] - 100
            problems.append(f"{case}: {counts[case]:,} instructions, {more:.1f} % above the "
                            f"{recorded[case]:,} recorded")
    return problems


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--record"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    counts = count_all(arguments[0])
    if "--record" in sys.argv:
        COUNTS.write_text(json.dumps(counts, indent=2, sort_keys=True) + "\n")
        print(f"check_instructions: recorded {len(counts)} cases")
        return 0
    recorded = json.loads(COUNTS.read_text())
    problems = problems_of(counts, recorded)
    for case, count in counts.items():
        if case in recorded and count < NOTEWORTHY * recorded[case]:
            print(f"{case}: {count:,} instructions, {recorded[case]:,} recorded: consider --record")
    for line in problems:
        print(line)
    print(f"check_instructions: {len(counts)} cases, {len(problems)} offences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
