"""The engines by name. Nothing here imports a peer: that is for its own process."""

from __future__ import annotations

import fnmatch
import os
import sys
from dataclasses import dataclass
from pathlib import Path

WORKER = Path(__file__).resolve().parents[1] / "worker.py"


@dataclass(frozen=True)
class Spec:
    """An engine with the arithmetic that it computes in."""

    name: str
    label: str
    module: str  # of this package; lattice has a program of its own instead
    adapter: str
    variant: str
    packages: tuple[str, ...]  # whose versions are recorded

    @property
    def is_lattice(self) -> bool:
        return self.module == "lattice"

    def interpreter(self) -> str:
        """llama-cpp-python is built from source, and may have an environment of its own."""
        own = os.environ.get("LATTICE_LLAMA_PYTHON") if self.module == "llama_cpp" else None
        return own or sys.executable

    def command(self, options: dict) -> list[str]:
        """The worker process; `options` are the fields of engines.base.Setting but the variant,
        and `lattice`, the program."""
        if self.is_lattice:
            return [str(options["lattice"]), str(options["model_dir"]), self.variant,
                    str(options["threads"])]
        return [self.interpreter(), str(WORKER), self.name, str(options["model_dir"]),
                options["kind"], str(options["threads"]), str(options["cache"]),
                str(options["batch_size"])]


def _spec(name: str, label: str, adapter: str, *packages: str) -> Spec:
    module, _, variant = name.partition("-")
    return Spec(name, label, module, adapter, variant, packages)


ALL = [
    _spec("lattice-f32", "lattice f32", ""),
    _spec("lattice-bf16", "lattice bf16", ""),
    _spec("lattice-q8_0", "lattice q8_0", ""),
    _spec("onnxruntime-fp32", "ONNX Runtime fp32", "OnnxRuntime", "onnxruntime"),
    _spec("onnxruntime-int8", "ONNX Runtime int8", "OnnxRuntime", "onnxruntime"),
    _spec("openvino-default", "OpenVINO", "OpenVino", "openvino"),
    _spec("openvino-int8", "OpenVINO int8", "OpenVino", "openvino", "nncf"),
    _spec("ctranslate2-float32", "CTranslate2 fp32", "CTranslate2", "ctranslate2"),
    _spec("ctranslate2-int8", "CTranslate2 int8", "CTranslate2", "ctranslate2"),
    _spec("torch-fp32", "PyTorch fp32", "Torch", "torch", "sentence-transformers",
          "transformers"),
    _spec("torch-bf16", "PyTorch bf16", "Torch", "torch", "sentence-transformers",
          "transformers"),
    _spec("fastembed-fp32", "fastembed", "FastEmbed", "fastembed"),
    _spec("llama_cpp-f16", "llama.cpp f16", "LlamaCpp", "llama-cpp-python"),
    _spec("llama_cpp-bf16", "llama.cpp bf16", "LlamaCpp", "llama-cpp-python"),
    _spec("llama_cpp-q8_0", "llama.cpp q8_0", "LlamaCpp", "llama-cpp-python"),
]
REFERENCE = "torch-fp32"  # whose outputs, row by row, accuracy is measured against
BASES = ("onnxruntime-fp32", "torch-fp32", "lattice-f32")  # the first that ran: ratio 1


def by_name(name: str) -> Spec:
    return next(spec for spec in ALL if spec.name == name)


def select(patterns: str) -> list[Spec]:
    """The engines that one of the comma-separated patterns (lattice-*, *int8) names."""
    wanted = patterns.split(",")
    for pattern in wanted:
        if not any(fnmatch.fnmatch(spec.name, pattern) for spec in ALL):
            names = ", ".join(spec.name for spec in ALL)
            raise SystemExit(f"--engines: {pattern} names none of {names}")
    return [spec for spec in ALL if any(fnmatch.fnmatch(spec.name, one) for one in wanted)]
