"""The published way to use Qwen3-Reranker, without sentence-transformers.

The body (instruction, query, document) is tokenized alone and cut; the ids of prefix and suffix go
around it. The score is the softmax over the logits of "no" and "yes" at the last position.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import transformers

import qwen3_oracle
from cross_inputs import inputs
from cross_qwen3 import PREFIX, SUFFIX
from tiny_tokenizers import RERANK_INSTRUCTION

# Pairs that are scored again with another instruction.
OTHER_INSTRUCTIONS = {0: "Given a question, find the answer", 13: ""}


class Official:
    """One directory, ready to score."""

    def __init__(self, directory: Path, double: bool) -> None:
        qwen3_oracle.patch()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(directory), local_files_only=True)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            str(directory), local_files_only=True, dtype=torch.float32,
            attn_implementation="eager")
        self.model = model.eval().double() if double else model.eval()
        self.limit = model.config.max_position_embeddings
        self.yes, self.no = self.tokenizer.convert_tokens_to_ids(["yes", "no"])
        self.prefix = self.encode(PREFIX)
        self.suffix = self.encode(SUFFIX)

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False)

    def body(self, case: dict) -> list[int]:
        return self.encode(f"<Instruct>: {case['instruction']}\n<Query>: {case['text']}\n"
                           f"<Document>: {case['pair']}")

    def ids(self, case: dict) -> list[int]:
        room = self.limit - len(self.prefix) - len(self.suffix)
        return self.prefix + self.body(case)[:room] + self.suffix

    @torch.no_grad()
    def logits(self, case: dict) -> np.ndarray:
        """logit(yes) - logit(no)."""
        values = self.model(input_ids=torch.tensor([self.ids(case)])).logits[0, -1]
        return (values[self.yes] - values[self.no])[None].numpy()


def cases_of(oracle: Official) -> list[dict]:
    pairs = inputs(False)
    listed = [(pair, RERANK_INSTRUCTION) for pair in pairs]
    listed += [(pairs[index], text) for index, text in OTHER_INSTRUCTIONS.items()]
    cases = []
    for (query, document), instruction in listed:
        case = {"text": query, "pair": document, "instruction": instruction}
        case["ids"] = oracle.ids(case)
        length = len(oracle.prefix) + len(oracle.body(case)) + len(oracle.suffix)
        case.update(tokens=length, truncated=length > len(case["ids"]))
        cases.append(case)
    return cases


def head_of(oracle: Official) -> dict:
    return {"max_seq_length": oracle.limit, "yes_id": oracle.yes, "no_id": oracle.no,
            "instruction": RERANK_INSTRUCTION, "prefix_tokens": len(oracle.prefix),
            "suffix_tokens": len(oracle.suffix)}
