"""Peak memory of the program: loading must not hold a weight twice. LATTICE_CLI names the binary."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy

CLI = os.environ["LATTICE_CLI"]
TINY = Path(os.environ["LATTICE_SOURCE_DIR"]) / "tests/golden/tiny/bert-mean"
HIDDEN, INNER, LAYERS = 640, 2560, 12


def shapes(vocab_size, max_positions):
    yield "embeddings.word_embeddings.weight", (vocab_size, HIDDEN)
    yield "embeddings.position_embeddings.weight", (max_positions, HIDDEN)
    yield "embeddings.token_type_embeddings.weight", (2, HIDDEN)
    yield "embeddings.LayerNorm.weight", (HIDDEN,)
    yield "embeddings.LayerNorm.bias", (HIDDEN,)
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        linears = [("attention.self.query", HIDDEN, HIDDEN), ("attention.self.key", HIDDEN, HIDDEN),
                   ("attention.self.value", HIDDEN, HIDDEN),
                   ("attention.output.dense", HIDDEN, HIDDEN),
                   ("intermediate.dense", INNER, HIDDEN), ("output.dense", HIDDEN, INNER)]
        for name, out, inp in linears:
            yield layer + name + ".weight", (out, inp)
            yield layer + name + ".bias", (out,)
        for name in ["attention.output.LayerNorm", "output.LayerNorm"]:
            yield layer + name + ".weight", (HIDDEN,)
            yield layer + name + ".bias", (HIDDEN,)


def write_safetensors(path, tensors, dtype):
    """Random weights of seed 1; `dtype` is F32 or BF16."""
    size = {"F32": 4, "BF16": 2}[dtype]
    header, offset = {}, 0
    for name, shape in tensors:
        end = offset + size * int(numpy.prod(shape))
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    random = numpy.random.default_rng(1)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in tensors:
            scale = shape[-1] ** -0.5 if len(shape) == 2 else 0.1
            values = (random.standard_normal(shape) * scale).astype("<f4")
            if dtype == "BF16":
                values = (values.view("<u4") >> 16).astype("<u2")
            file.write(values.tobytes())
    return offset


def make_model(folder, dtype):
    """A BERT of about 60 million parameters with the tiny model's tokenizer; its weights' bytes."""
    shutil.copytree(TINY, folder, dirs_exist_ok=True)
    config = json.loads((folder / "config.json").read_text())
    config.update(hidden_size=HIDDEN, intermediate_size=INNER, num_hidden_layers=LAYERS,
                  num_attention_heads=10)
    (folder / "config.json").write_text(json.dumps(config))
    pooling = json.loads((folder / "1_Pooling/config.json").read_text())
    pooling["word_embedding_dimension"] = HIDDEN
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))
    tensors = list(shapes(config["vocab_size"], config["max_position_embeddings"]))
    return write_safetensors(folder / "model.safetensors", tensors, dtype)


def peak_bytes(model, dtype):
    """Peak resident memory of one embedding call, as the program's own process reports it."""
    command = [CLI, "bench", "-m", str(model), "--dtype", dtype, "--shape", "8x32", "--seconds", "0",
               "--warmup", "0", "--json"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=240)
    return json.loads(done.stdout)["peak_rss_bytes"]


# A small parent: the peak that the system reports for a program begins with that of its parent.
MEASURE = """
import os, sys
child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
assert status == 0, status
print(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


def quantize(model, output):
    """Makes a quantized copy; the program's peak resident memory."""
    command = [sys.executable, "-S", "-c", MEASURE, CLI, "quantize", "-m", model, "-o", output]
    done = subprocess.run(list(map(str, command)), capture_output=True, check=True, timeout=240)
    return int(done.stdout.splitlines()[-1])


class PeakMemory(unittest.TestCase):
    def check(self, stored, dtype):
        with tempfile.TemporaryDirectory() as folder:
            weights = make_model(Path(folder), stored)
            base = peak_bytes(TINY, dtype)
            peak = peak_bytes(folder, dtype)
        self.assertGreater(weights, 100 << 20)
        self.assertGreater(peak, weights * 0.8, "the weights were not used")
        # The program itself, and the activations of 256 tokens (under 16 MiB), come on top.
        self.assertLess(peak, 1.15 * weights + base + (16 << 20))

    def test_f32_weights_in_f32(self):
        self.check("F32", "f32")

    def test_bf16_weights_in_bf16(self):
        self.check("BF16", "bf16")

    def test_quantizing_streams_and_its_copy_loads_in_its_own_size(self):
        with tempfile.TemporaryDirectory() as folder:
            model, copy = Path(folder, "model"), Path(folder, "copy")
            before = make_model(model, "BF16")
            base = quantize(TINY, Path(folder, "tiny"))
            peak = quantize(model, copy)
            weights = (copy / "model.safetensors").stat().st_size
            loaded_base, loaded = peak_bytes(TINY, "q8_0"), peak_bytes(copy, "auto")
        self.assertLess(weights, 0.55 * before)
        self.assertLess(peak, base + (16 << 20), "more than one tensor is held")
        self.assertGreater(loaded, weights * 0.8, "the weights were not used")
        self.assertLess(loaded, 1.15 * weights + loaded_base + (16 << 20))


if __name__ == "__main__":
    unittest.main()
