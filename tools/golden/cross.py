"""Tiny random cross-encoders and their float64 goldens.

    python cross.py [VARIANT...]

Writes tests/golden/cross/<variant>/ (a Hugging Face directory and golden files) and, when no
variant is named, manifest.json. Every variant is also compared with CrossEncoder.predict and
with the text-classification pipeline of transformers, both in float32.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import tokenizers
import torch
import transformers

import cross_models
import cross_official
import cross_oracle
import cross_qwen3
import cross_qwen3_variants
import cross_variants
from common import (FORMAT, GOLDEN_DIR, provenance, write_golden_json, write_json,
                    write_safetensors)
from cross_inputs import GROUPS, inputs
from tiny_models import remove_stale

CROSS = GOLDEN_DIR / "cross"
COMMAND = "python tools/golden/cross.py"
VARIANTS = cross_variants.VARIANTS + cross_qwen3_variants.VARIANTS
TOLERANCE = 1e-4
MAX_F32_DIFFERENCE = 1e-5
CLEAR_GAP = 2e-5  # between neighbours in an order, unless they are ties


def build(spec, directory: Path) -> None:
    (cross_models if spec.family == "bert" else cross_qwen3).build(spec, directory)


def order_groups(rows: list[list[int]], scores: np.ndarray) -> list[dict]:
    """The documents of each query, best first; ties in their order."""
    groups, index = [], 0
    for query, documents in GROUPS:
        cases = list(range(index, index + len(documents)))
        index += len(documents)
        values = scores[cases, 0]
        order = sorted(range(len(cases)), key=lambda position: (-values[position], position))
        for first, second in zip(order, order[1:]):
            same = rows[cases[first]] == rows[cases[second]]
            gap = values[first] - values[second]
            assert gap == 0 if same else gap > CLEAR_GAP, (query, first, second, gap)
        groups.append({"query": query, "cases": cases, "order": order})
    return groups


def check_raw_tokenizer(spec, directory: Path, limit: int, prompt: str, cases: list[dict]) -> None:
    """tokenizer.json itself gives the same ids: transformers may rebuild the pipeline."""
    raw = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    raw.no_padding()
    raw.enable_truncation(limit, strategy="longest_first")
    for case in cases:
        encoding = raw.encode(prompt + case["text"], case.get("pair"))
        assert encoding.ids == case["ids"], (spec.name, case)
        if "type_ids" in case:
            given = "model_input_names" not in spec.tokenizer_config
            assert case["type_ids"] == (encoding.type_ids if given else [0] * len(encoding.ids))


def check_predict(model, cases: list[dict], scores: np.ndarray) -> float:
    """CrossEncoder.predict in float32, one at a time."""
    worst = 0.0
    for case, row in zip(cases, scores):
        given = [case["text"], case["pair"]] if "pair" in case else case["text"]
        value = np.atleast_1d(model.predict(given))
        worst = max(worst, np.abs(value - row).max())
    return worst


def check_pipeline(spec, directory: Path, limit: int, prompt: str, cases: list[dict],
                   labels: list[str], probabilities: np.ndarray) -> float:
    """The pipeline of transformers in float32, all labels.

    It takes an empty second text for none at all, which CrossEncoder does not; those are left out.
    """
    pipeline = transformers.pipeline("text-classification", model=str(directory), device="cpu",
                                     dtype=torch.float32)
    worst = 0.0
    for case, row in zip(cases, probabilities):
        if case.get("pair") == "":
            continue
        given = {"text": prompt + case["text"]}
        if "pair" in case:
            given["text_pair"] = case["pair"]
        result = pipeline(given, top_k=None, truncation="longest_first", max_length=limit)
        found = {item["label"]: item["score"] for item in result}
        assert sorted(found) == sorted(labels), (spec.name, found)
        worst = max(worst, np.abs(np.array([found[label] for label in labels]) - row).max())
    return worst


def official_goldens(_spec, directory: Path) -> tuple[dict, list[dict], dict]:
    oracle, single = (cross_official.Official(directory, double) for double in (True, False))
    cases = cross_official.cases_of(oracle)
    logits = np.stack([oracle.logits(case) for case in cases])
    worst = np.abs(np.stack([single.logits(case) for case in cases]) - logits).max()
    head = {**cross_official.head_of(oracle), "labels": ["LABEL_0"], "num_labels": 1,
            "activation": cross_models.SIGMOID, "function_to_apply": "sigmoid"}
    return head, cases, {"logits": logits, "worst": worst}


def crossencoder_goldens(spec, directory: Path) -> tuple[dict, list[dict], dict]:
    model = cross_oracle.load(directory, True)
    single = cross_oracle.load(directory, False)
    cross_oracle.check_weights(spec, model)
    prompt = model._resolve_prompt(None, None) or ""
    labels = cross_oracle.labels_of(model)
    head = {"max_seq_length": model.max_seq_length, "labels": labels, "num_labels": len(labels),
            "activation": cross_oracle.activation_name(model),
            "function_to_apply": cross_oracle.pipeline_function(model)}
    if prompt:
        head["prompt"] = prompt
    cases, rows, worst = [], [], 0.0
    templated = cross_oracle.templated(model)
    for text, pair in inputs(spec.kind == "sequence" and not templated):
        if cross_oracle.full_length(model, text, pair) == 0:
            continue  # no token, no result: the library fails
        case = cross_oracle.make_case(spec, model, text, pair)
        logits = cross_oracle.logits_of(model, text, pair)
        worst = max(worst, np.abs(cross_oracle.logits_of(single, text, pair) - logits).max())
        cases.append(case)
        rows.append(logits)
    logits = np.stack(rows)
    if not templated:
        check_raw_tokenizer(spec, directory, model.max_seq_length, prompt, cases)
    scores = cross_oracle.activate(model, logits)
    difference = check_predict(single, cases, scores)
    assert difference < MAX_F32_DIFFERENCE, (spec.name, "predict", difference)
    if spec.kind == "sequence" and not templated and getattr(spec, "modular", "") != "dense":
        probabilities = cross_oracle.apply_function(head["function_to_apply"], logits)
        difference = check_pipeline(spec, directory, model.max_seq_length, prompt, cases, labels,
                                    probabilities)
        assert difference < MAX_F32_DIFFERENCE, (spec.name, "pipeline", difference)
    return head, cases, {"logits": logits, "scores": scores, "worst": worst}


def generate(spec) -> dict:
    """One directory with its goldens; returns the manifest entry."""
    directory = CROSS / spec.name
    build(spec, directory)
    goldens = official_goldens if getattr(spec, "official", False) else crossencoder_goldens
    head, cases, values = goldens(spec, directory)
    logits, worst = values["logits"], values["worst"]
    assert logits.dtype == np.float64 and worst < MAX_F32_DIFFERENCE, (spec.name, worst)
    probabilities = cross_oracle.apply_function(head["function_to_apply"], logits)
    scores = values.get("scores", probabilities)
    assert any(case["truncated"] for case in cases), spec.name

    groups = order_groups([case["ids"] for case in cases], scores)
    head = {"format": FORMAT, "provenance": provenance(COMMAND, spec.seed),
            "variant": spec.name, **head}
    write_golden_json(directory / "golden.json", head, cases, {"groups": groups})
    write_safetensors(directory / "golden.safetensors",
                      {"logits": logits, "scores": scores, "probabilities": probabilities})
    size = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
    assert size < 120_000, (spec.name, size)
    print(f"{spec.name:30} {len(cases):3} cases  logits {logits.min():6.2f} .. "
          f"{logits.max():5.2f}  f32-f64 {worst:.1e}  {size // 1000:3} kB", flush=True)
    return {"name": spec.name, "dir": spec.name, "golden": f"{spec.name}/golden",
            "proves": spec.proves, "tolerance": TOLERANCE, "family": spec.family,
            "kind": spec.kind}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="*")
    args = parser.parse_args()
    chosen = [spec for spec in VARIANTS if not args.variants or spec.name in args.variants]
    entries = [generate(spec) for spec in chosen]
    if not args.variants:
        write_json(CROSS / "manifest.json", {"format": FORMAT, "variants": entries})
        remove_stale(CROSS, {spec.name for spec in VARIANTS})


if __name__ == "__main__":
    main()
