#!/usr/bin/env python3
"""Checks the compiled library: no vector code outside the namespaces of its CPU target.

    scripts/check_objects.py [--expect-targets] build/dev/liblattice.a

Kernels are compiled once per CPU target, in namespaces N_AVX2, N_AVX3 and the like, or avxNAME for
hand-written ones. A function elsewhere that uses AVX registers or encodings would crash on a CPU
without them: typically a template of the standard library instantiated in target code. The library
also must not refer to functions that print or end the process (abort is left to CHECK).
--expect-targets also fails when no function at all is in a target namespace: then the names above have
changed and this check has stopped checking.
Needs objdump and nm (binutils). x86-64 only; elsewhere it checks the references alone.
"""

import re
import sys

from disassembly import functions_of, output_of

# AVX instructions begin with v, AVX-512 adds mask registers.
AVX = re.compile(r"v[a-z]\w*|k(?:mov|and|or|xor|not|shift|unpck)\w*")
NOT_AVX = {"verr", "verw"}
TARGET_NAMESPACE = re.compile(r"\bN_AVX[23]\w*::|\bavx\w*::")
BANNED = re.compile(r"^(?:exit|_exit|_Exit|quick_exit|printf|vprintf|puts|putchar|std::cout|std::cerr|"
                    r"std::clog|std::basic_regex.*)$")


def vector_leaks(archive: str) -> tuple[dict[str, str], int, int]:
    """Function -> first AVX instruction outside a target namespace; functions seen, and in targets."""
    leaks, seen, in_target = {}, 0, 0
    for function, code in functions_of(archive):
        seen += 1
        if TARGET_NAMESPACE.search(function):
            in_target += 1
            continue
        for _, name, operands in code:
            if (match := AVX.match(name)) and match[0] not in NOT_AVX:
                leaks.setdefault(function, f"{name} {operands}".strip())
    return leaks, seen, in_target


def banned_references(archive: str) -> list[str]:
    """object: symbol for every undefined symbol that a library must not use."""
    found, member = [], ""
    for line in output_of(["nm", "--demangle", "--undefined-only", archive]):
        line = line.rstrip("\n")
        if line.endswith(".o:"):
            member = line[:-1]
        elif match := re.match(r"\s+U (.+)$", line):
            name = re.sub(r"@.*$", "", match[1])
            if BANNED.match(name):
                found.append(f"{member}: refers to {name}")
    return found


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--expect-targets"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    problems = banned_references(arguments[0])
    leaks, seen, in_target = vector_leaks(arguments[0])
    problems += [f"{name}: {code}: vector code outside a target namespace"
                 for name, code in sorted(leaks.items())]
    if in_target == 0 and "--expect-targets" in sys.argv:
        problems.append("no function is in a target namespace (N_AVX2::, avx512...::)")
    for line in problems:
        print(line)
    if seen == 0:
        print(f"check_objects: no function in {arguments[0]}")
        return 1
    print(f"check_objects: {seen} functions, {in_target} in target namespaces, "
          f"{len(problems)} offences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
