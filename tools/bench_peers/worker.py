"""One engine in one process, driven by JSON lines on standard input.

    python worker.py ENGINE MODEL_DIR THREADS ONNX_FILE

Commands: {"op": "load"}, {"op": "run", "workload": {...}, "mode": "ids"|"text", "seconds": S},
{"op": "embed", "texts": [...]}, {"op": "rss"}. Each is answered by one JSON line.
A workload is {"texts": [...], "ids": [[...]]}: rows of equal length, so that nothing is padded.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path


class SentenceTransformersEngine:
    """PyTorch on CPU with the attention that the library picks itself."""

    dtype = "float32"

    def __init__(self, model_dir: str, threads: int, _onnx: str) -> None:
        import sentence_transformers
        import torch

        self.torch, self.library = torch, sentence_transformers
        self.model_dir = model_dir
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)

    def load(self) -> None:
        self.model = self.library.SentenceTransformer(
            self.model_dir, device="cpu", local_files_only=True,
            model_kwargs={"dtype": getattr(self.torch, self.dtype)})
        self.model.eval()

    def run_ids(self, ids: list[list[int]]):
        torch = self.torch
        tokens = torch.tensor(ids)
        features = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens),
                    "token_type_ids": torch.zeros_like(tokens), "modality": "text"}
        with torch.inference_mode():
            return self.model(features)["sentence_embedding"].float().numpy()

    def run_texts(self, texts: list[str]):
        return self.model.encode(texts, batch_size=len(texts), show_progress_bar=False)


class BFloat16Engine(SentenceTransformersEngine):
    """The same with weights and arithmetic in bfloat16."""

    dtype = "bfloat16"


class OnnxRuntimeEngine:
    """ONNX Runtime on CPU in float32; tokenizers in front, pooling in NumPy behind."""

    def __init__(self, model_dir: str, threads: int, onnx: str) -> None:
        import numpy
        import onnxruntime
        import tokenizers

        self.np, self.library, self.tokenizers = numpy, onnxruntime, tokenizers
        self.dir, self.onnx, self.threads = Path(model_dir), onnx, threads

    def load(self) -> None:
        options = self.library.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        level = self.library.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.graph_optimization_level = level
        self.session = self.library.InferenceSession(
            self.onnx, options, providers=["CPUExecutionProvider"])
        self.inputs = {value.name for value in self.session.get_inputs()}
        self.tokenizer = self.tokenizers.Tokenizer.from_file(str(self.dir / "tokenizer.json"))
        config = json.loads((self.dir / "sentence_bert_config.json").read_text())
        self.tokenizer.enable_truncation(config["max_seq_length"])
        self.tokenizer.enable_padding()
        pooling = json.loads((self.dir / "1_Pooling" / "config.json").read_text())
        modes = [key for key in pooling if key.startswith("pooling_mode_") and pooling[key]]
        mode = pooling.get("pooling_mode", modes[0] if len(modes) == 1 else None)
        self.mode = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}.get(
            mode, mode)
        if self.mode not in ("cls", "mean"):
            raise SystemExit(f"ONNX Runtime peer: pooling {mode} is not written here")
        modules = json.loads((self.dir / "modules.json").read_text())
        kinds = [module["type"].rsplit(".", 1)[-1] for module in modules]
        if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
            raise SystemExit(f"ONNX Runtime peer: module chain {kinds} is not written here")
        self.normalize = kinds[-1] == "Normalize"

    def _forward(self, ids, mask, types):
        np = self.np
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        feed = {name: value for name, value in feed.items() if name in self.inputs}
        hidden = self.session.run(None, feed)[0]
        if self.mode == "cls":
            pooled = hidden[:, 0]
        else:
            weights = mask[..., None].astype(np.float32)
            pooled = (hidden * weights).sum(1) / weights.sum(1)
        if self.normalize:
            pooled = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)
        return pooled

    def run_ids(self, ids: list[list[int]]):
        tokens = self.np.array(ids, dtype=self.np.int64)
        return self._forward(tokens, self.np.ones_like(tokens), self.np.zeros_like(tokens))

    def run_texts(self, texts: list[str]):
        np = self.np
        encodings = self.tokenizer.encode_batch(texts)
        arrays = (np.array([getattr(e, field) for e in encodings], dtype=np.int64)
                  for field in ("ids", "attention_mask", "type_ids"))
        return self._forward(*arrays)


class CrossEncoderEngine(SentenceTransformersEngine):
    """sentence-transformers' CrossEncoder: logits of pairs."""

    def load(self) -> None:
        self.model = self.library.CrossEncoder(self.model_dir, device="cpu",
                                               local_files_only=True)
        self.model.eval()

    def run_ids(self, ids: list[list[int]]):
        torch = self.torch
        tokens = torch.tensor(ids)
        with torch.inference_mode():
            return self.model.transformers_model(
                input_ids=tokens, attention_mask=torch.ones_like(tokens),
                token_type_ids=torch.zeros_like(tokens)).logits.numpy()


class OnnxCrossEncoderEngine(OnnxRuntimeEngine):
    """The whole sequence classifier as one ONNX graph."""

    def load(self) -> None:
        options = self.library.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = self.library.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = self.library.InferenceSession(
            self.onnx, options, providers=["CPUExecutionProvider"])
        self.inputs = {value.name for value in self.session.get_inputs()}

    def run_ids(self, ids: list[list[int]]):
        tokens = self.np.array(ids, dtype=self.np.int64)
        feed = {"input_ids": tokens, "attention_mask": self.np.ones_like(tokens),
                "token_type_ids": self.np.zeros_like(tokens)}
        return self.session.run(None, {n: v for n, v in feed.items() if n in self.inputs})[0]


ENGINES = {"cross-encoder": CrossEncoderEngine, "onnxruntime-cross": OnnxCrossEncoderEngine,
           "sentence-transformers": SentenceTransformersEngine,
           "sentence-transformers-bf16": BFloat16Engine, "onnxruntime": OnnxRuntimeEngine}


def peak_rss_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed_runs(engine, command: dict) -> list[float]:
    """Runs until `seconds` have passed, at least once; seconds of each run."""
    workload = command["workload"]
    run, value = ((engine.run_ids, workload["ids"]) if command["mode"] == "ids" else
                  (engine.run_texts, workload["texts"]))
    times: list[float] = []
    deadline = time.perf_counter() + command["seconds"]
    while not times or time.perf_counter() < deadline:
        start = time.perf_counter()
        run(value)
        times.append(time.perf_counter() - start)
    return times


def main() -> None:
    name, model_dir, threads, onnx = sys.argv[1:5]
    answers, sys.stdout = sys.stdout, sys.stderr  # nothing but answers on standard output

    def answer(value: dict) -> None:
        print(json.dumps(value), file=answers, flush=True)

    start = time.perf_counter()
    engine = ENGINES[name](model_dir, int(threads), onnx)
    answer({"import_s": time.perf_counter() - start, "peak_rss_bytes": peak_rss_bytes()})
    for line in sys.stdin:
        command = json.loads(line)
        if command["op"] == "load":
            start = time.perf_counter()
            engine.load()
            answer({"load_s": time.perf_counter() - start})
        elif command["op"] == "run":
            answer({"seconds": timed_runs(engine, command)})
        elif command["op"] == "embed":
            rows = [engine.run_texts([text])[0].tolist() for text in command["texts"]]
            answer({"embeddings": rows})
        else:
            answer({"peak_rss_bytes": peak_rss_bytes()})


if __name__ == "__main__":
    main()
