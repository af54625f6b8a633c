"""lattice quantize: the copy, what it says, and what it leaves behind when it fails."""

import json
import os
import resource
import signal
import unittest

from cli_test import MODEL, RERANKER, TINY, TempCase, rows, run

QWEN = str(TINY / "qwen3-base")


class Quantize(TempCase):
    def quantize(self, model, name="out", **kwargs):
        return run("quantize", "-m", model, "-o", self.dir / name, "--type", "q8_0", **kwargs)

    def test_the_copy_gives_what_the_model_gives_in_q8_0(self):
        texts = ["the cat sat", "", "the moon is full"]
        for i, model in enumerate([MODEL, QWEN]):
            self.quantize(model, f"embed{i}")
            self.assertEqual(run("embed", "-m", self.dir / f"embed{i}", *texts).stdout,
                             run("embed", "-m", model, "--dtype", "q8_0", *texts).stdout)
        self.quantize(RERANKER, "rerank")
        query = ["--query", "What time is it?", *texts]
        self.assertEqual(run("rerank", "-m", self.dir / "rerank", *query).stdout,
                         run("rerank", "-m", RERANKER, "--dtype", "q8_0", *query).stdout)

    def test_dtypes_are_honoured_and_shown(self):
        self.quantize(MODEL)
        before = rows(run("info", "-m", MODEL, "--json"))[0]
        after = rows(run("info", "-m", self.dir / "out", "--json"))[0]
        self.assertEqual((before["stored_dtype"], before["compute_dtype"]), ("F32", "f32"))
        self.assertEqual((after["stored_dtype"], after["compute_dtype"]), ("Q8_0", "q8_0"))
        self.assertEqual(after["parameters"], before["parameters"])
        self.assertIn(b"stored as Q8_0, computed in q8_0", run("info", "-m", self.dir / "out").stdout)
        outputs = {run("embed", "-m", self.dir / "out", "--dtype", dtype, "the cat").stdout
                   for dtype in ["q8_0", "f32", "bf16"]}
        self.assertEqual(len(outputs), 3)
        for dtype in ["f32", "bf16"]:
            info = rows(run("info", "-m", self.dir / "out", "--dtype", dtype, "--json"))[0]
            self.assertEqual(info["compute_dtype"], dtype)

    def test_sizes_are_told(self):
        text = self.quantize(MODEL).stdout.decode()
        self.assertRegex(text, r"weights .* -> .* \(\d+ %\), 13 tensors in q8_0, \d+ as they were")
        report = rows(self.quantize_json(MODEL))[0]
        self.assertEqual(report["type"], "q8_0")
        self.assertEqual(report["tensors_quantized"], 13)
        self.assertEqual(report["bytes_before"], (TINY / "bert-mean/model.safetensors").stat().st_size)
        self.assertEqual(report["bytes_after"], (self.dir / "json/model.safetensors").stat().st_size)
        self.assertLess(report["bytes_after"], report["bytes_before"])
        self.assertEqual(report["weight_files"], ["model.safetensors"])

    def quantize_json(self, model):
        return run("quantize", "-m", model, "-o", self.dir / "json", "--json", "--quiet")

    def test_weights_that_are_not_copied_are_named(self):
        done = self.quantize(MODEL)
        self.assertIn(b"golden.safetensors", done.stderr)
        self.assertEqual(self.quantize_json(MODEL).stderr, b"")

    def test_the_config_keeps_its_keys_in_order(self):
        self.quantize(MODEL)
        before = json.loads((TINY / "bert-mean/config.json").read_text())
        after = json.loads((self.dir / "out/config.json").read_text())
        self.assertEqual(list(after), [*before, "quantization_config"])
        self.assertEqual(after.pop("quantization_config"),
                         {"quant_method": "lattice", "format": "q8_0", "block_size": 32})
        self.assertEqual(after, before)

    def test_refusals(self):
        (self.dir / "full").mkdir()
        self.write("full/file", "mine")
        self.assertIn(b"not empty", self.quantize(MODEL, "full", code=2).stderr)
        self.assertEqual(os.listdir(self.dir / "full"), ["file"])
        self.assertIn(b"outside the model", run("quantize", "-m", MODEL, "-o", MODEL, code=2).stderr)
        self.quantize(MODEL)
        self.assertIn(b"quantized already",
                      run("quantize", "-m", self.dir / "out", "-o", self.dir / "again", code=1).stderr)
        self.assertIn(b"nothing", self.quantize(self.dir / "nothing", "again", code=1).stderr)
        run("quantize", "-m", MODEL, "-o", self.dir / "again", "--type", "q3_1", code=2)
        run("quantize", "-m", MODEL, code=2)
        self.assertEqual(sorted(os.listdir(self.dir)), ["full", "out"])

    def test_a_full_disk_leaves_nothing(self):
        self.quantize(MODEL)
        size = (self.dir / "out/model.safetensors").stat().st_size

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size - 1, size - 1))

        done = self.quantize(MODEL, "limited", code=1, preexec_fn=limit)
        self.assertIn(b"model.safetensors: cannot write", done.stderr)
        self.assertEqual(os.listdir(self.dir), ["out"])
        done = self.quantize(MODEL, "none/out", code=1)
        self.assertIn(b"none/out", done.stderr)
        self.assertEqual(os.listdir(self.dir), ["out"])


if __name__ == "__main__":
    unittest.main()
