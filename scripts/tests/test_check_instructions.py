"""Unit test of check_instructions.py: what counts as too many instructions."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import check_instructions  # noqa: E402  style: allow(import) the program is not a package


class InstructionsTest(unittest.TestCase):
    def problems(self, counts, recorded):
        return "\n".join(check_instructions.problems_of(counts, recorded))

    def test_a_tenth_more_is_allowed(self):
        self.assertEqual(self.problems({"a": 1100}, {"a": 1000}), "")
        self.assertEqual(self.problems({"a": 500}, {"a": 1000}), "")

    def test_more_than_a_tenth_is_named(self):
        self.assertIn("a: 1,101 instructions, 10.1 % above the 1,000", self.problems({"a": 1101}, {"a": 1000}))

    def test_cases_on_one_side_only_are_named(self):
        self.assertIn("b: not in counts.json", self.problems({"a": 1, "b": 1}, {"a": 1}))
        self.assertIn("b: not in the probe", self.problems({"a": 1}, {"a": 1, "b": 1}))


if __name__ == "__main__":
    unittest.main()
