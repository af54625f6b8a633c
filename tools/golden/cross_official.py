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

# Every case has the default instruction, but for these.
OTHER_INSTRUCTIONS = {0: "Given a question, find the answer", 13: ""}


def body(instruction: str, query: str, document: str) -> str:
    return f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {document}"


@torch.no_grad()
def score(directory: Path, double: bool) -> tuple[dict, list[dict], np.ndarray]:
    """Head of golden.json, its cases, and logit(yes) - logit(no)."""
    qwen3_oracle.patch()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(directory), local_files_only=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(directory), local_files_only=True, dtype=torch.float32, attn_implementation="eager")
    model = model.eval().double() if double else model.eval()
    limit = model.config.max_position_embeddings
    yes, no = tokenizer.convert_tokens_to_ids(["yes", "no"])
    prefix = tokenizer.encode(PREFIX, add_special_tokens=False)
    suffix = tokenizer.encode(SUFFIX, add_special_tokens=False)
    cases, rows = [], []
    pairs = inputs(False)
    extra = [(index, pairs[index]) for index in OTHER_INSTRUCTIONS]
    listed = [(None, pair) for pair in pairs] + extra
    for changed, (query, document) in listed:
        instruction = RERANK_INSTRUCTION if changed is None else OTHER_INSTRUCTIONS[changed]
        whole = tokenizer.encode(body(instruction, query, document), add_special_tokens=False)
        ids = prefix + whole[:limit - len(prefix) - len(suffix)] + suffix
        logits = model(input_ids=torch.tensor([ids])).logits[0, -1]
        rows.append([float(logits[yes] - logits[no])])
        length = len(prefix) + len(whole) + len(suffix)
        cases.append({"text": query, "pair": document, "instruction": instruction, "ids": ids,
                      "tokens": length, "truncated": length > len(ids)})
    head = {"max_seq_length": limit, "yes_id": yes, "no_id": no,
            "instruction": RERANK_INSTRUCTION, "prefix_tokens": len(prefix),
            "suffix_tokens": len(suffix)}
    return head, cases, np.array(rows)
