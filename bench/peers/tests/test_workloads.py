"""Unit tests of workloads.py, results.py and the registry of engines."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sample  # noqa: E402

import engines  # noqa: E402
import models  # noqa: E402
import workloads  # noqa: E402
from results import Results  # noqa: E402


class WorkloadsTest(unittest.TestCase):
    def test_names_are_unique_and_models_known(self):
        names = [workload.name for workload in workloads.ALL]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({workload.model for workload in workloads.ALL}, set(models.WHAT))

    def test_ragged_lengths_are_the_same_every_time(self):
        lengths = workloads.ragged(64, 8, 1)
        self.assertEqual(lengths, workloads.ragged(64, 8, 1))
        self.assertEqual((len(lengths), min(lengths), max(lengths)), (64, 8, workloads.LONGEST))

    def test_patterns_select_in_order(self):
        names = [workload.name for workload in workloads.select("cross/*,minilm/1x16")]
        self.assertEqual(names, ["minilm/1x16", "cross/100x128", "cross/ragged"])
        with self.assertRaises(SystemExit):
            workloads.select("minilm/1x17")

    def test_quick_is_small(self):
        for workload in workloads.ALL:
            small = workloads.quick(workload)
            self.assertLessEqual(len(small.lengths), workloads.QUICK_ROWS)
            self.assertEqual(small.name, workload.name)


class EnginesTest(unittest.TestCase):
    def test_every_adapter_has_its_file(self):
        folder = pathlib.Path(engines.__file__).parent
        for spec in engines.ALL:
            if not spec.is_lattice:
                text = (folder / f"{spec.module}.py").read_text()
                self.assertIn(f"class {spec.adapter}(", text)

    def test_patterns(self):
        names = [spec.name for spec in engines.select("*int8,lattice-f32")]
        self.assertEqual(names, ["lattice-f32", "onnxruntime-int8", "openvino-int8",
                                 "ctranslate2-int8"])
        with self.assertRaises(SystemExit):
            engines.select("nothing")


class ResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "results.json"

    def test_a_run_goes_on_where_it_ended(self):
        Results(self.path, keep=False).add(sample.measurement(
            "minilm/1x16", {"lattice-f32": 1.0}, unavailable={"fastembed-fp32": "why"}))
        again = Results(self.path, keep=True)
        self.assertTrue(again.has("minilm/1x16", 2, ["lattice-f32", "fastembed-fp32"]))
        self.assertFalse(again.has("minilm/1x16", 2, ["torch-fp32"]))
        self.assertFalse(again.has("minilm/1x16", 1, ["lattice-f32"]))
        self.assertFalse(Results(self.path, keep=False).has("minilm/1x16", 2, ["lattice-f32"]))

    def test_the_last_measurement_counts(self):
        results = Results(self.path, keep=False)
        for seconds in (1.0, 2.0):
            results.add(sample.measurement("minilm/1x16", {"lattice-f32": seconds}))
        rows = json.loads(self.path.read_text())["measurements"]
        self.assertEqual([row["engines"]["lattice-f32"]["seconds"]["median"] for row in rows],
                         [2.0])

    def test_another_format_is_refused(self):
        self.path.write_text('{"format": 1}')
        with self.assertRaises(SystemExit):
            Results(self.path, keep=True)


if __name__ == "__main__":
    unittest.main()
