"""Unit test of the judge of ctest's results: it must not take a skipped or missing test for passed."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "testing"))
import junit  # noqa: E402
import run  # noqa: E402

PASSED = '<testcase name="a" status="run"><system-out>fine</system-out></testcase>'
FAILED = '<testcase name="b" status="fail"><failure message="wrong"/></testcase>'
DISABLED = '<testcase name="c" status="disabled"/>'
NOT_BUILT = '<testcase name="d" status="notrun"><skipped message="Unable to find executable"/></testcase>'


def skipped(*reasons: str) -> str:
    output = "".join(f"/x/a_test.cc:7: Skipped\n{reason}\n\n" for reason in reasons)
    return ('<testcase name="e" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
            f"<system-out>[ RUN      ] A.b\n{output}[  SKIPPED ] A.b (0 ms)\n</system-out></testcase>")


class JunitTest(unittest.TestCase):
    def counts(self, *cases: str) -> tuple[int, int, int]:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "result.xml")
            path.write_text(f'<?xml version="1.0"?><testsuite>{"".join(cases)}</testsuite>')
            outcome = junit.read(path)
            self.assertEqual(len(outcome.failures), outcome.failed)
            self.assertEqual(len(outcome.skips), outcome.skipped)
            return outcome.passed, outcome.failed, outcome.skipped

    def test_passed_and_failed(self):
        self.assertEqual(self.counts(PASSED, PASSED, FAILED), (2, 1, 0))

    def test_skips_count_as_failures(self):
        self.assertEqual(self.counts(PASSED, skipped("the model is not there")), (1, 1, 0))
        self.assertEqual(self.counts(PASSED, skipped("")), (1, 1, 0))
        self.assertEqual(self.counts(PASSED, skipped()), (1, 1, 0))
        self.assertEqual(self.counts(PASSED, skipped("hardware: no GPU", "too slow")), (1, 1, 0))

    def test_absent_hardware_may_be_skipped(self):
        self.assertEqual(self.counts(PASSED, skipped("hardware: no AVX-512")), (1, 0, 1))
        self.assertEqual(self.counts(PASSED, skipped("hardware absent: no GPU")), (1, 0, 1))

    def test_disabled_and_not_built_are_failures(self):
        self.assertEqual(self.counts(PASSED, DISABLED, NOT_BUILT), (1, 2, 0))

    def test_nothing_ran(self):
        self.assertEqual(self.counts(), (0, 1, 0))
        self.assertEqual(junit.read(pathlib.Path("/nonexistent.xml")).failed, 1)

    def test_summary_line(self):
        self.assertEqual(run.summary(junit.Outcome(passed=3, failed=1)), "3 passed, 1 failed")
        self.assertEqual(run.summary(junit.Outcome(passed=3, skipped=2)),
                         "3 passed, 0 failed, 2 skipped")


if __name__ == "__main__":
    unittest.main()
