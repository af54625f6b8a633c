"""Unit tests of chart.py."""

import pathlib
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sample  # noqa: E402

import chart  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def picture(*measurements):
    return ElementTree.fromstring(chart.svg(sample.results(*measurements)))


class ChartTest(unittest.TestCase):
    def test_the_fastest_is_first_and_longest(self):
        root = picture(sample.measurement("minilm/32x128", {
            "onnxruntime-fp32": 1.0, "lattice-f32": 0.5, "torch-fp32": 2.0}))
        bars = root.findall(f"{SVG}rect")
        self.assertEqual([float(bar.get("width")) for bar in bars],
                         [chart.BAR_WIDTH, chart.BAR_WIDTH / 2, chart.BAR_WIDTH / 4 + 0.0])
        self.assertEqual(bars[0].get("class"), "bar ours")

    def test_the_dashed_line_is_at_the_base(self):
        root = picture(sample.measurement("minilm/32x128", {
            "onnxruntime-fp32": 1.0, "lattice-f32": 0.5}))
        line, bars = root.find(f"{SVG}line"), root.findall(f"{SVG}rect")
        self.assertEqual(float(line.get("x1")),
                         float(bars[1].get("x")) + float(bars[1].get("width")))

    def test_values_carry_their_unit(self):
        root = picture(sample.measurement("cross/ragged", {"onnxruntime-fp32": 1.0},
                                          kind="score", rows=100))
        texts = [text.text for text in root.findall(f"{SVG}text")]
        self.assertIn("100 pairs/s", texts)
        self.assertIn("reranking 100 documents of mixed lengths, 2 threads", texts)

    def test_nothing_leaves_the_picture(self):
        root = picture(*(sample.measurement(workload, {
            "onnxruntime-fp32": 1.0, "lattice-f32": 0.5, "lattice-q8_0": 0.3})
            for workload, _ in chart.PANELS))
        width, height = float(root.get("width")), float(root.get("height"))
        for bar in root.findall(f"{SVG}rect"):
            self.assertLess(float(bar.get("x")) + float(bar.get("width")), width)
            self.assertLess(float(bar.get("y")) + float(bar.get("height")), height)

    def test_light_and_dark(self):
        self.assertIn("prefers-color-scheme: dark", chart.svg(sample.results()))


if __name__ == "__main__":
    unittest.main()
