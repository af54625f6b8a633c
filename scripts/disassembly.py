"""Reads what objdump makes of compiled code; for programs that check it."""

import re
import subprocess
import sys
from collections.abc import Iterator

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(\S+)\s*(.*)$")

# Address, name and operands.
Instruction = tuple[int, str, str]


def output_of(command: list[str]) -> Iterator[str]:
    """The lines that `command` prints; ends the program when it fails."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        yield from process.stdout
    if process.returncode != 0:
        sys.exit(f"{sys.argv[0]}: {' '.join(command)} failed")


def functions_of(archive: str) -> Iterator[tuple[str, list[Instruction]]]:
    """Every function's demangled name and its instructions."""
    name, code = "", []
    for line in output_of(["objdump", "-d", "--demangle", "--no-show-raw-insn", archive]):
        line = line.rstrip("\n")
        if match := FUNCTION.match(line):
            if name:
                yield name, code
            name, code = match[1], []
        elif match := INSTRUCTION.match(line):
            code.append((int(match[1], 16), match[2], match[3]))
    if name:
        yield name, code
