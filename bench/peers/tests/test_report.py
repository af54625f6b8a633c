"""Unit tests of report.py and goals.py."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sample  # noqa: E402

import goals  # noqa: E402
import report  # noqa: E402
from found import Found  # noqa: E402


def rows_of(text, start):
    """The table rows whose first cell is `start`."""
    return [line for line in text.splitlines() if line.startswith(f"| {start} |")]


class ReportTest(unittest.TestCase):
    def test_throughput_ratio_and_accuracy_are_in_one_row(self):
        text = report.markdown(sample.results(sample.measurement(
            "minilm/32x128", {"onnxruntime-fp32": 1.0, "lattice-f32": 0.5})))
        self.assertEqual(rows_of(text, "lattice f32"), [
            "| lattice f32 | 8,192, 2.00 [2.00, 2.00] | 0.999910 | 0.999950 | 1.5e-03 |"])
        self.assertEqual(rows_of(text, "ONNX Runtime fp32")[0].split(" | ")[1], "4,096")

    def test_one_text_is_shown_by_its_time(self):
        text = report.markdown(sample.results(sample.measurement(
            "minilm/1x128", {"onnxruntime-fp32": 0.01234, "torch-fp32": 0.1}, rows=1)))
        self.assertIn("| ONNX Runtime fp32 | 12.3 ms |", text)
        self.assertIn("| PyTorch fp32 | 100 ms, 0.12 [0.12, 0.12] |", text)

    def test_a_noisy_row_says_so(self):
        row = sample.measurement("minilm/32x128", {"onnxruntime-fp32": 1.0})
        row["engines"]["onnxruntime-fp32"]["noisy"] = True
        self.assertIn("| ONNX Runtime fp32 | 4,096 ~ |", report.markdown(sample.results(row)))

    def test_an_engine_that_could_not_run_has_a_dash_and_a_reason(self):
        one = sample.measurement("minilm/32x128", {"onnxruntime-fp32": 1.0, "fastembed-fp32": 1.0})
        two = sample.measurement("minilm/32x512", {"onnxruntime-fp32": 1.0},
                                 unavailable={"fastembed-fp32": "no a|b"})
        text = report.markdown(sample.results(one, two))
        self.assertRegex(rows_of(text, "fastembed")[0], r"4,096, 1\.00 \[.*\] \| - \|")
        self.assertIn("| fastembed | minilm/32x512 | no a/b |", text)

    def test_fewer_rounds_than_wanted_are_said(self):
        row = sample.measurement("minilm/32x128", {"onnxruntime-fp32": 1.0}, rounds_wanted=11)
        self.assertIn("| 6 of 11: the time limit was reached |",
                      report.markdown(sample.results(row)))

    def test_cold_starts_have_a_table_of_their_own(self):
        text = report.markdown(sample.results(sample.measurement(
            "minilm/start", {"onnxruntime-fp32": 0.5}, kind="start", rows=1)))
        self.assertIn("| ONNX Runtime fp32 | 500 ms | 100 ms | 64 MiB |", text)

    def test_generation_shows_divergence(self):
        row = sample.measurement("qwen3.5-0.8b/decode", {"torch-fp32": 0.5}, kind="decode", rows=1)
        row["engines"]["torch-fp32"]["accuracy"] = {"max_abs": 0.25, "mean_kl": 0.002,
                                                    "max_kl": 0.01, "top1": 0.75}
        text = report.markdown(sample.results(row))
        self.assertIn("| PyTorch fp32 | 2.0 | KL 2.0e-03 | top-1 75.0% | 2.5e-01 |", text)

    def test_the_chart_is_shown_where_there_is_one(self):
        self.assertIn("(images/a.svg)", report.markdown(sample.results(), "images/a.svg"))
        self.assertNotIn("![", report.markdown(sample.results()))

    def test_every_row_of_a_table_has_as_many_cells(self):
        text = report.markdown(sample.results(
            sample.measurement("minilm/32x128", {"onnxruntime-fp32": 1.0, "lattice-f32": 0.5}),
            sample.measurement("minilm/ragged", {"onnxruntime-fp32": 1.0}),
            sample.measurement("cross/ragged", {"onnxruntime-int8": 1.0}, kind="score")))
        for table in text.split("\n\n"):
            counts = {line.count("|") for line in table.splitlines() if line.startswith("|")}
            self.assertLessEqual(len(counts), 1, table)


class GoalsTest(unittest.TestCase):
    def verdict(self, number, *measurements):
        goal = next(goal for goal in goals.GOALS if goal.number == number)
        return goal.verdict(Found(sample.results(*measurements)))

    def test_not_measured(self):
        self.assertIsNone(self.verdict(1))
        self.assertTrue(all("not measured" in line for line in
                            goals.table(Found(sample.results()))[2:]))

    def test_reached_by_all_parts_only(self):
        fast = {"onnxruntime-int8": 2.0, "lattice-q8_0": 1.0}
        reached = self.verdict(3, sample.measurement("minilm/32x128", fast))
        self.assertEqual(reached, ("2.00x onnxruntime-int8 (minilm/32x128); cosine 0.99991", True))
        slow = {"onnxruntime-int8": 1.0, "lattice-q8_0": 1.0}
        self.assertFalse(self.verdict(3, sample.measurement("minilm/32x128", fast),
                                      sample.measurement("bge-small/32x128", slow))[1])

    def test_share_of_the_bandwidth(self):
        row = sample.measurement("qwen3.5-0.8b/decode", {"lattice-q8_0": 0.05}, kind="decode",
                                 matrix_elements=int(0.95 * 20e9 * 0.05 * 32 / 34))
        self.assertEqual(self.verdict(10, row), ("95% of what the threads can read", True))


if __name__ == "__main__":
    unittest.main()
