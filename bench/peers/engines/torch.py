"""PyTorch on CPU by sentence-transformers, or by transformers for a language model."""

from __future__ import annotations

import time

import numpy as np

from engines.base import Engine
from engines.encoder import length_batches

OUTPUT_TOKENS = 64  # whose logits are given out: a megabyte each


class Torch(Engine):
    kinds = ("embed", "score", "generate")

    def load(self) -> str:
        import torch

        self.torch = torch
        torch.set_num_threads(self.setting.threads)
        torch.set_num_interop_threads(1)
        self.dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[self.setting.variant]
        self.forward = {"embed": self._load_embedder, "score": self._load_scorer,
                        "generate": self._load_generator}[self.setting.kind]()
        return f"{self.dtype}, MKL-DNN {torch.backends.mkldnn.is_available()}"

    def _load_embedder(self):
        import sentence_transformers

        model = sentence_transformers.SentenceTransformer(
            str(self.setting.model_dir), device="cpu", local_files_only=True,
            model_kwargs={"dtype": self.dtype}).eval()
        return lambda features: model({**features, "modality": "text"})["sentence_embedding"]

    def _load_scorer(self):
        import transformers

        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            str(self.setting.model_dir), local_files_only=True, dtype=self.dtype).eval()
        return lambda features: model(**features).logits

    def _load_generator(self):
        import transformers

        transformers.logging.set_verbosity_error()
        return transformers.AutoModelForCausalLM.from_pretrained(
            str(self.setting.model_dir), local_files_only=True, dtype=self.dtype).eval()

    def prepare(self, work: dict) -> None:
        self.work = work
        if self.setting.kind == "generate":
            self.prompt = self.torch.tensor(work["ids"][:1])
            return
        self.batches = []
        for batch in length_batches(work, self.setting.batch_size):
            features = {"input_ids": batch.ids, "attention_mask": batch.mask,
                        "token_type_ids": batch.types}
            self.batches.append((batch.order, {name: self.torch.from_numpy(value)
                                               for name, value in features.items()}))

    def run(self) -> np.ndarray:
        results: list = [None] * len(self.work["ids"])
        with self.torch.inference_mode():
            for order, features in self.batches:
                values = self.forward(dict(features)).float().numpy()
                for place, index in enumerate(order):
                    results[index] = values[place]
        return np.stack(results)

    def timed(self) -> float:
        if self.setting.kind != "generate":
            return super().timed()
        first, further = self._generate(self.work["output"])
        return first if self.work["kind"] == "prefill" else further

    def _generate(self, num_tokens: int) -> tuple[float, float]:
        """Seconds to the first token, and of each further one; greedy, nothing stops it."""
        with self.torch.inference_mode():
            start = time.perf_counter()
            out = self.forward(input_ids=self.prompt, use_cache=True, logits_to_keep=1)
            token = out.logits[:, -1:].argmax(-1)
            first = time.perf_counter()
            for _ in range(num_tokens - 1):
                out = self.forward(input_ids=token, past_key_values=out.past_key_values,
                                   use_cache=True, logits_to_keep=1)
                token = out.logits[:, -1:].argmax(-1)
            end = time.perf_counter()
        return first - start, (end - first) / max(1, num_tokens - 1)

    def outputs(self) -> np.ndarray:
        if self.setting.kind != "generate":
            return self.run()
        with self.torch.inference_mode():
            ids = self.prompt[:, :OUTPUT_TOKENS]
            return self.forward(input_ids=ids, use_cache=False).logits[0].float().numpy()
