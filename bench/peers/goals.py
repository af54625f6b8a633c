"""The goals for two threads of a CPU, beside what was measured. Standard library only.

The times and rates among them were set for a processor with AVX-512, VNNI and BF16; the ratios
hold for any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import protocol
from found import Found, amount

THREADS = 2
BYTES_PER_WEIGHT = {"lattice-f32": 2.0, "lattice-bf16": 2.0, "lattice-q8_0": 34 / 32}
# What a check says, and whether it holds; None: not measured.
Verdict = tuple[str, bool] | None
Check = Callable[[Found], Verdict]


@dataclass(frozen=True)
class Goal:
    number: int
    what: str
    target: str
    checks: tuple[Check, ...]

    def verdict(self, found: Found) -> Verdict:
        """All that was measured of it; it is reached when every part of that is."""
        verdicts = [verdict for check in self.checks if (verdict := check(found)) is not None]
        if not verdicts:
            return None
        return "; ".join(text for text, _ in verdicts), all(holds for _, holds in verdicts)


def faster(workload: str, name: str, base: str, factor: float) -> Check:
    """`name` is so many times as fast as `base`."""
    def check(found: Found) -> Verdict:
        ratio = found.ratio(workload, THREADS, (name, base))
        if ratio is None:
            return None
        text = f"{ratio['median']:.2f}x {base} ({workload})"
        return text, ratio["median"] >= factor
    return check


def within(workload: str, name: str, seconds: float) -> Check:
    """One run takes at most so long."""
    def check(found: Found) -> Verdict:
        engine = found.engine(workload, THREADS, name)
        if engine is None:
            return None
        took = engine["seconds"]["median"]
        return f"{took * 1e3:.1f} ms ({workload})", took <= seconds
    return check


def rate(workload: str, name: str, least: float) -> Check:
    """At least so many tokens pass in a second."""
    def check(found: Found) -> Verdict:
        engine = found.engine(workload, THREADS, name)
        if engine is None:
            return None
        count, unit = amount(found.row(workload, THREADS))
        value = count / engine["seconds"]["median"]
        return f"{value:,.0f} {unit} ({workload})", value >= least
    return check


def exact(workload: str, name: str, least: float) -> Check:
    """No vector's cosine with the reference is below."""
    def check(found: Found) -> Verdict:
        engine = found.engine(workload, THREADS, name)
        cosine = (engine or {}).get("accuracy", {}).get("min_cosine")
        return None if cosine is None else (f"cosine {cosine:.5f}", cosine >= least)
    return check


def bandwidth(workload: str, name: str, least: float) -> Check:
    """A token takes little longer than reading the weights does."""
    def check(found: Found) -> Verdict:
        row = found.row(workload, THREADS)
        if row is None or name not in row["engines"]:
            return None
        size = row["matrix_elements"] * BYTES_PER_WEIGHT[name]
        share = protocol.share_of_bandwidth(row["records"], name, size)
        return f"{share:.0%} of what the threads can read", share >= least
    return check


ORT, ORT8, OPENVINO, TORCH = ("onnxruntime-fp32", "onnxruntime-int8", "openvino-default",
                              "torch-fp32")
GOALS = (
    Goal(1, "bge-small, MiniLM, fp32", "1.25x ONNX Runtime, as fast as OpenVINO and PyTorch",
         tuple(faster(f"{model}/32x128", "lattice-f32", base, factor)
               for model in ("bge-small", "minilm")
               for base, factor in ((ORT, 1.25), (OPENVINO, 1.0), (TORCH, 1.0)))),
    Goal(2, "the same, bf16", "2.2x ONNX Runtime fp32, cosine at least 0.9995",
         tuple(check for model in ("bge-small", "minilm") for check in (
             faster(f"{model}/32x128", "lattice-bf16", ORT, 2.2),
             exact(f"{model}/32x128", "lattice-bf16", 0.9995)))),
    Goal(3, "the same, 8 bits", "1.7x ONNX Runtime int8, cosine at least 0.999",
         tuple(check for model in ("bge-small", "minilm") for check in (
             faster(f"{model}/32x128", "lattice-q8_0", ORT8, 1.7),
             exact(f"{model}/32x128", "lattice-q8_0", 0.999)))),
    Goal(4, "bge-small, texts of 512 tokens, 8 bits", "1.8x ONNX Runtime int8",
         (faster("bge-small/32x512", "lattice-q8_0", ORT8, 1.8),)),
    Goal(5, "bge-small, one text of 32 tokens", "2.3 ms, 2x ONNX Runtime int8",
         (within("bge-small/1x32", "lattice-q8_0", 2.3e-3),
          faster("bge-small/1x32", "lattice-q8_0", ORT8, 2.0))),
    Goal(6, "100 ragged pairs, MiniLM's shape", "3x ONNX Runtime int8",
         (faster("cross/ragged", "lattice-q8_0", ORT8, 3.0),)),
    Goal(7, "Qwen3-0.6B, 512 tokens, 8 bits", "570 tokens/s",
         (rate("qwen3-0.6b/1x512", "lattice-q8_0", 570),)),
    Goal(8, "the same, bf16", "as fast as PyTorch bf16 and OpenVINO",
         tuple(faster("qwen3-0.6b/1x512", "lattice-bf16", base, 1.0)
               for base in ("torch-bf16", OPENVINO))),
    Goal(9, "Qwen3.5-0.8B, prompt of 512 tokens", "1.6x ik_llama.cpp, which had 311 tokens/s",
         (rate("qwen3.5-0.8b/prefill-512", "lattice-q8_0", 1.6 * 311),)),
    Goal(10, "Qwen3.5-0.8B, a further token, 8 bits", "90 % of what can be read from memory",
         (bandwidth("qwen3.5-0.8b/decode", "lattice-q8_0", 0.9),)),
    Goal(11, "bge-small, a cold process's first vector", "60 ms",
         (within("bge-small/start", "lattice-f32", 60e-3),)),
)


def table(found: Found) -> list[str]:
    """Markdown lines."""
    lines = ["| # | what | goal | measured | reached |", "|---|---|---|---|---|"]
    for goal in GOALS:
        verdict = goal.verdict(found)
        text, word = ("not measured", "") if verdict is None else (
            verdict[0], "yes" if verdict[1] else "no")
        lines.append(f"| {goal.number} | {goal.what} | {goal.target} | {text} | {word} |")
    return lines
