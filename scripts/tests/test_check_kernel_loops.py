"""Unit test of check_kernel_loops.py: spills and missing multiplications in an inner loop."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import check_kernel_loops  # noqa: E402  style: allow(import) the program is not a package

FMA = ("vfmadd231ps", "%ymm0,%ymm1,%ymm2")
SPILL = ("vmovaps", "%ymm3,0x20(%rsp)")
RELOAD = ("vaddps", "0x20(%rsp),%ymm3,%ymm3")


def code_of(before, loop, after):
    """Instructions at addresses 0, 1, ...; `loop` ends with a jump to its start."""
    lines = [*before, *loop, ("jne", f"{len(before):x} <tile+{len(before):#x}>"), *after]
    return [(address, name, operands) for address, (name, operands) in enumerate(lines)]


class KernelLoopsTest(unittest.TestCase):
    def problem(self, before, loop, after=()):
        return check_kernel_loops.problem_of(code_of(before, loop, list(after)), "vfmadd", 2)

    def test_a_loop_of_multiplications_is_accepted(self):
        self.assertEqual(self.problem([], [FMA, FMA]), "")
        self.assertEqual(self.problem([], [FMA] * 4), "", "unrolled once")

    def test_stack_accesses_outside_of_the_loop_are_accepted(self):
        self.assertEqual(self.problem([SPILL], [FMA, FMA], [RELOAD]), "")

    def test_spills_are_found(self):
        self.assertIn("spills", self.problem([], [FMA, SPILL, FMA]))
        self.assertIn("spills", self.problem([], [FMA, FMA, RELOAD]))

    def test_missing_and_extra_multiplications_are_found(self):
        self.assertIn("got 1", self.problem([], [FMA]))
        self.assertIn("got 3", self.problem([FMA], [FMA] * 3))
        self.assertIn("got 0", self.problem([FMA, FMA], [SPILL]))

    def test_only_the_innermost_loop_counts(self):
        lines = [SPILL, FMA, FMA, ("jne", "1 <tile+0x1>"), SPILL, ("jne", "0 <tile>")]
        code = [(address, name, operands) for address, (name, operands) in enumerate(lines)]
        self.assertEqual(check_kernel_loops.problem_of(code, "vfmadd", 2), "")


if __name__ == "__main__":
    unittest.main()
