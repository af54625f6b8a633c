#!/usr/bin/env python3
"""Checks the compiled inner loops of the matrix product: their multiplications, and no spills.

    scripts/check_kernel_loops.py build/release/liblattice.a

A tile keeps all of its sums in registers. Whether the compiler did so is seen in the code alone, which
also guards the targets that the machine at hand cannot run. For every kernel below, the innermost loop
with the most multiplications must hold exactly as many as rows x vectors of columns ask for, times a
small factor if it was unrolled, and must not touch vectors on the stack. Needs objdump. x86-64 only.
"""

import re
import sys

from disassembly import Instruction, functions_of

JUMP_TARGET = re.compile(r"^([0-9a-f]+)\b")
STACK_VECTOR = re.compile(r"\(%rsp\).*%[yz]mm|%[yz]mm.*\(%rsp\)")
MOST_UNROLLED = 4

# Part of the function's name, multiplication, how many of them one pass over the depth takes.
KERNELS = [
    (r"N_AVX2::tile<lattice::N_AVX2::F32Format, 6, 1>", "vfmadd", 6 * 2),
    (r"N_AVX2::tile<lattice::N_AVX2::F32Bf16Format, 6, 1>", "vfmadd", 6 * 2),
    (r"N_AVX2::tile_in_memory<lattice::N_AVX2::Q8Format, 6, 1>", "vpmaddwd", 6 * 2),
    (r"N_AVX3::tile<lattice::N_AVX3::F32Format, 12, 1>", "vfmadd", 12 * 2),
    (r"N_AVX3::tile<lattice::N_AVX3::F32Bf16Format, 12, 1>", "vfmadd", 12 * 2),
    (r"avx512bf16::\(anonymous namespace\)::tile<12, 1>", "vdpbf16ps", 12 * 2),
    # And the two sums of the weights.
    (r"avx512vnni::\(anonymous namespace\)::tile<12, 1>", "vpdpbusd", 12 * 2 + 2),
]


def innermost_loops(code: list[Instruction]) -> list[tuple[int, int]]:
    """First and last address of the loops that hold no other loop."""
    loops = []
    for address, name, operands in code:
        if name.startswith("j") and (match := JUMP_TARGET.match(operands)):
            if int(match[1], 16) <= address:
                loops.append((int(match[1], 16), address))
    return [loop for loop in loops
            if not any(other != loop and loop[0] <= other[0] and other[1] <= loop[1]
                       for other in loops)]


def problem_of(code: list[Instruction], multiplication: str, expected: int) -> str:
    """What is wrong with a kernel's inner loop, or nothing."""
    best, count = [], 0
    for first, last in innermost_loops(code):
        body = [line for line in code if first <= line[0] <= last]
        found = sum(name.startswith(multiplication) for _, name, _ in body)
        if found > count:
            best, count = body, found
    if count not in [expected * times for times in range(1, MOST_UNROLLED + 1)]:
        return f"expected {expected} {multiplication} in the inner loop, or a multiple, got {count}"
    spills = [f"{name} {operands}" for _, name, operands in best if STACK_VECTOR.search(operands)]
    return f"the inner loop spills: {spills[0]}" if spills else ""


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    kernels = {}
    for name, code in functions_of(sys.argv[1]):
        for pattern, _, _ in KERNELS:
            if re.search(pattern, name):
                kernels.setdefault(pattern, code)
    problems = []
    for pattern, multiplication, expected in KERNELS:
        code = kernels.get(pattern)
        problem = problem_of(code, multiplication, expected) if code else "not found"
        if problem:
            problems.append(f"{pattern}: {problem}")
    for line in problems:
        print(line)
    print(f"check_kernel_loops: {len(KERNELS)} kernels, {len(problems)} offences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
