"""llama.cpp through llama-cpp-python's binding of its C interface: ids in, vectors or logits out.

The package is built from source, so it may live in an environment of its own, whose interpreter
LATTICE_LLAMA_PYTHON names. gguf_export.py writes the model in its file format. What is not set
here is llama.cpp's own default: flash attention where it can, a cache in float16.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from engines.base import Engine, Unsupported, once

OUTPUT_TOKENS = 64  # whose logits are given out: a megabyte each
PASS_TOKENS = 512  # its default; attention is computed between all tokens of a pass


class LlamaCpp(Engine):
    kinds = ("embed", "generate")

    def file(self) -> Path:
        def make(path: Path) -> None:
            try:
                import gguf_export
            except ModuleNotFoundError as missing:
                raise Unsupported(f"no GGUF file can be written: {missing}") from missing
            gguf_export.export(self.setting.model_dir, path, self.setting.variant)

        return once(self.setting.cache / f"{self.setting.variant}.gguf", make)

    def export(self) -> None:
        import llama_cpp  # noqa: F401 - before gigabytes are written for nothing

        self.file()

    def load(self) -> str:
        import llama_cpp

        self.library = llama_cpp
        llama_cpp.llama_backend_init()
        path = str(self.file()).encode()
        self.model = llama_cpp.llama_model_load_from_file(
            path, llama_cpp.llama_model_default_params())
        if not self.model:
            raise Unsupported("llama.cpp does not load the GGUF file")
        self.vocab_size = llama_cpp.llama_vocab_n_tokens(
            llama_cpp.llama_model_get_vocab(self.model))
        return f"{llama_cpp.__version__}, {llama_cpp.llama_print_system_info().decode().strip()}"

    def prepare(self, work: dict) -> None:
        self.work = work
        if self.setting.kind == "generate":
            tokens = len(work["ids"][0]) + work["output"]
            self.context = self._context(max(tokens, OUTPUT_TOKENS), 1, PASS_TOKENS)
            return
        self.passes = passes_of(work["ids"])
        longest = max(len(row) for row in work["ids"])
        sequences = max(len(rows) for rows in self.passes)
        # It ends with an assertion where a pass is no multiple of its sequences.
        pass_tokens = -(-max(longest, PASS_TOKENS) // sequences) * sequences
        self.context = self._context(sequences * longest, sequences, pass_tokens)

    def _context(self, tokens: int, sequences: int, pass_tokens: int) -> Any:
        params = self.library.llama_context_default_params()
        params.n_ctx, params.n_seq_max = tokens, sequences
        params.n_batch = params.n_ubatch = pass_tokens
        params.n_threads = params.n_threads_batch = self.setting.threads
        params.embeddings = self.setting.kind == "embed"
        context = self.library.llama_init_from_model(self.model, params)
        if not context:
            raise Unsupported("llama.cpp makes no context for this workload")
        return context

    def _clear(self) -> None:
        memory = self.library.llama_get_memory(self.context)
        if memory:  # an encoder has none
            self.library.llama_memory_clear(memory, False)

    def _feed(self, rows: list[list[int]], start: int, every: bool) -> None:
        """One pass: row i continues sequence i at position `start`; outputs of its last token, or
        of every one."""
        batch = self.library.llama_batch_init(sum(map(len, rows)), 0, 1)
        count = 0
        for sequence, row in enumerate(rows):
            for place, token in enumerate(row):
                batch.token[count], batch.pos[count] = token, start + place
                batch.n_seq_id[count], batch.seq_id[count][0] = 1, sequence
                batch.logits[count] = every or place == len(row) - 1
                count += 1
        batch.n_tokens = count
        status = self.library.llama_decode(self.context, batch)
        self.library.llama_batch_free(batch)
        if status != 0:
            raise Unsupported(f"llama_decode answers {status}")

    def run(self) -> np.ndarray:
        """Vectors pooled as the file says, normalized."""
        rows, size = self.work["ids"], self.library.llama_model_n_embd_out(self.model)
        vectors = np.empty((len(rows), size), np.float32)
        for places in self.passes:
            self._clear()
            self._feed([rows[place] for place in places], 0, True)
            for sequence, place in enumerate(places):
                pooled = self.library.llama_get_embeddings_seq(self.context, sequence)
                vectors[place] = np.ctypeslib.as_array(pooled, (size,))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def timed(self) -> float:
        if self.setting.kind != "generate":
            return super().timed()
        first, further = self._generate(self.work["ids"][0], self.work["output"])
        return first if self.work["kind"] == "prefill" else further

    def _likeliest(self) -> int:
        logits = self.library.llama_get_logits_ith(self.context, -1)
        return int(np.ctypeslib.as_array(logits, (self.vocab_size,)).argmax())

    def _generate(self, ids: list[int], num_tokens: int) -> tuple[float, float]:
        """Seconds to the first token, and of each further one; greedy, nothing stops it."""
        self._clear()
        start = time.perf_counter()
        for begin in range(0, len(ids), PASS_TOKENS):
            self._feed([ids[begin:begin + PASS_TOKENS]], begin, False)
        token = self._likeliest()
        first = time.perf_counter()
        for index in range(num_tokens - 1):
            self._feed([[token]], len(ids) + index, False)
            token = self._likeliest()
        end = time.perf_counter()
        return first - start, (end - first) / max(1, num_tokens - 1)

    def outputs(self) -> np.ndarray:
        if self.setting.kind != "generate":
            return self.run()
        self._clear()
        ids = self.work["ids"][0][:OUTPUT_TOKENS]
        self._feed([ids], 0, True)
        logits = self.library.llama_get_logits(self.context)
        return np.ctypeslib.as_array(logits, (len(ids), self.vocab_size)).copy()


def passes_of(rows: list[list[int]]) -> list[list[int]]:
    """Indices of rows that are computed together: short ones first, as many as a pass holds."""
    passes: list[list[int]] = []
    room = 0
    for place in sorted(range(len(rows)), key=lambda place: len(rows[place])):
        if len(rows[place]) > room:
            passes.append([])
            room = max(PASS_TOKENS, len(rows[place]))
        passes[-1].append(place)
        room -= len(rows[place])
    return passes
