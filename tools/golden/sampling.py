#!/usr/bin/env python3
"""Goldens of the sampler, from transformers' logits processors.

    python sampling.py

Writes tests/golden/sampling/cases.json: logits, options, history, and the tokens that may be drawn
with their probabilities. The processors are those that generate() itself assembles, in its order;
presence and frequency penalties, which transformers has not, follow the formula of the OpenAI API
and stand where generate() puts a caller's own processors. Scores are float32 as in generate(); the
probabilities are the float64 softmax of the filtered scores. `tied` marks cases in which top-p cuts
between equal scores: there torch's order, and so the choice among them, is not defined.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import torch
import transformers

OUT = Path(__file__).resolve().parents[2] / "tests/golden/sampling/cases.json"
NEUTRAL = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "repetition_penalty": 1.0,
           "presence_penalty": 0.0, "frequency_penalty": 0.0}
CHOICES = {"temperature": [0.25, 0.6, 0.7, 1.5, 4.0], "top_k": [1, 2, 5, 20, 1000],
           "top_p": [0.0, 0.1, 0.5, 0.8, 0.9, 0.95, 0.999], "min_p": [0.01, 0.05, 0.3, 1.0],
           "repetition_penalty": [0.8, 1.05, 1.3, 2.0], "presence_penalty": [-1.0, 0.5, 1.5],
           "frequency_penalty": [-0.5, 0.25, 2.0]}


class OutputPenalties(transformers.LogitsProcessor):
    """https://platform.openai.com/docs/guides/text-generation, "Parameter details"."""

    def __init__(self, output: list[int], options: dict, vocab_size: int):
        self.counts = torch.bincount(torch.tensor(output, dtype=torch.long), minlength=vocab_size)
        self.options = options

    def __call__(self, input_ids, scores):
        scores = scores - self.options["frequency_penalty"] * self.counts
        return scores - self.options["presence_penalty"] * (self.counts > 0)


def processors(case: dict) -> transformers.LogitsProcessorList:
    """What generate() would run for the case."""
    size, options = len(case["logits"]), case["options"]
    config = transformers.GenerationConfig(
        do_sample=True, temperature=options["temperature"], top_k=options["top_k"],
        top_p=options["top_p"], min_p=options["min_p"] or None,
        repetition_penalty=options["repetition_penalty"],
        sequence_bias={(id,): bias for id, bias in case["bias"]} or None)
    model = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=size, n_embd=8, n_head=1, n_layer=1))
    own = transformers.LogitsProcessorList([OutputPenalties(case["output"], options, size)])
    return model._get_logits_processor(
        generation_config=config, input_ids_seq_length=len(case["prompt"] + case["output"]),
        logits_processor=own)


def run(case: dict, dtype: torch.dtype) -> torch.Tensor:
    ids = torch.tensor([case["prompt"] + case["output"]], dtype=torch.long)
    return processors(case)(ids, torch.tensor([case["logits"]], dtype=dtype))[0]


def answer(case: dict) -> dict:
    """The case with its distribution."""
    scores = run(case, torch.float32)
    kept = torch.isfinite(scores)
    if not torch.equal(kept, torch.isfinite(run(case, torch.float64))):
        raise SystemExit(f"float32 and float64 disagree about {case}")
    probabilities = torch.softmax(scores.double(), -1)
    no_cut = dict(case, options=dict(case["options"], top_p=1.0, min_p=0.0))
    dropped = run(no_cut, torch.float32)[~kept]
    tied = case["options"]["top_p"] < 1 and bool(torch.isin(dropped[torch.isfinite(dropped)],
                                                            scores[kept]).any())
    return case | {"tied": tied, "ids": torch.nonzero(kept).flatten().tolist(),
                   "probabilities": probabilities[kept].tolist()}


def rounded(options: dict) -> dict:
    """Options as the float32 that the C++ structure holds."""
    return {key: value if isinstance(value, int) else torch.tensor(value).float().item()
            for key, value in options.items()}


def make_case(rng: random.Random, options: dict, size: int, grid: int, biased: bool) -> dict:
    """Logits are multiples of 1 / grid: a coarse grid makes ties."""
    logits = [round(rng.gauss(0, 3) * grid) / grid for _ in range(size)]
    history = [rng.randrange(size) for _ in range(rng.randrange(1, 12))]
    cut = rng.randrange(1, len(history) + 1)
    bias = [[id, rng.choice([-5.0, -0.5, 1.0, 3.0])] for id in rng.sample(range(size), 3)]
    return {"logits": logits, "options": rounded(NEUTRAL | options), "prompt": history[:cut],
            "output": history[cut:], "bias": bias if biased else []}


def make_cases() -> list[dict]:
    rng = random.Random(20)
    cases = [make_case(rng, {name: value}, 24, grid, False)
             for name, values in CHOICES.items() for value in values for grid in (1, 1024)]
    for i in range(60):
        names = rng.sample(sorted(CHOICES), rng.randrange(2, 8))
        options = {name: rng.choice(CHOICES[name]) for name in names}
        cases.append(make_case(rng, options, rng.choice([4, 17, 40]), rng.choice([1, 4, 1024]),
                               rng.random() < 0.4))
    uniform = make_case(rng, {"top_p": 0.5}, 8, 1, False)
    cases.append(uniform | {"logits": [0.0] * 8})
    return cases


def main() -> None:
    cases = [answer(case) for case in make_cases()]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    OUT.write_text(f'{{"format":1,"versions":{json.dumps(versions)},"cases":[\n{lines}\n]}}\n')
    print(f"{OUT}: {len(cases)} cases, {sum(case['tied'] for case in cases)} tied")


if __name__ == "__main__":
    main()
