"""Tiny random models and their float64 goldens.

    python tiny.py [--family NAME] [VARIANT...]

Writes tests/golden/tiny/<variant>/ (a Hugging Face directory and golden files) and, when no
variant is named, the family's manifest (manifest.json, manifest_qwen3.json).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import tokenizers
import torch

import tiny_bert
import tiny_qwen3
from common import (FORMAT, full_length, provenance, write_golden_json, write_json,
                    write_safetensors)
from tiny_family import TINY, Family, embed
from tiny_models import remove_stale

COMMAND = "python tools/golden/tiny.py"
FAMILIES = {family.name: family for family in (tiny_bert.FAMILY, tiny_qwen3.FAMILY)}
# Suffixes of the golden files, by the encode options that are set.
STEMS = {(): "", ("dimensions",): ".dim{}", ("prompt_name",): ".{}", ("prompt",): ".prompt",
         ("prompt_name", "dimensions"): ".{}.dim{}"}
MAX_F32_DIFFERENCE = 1e-5


class Taps:
    """Catches the outputs of some modules."""

    def __init__(self, modules: dict[str, torch.nn.Module]) -> None:
        self.values: dict[str, torch.Tensor] = {}
        self.handles = [module.register_forward_hook(self._hook(name))
                        for name, module in modules.items()]

    def _hook(self, name: str):
        def store(_module, _inputs, output):
            self.values[name] = output[0] if isinstance(output, tuple) else output
        return store

    def close(self) -> None:
        for handle in self.handles:
            handle.remove()


def raw_tokenizer(family: Family, spec, directory: Path, model) -> tokenizers.Tokenizer:
    """tokenizer.json itself; transformers may rebuild the pipeline, which must not differ."""
    if family.raw_from_file(spec):
        tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    else:
        tokenizer = tokenizers.Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.enable_truncation(model.max_seq_length, strategy="longest_first")
    return tokenizer


def make_case(family: Family, models: tuple, texts: tuple, options: dict, out: dict) -> dict:
    (model, raw), (text, pair) = models, texts
    prompt = model._resolve_prompt(options.get("prompt"), options.get("prompt_name")) or ""
    if pair is not None:
        prompt = ""
    encoding = raw.encode(prompt + text, pair)
    ids = out["input_ids"][0].tolist()
    assert encoding.ids == ids, (text, encoding.ids, ids)
    length = full_length(model, prompt + text, pair)
    case = {"text": text}
    if pair is not None:
        case["pair"] = pair
    case["ids"] = ids
    if family.type_ids:
        case["type_ids"] = encoding.type_ids
    case.update(tokens=length, truncated=length > len(ids))
    given = out["token_type_ids"][0].tolist() if "token_type_ids" in out else [0] * len(ids)
    if given != encoding.type_ids:
        case["model_type_ids"] = given
    if "prompt_length" in out:
        case["prompt_tokens"] = out["prompt_length"]
    return case


def write_goldens(family: Family, spec, options: dict, models: tuple) -> dict:
    """One pair of golden files; returns the manifest entry."""
    model, single = models
    directory = TINY / spec.name
    taps = Taps(family.tap_modules(model))
    raw = raw_tokenizer(family, spec, directory, model)
    inputs = family.inputs(spec, options)
    tapped = family.taps(spec, len(inputs))[:1 if options else None]
    cases, rows, tensors, worst = [], [], {}, 0.0
    for index, texts in enumerate(inputs):
        out, vector = embed(family, model, *texts, options)
        assert vector.dtype == np.float64
        worst = max(worst, np.abs(embed(family, single, *texts, options)[1] - vector).max())
        cases.append(make_case(family, (model, raw), texts, options, out))
        rows.append(vector)
        if index in tapped:
            last = out["token_embeddings"][0]
            tensors[f"tap.{index}.last_hidden_state"] = last.numpy()
            for name, value in taps.values.items():
                tensors[f"tap.{index}.{name}"] = value[0].numpy()
            values = family.logits(model, last[-1]) if family.logits else None
            if values is not None and not options:
                tensors[f"tap.{index}.logits"] = values.numpy()
    taps.close()
    tensors["embedding"] = np.stack(rows)
    assert worst < MAX_F32_DIFFERENCE, (spec.name, worst)
    assert any(case["truncated"] for case in cases), spec.name

    stem = "golden" + STEMS[tuple(options)].format(*options.values())
    head = {"format": FORMAT, "provenance": provenance(COMMAND, spec.seed),
            "variant": spec.name, "encode": options, "max_seq_length": model.max_seq_length,
            "taps": tapped}
    write_golden_json(directory / f"{stem}.json", head, cases)
    write_safetensors(directory / f"{stem}.safetensors", tensors)
    print(f"{spec.name:28} {stem:20} dim {len(rows[0]):3}  f32-f64 {worst:.1e}", flush=True)
    return manifest_entry(family, spec, options, stem)


def manifest_entry(family: Family, spec, options: dict, stem: str) -> dict:
    entry = {"name": spec.name + stem.removeprefix("golden").replace(".", "-"), "dir": spec.name,
             "golden": f"{spec.name}/{stem}", "proves": spec.proves, "tolerance": spec.tolerance,
             "encode": options}
    if family is not tiny_bert.FAMILY:
        entry["family"] = family.name
    if spec.same_as:
        entry["same_as"] = spec.same_as
    return entry


def generate(family: Family, spec) -> list[dict]:
    directory = TINY / spec.name
    family.build(spec, directory)
    models = (family.load(directory, True), family.load(directory, False))
    family.check_weights(spec, models[0])
    entries = [write_goldens(family, spec, options, models) for options in spec.encodes]
    stems = {Path(entry["golden"]).name for entry in entries}
    for file in directory.glob("golden*"):
        if file.stem not in stems:
            file.unlink()
    return entries


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="*")
    parser.add_argument("--family", choices=sorted(FAMILIES))
    args = parser.parse_args()
    for family in FAMILIES.values():
        if args.family and family.name != args.family:
            continue
        specs = [spec for spec in family.variants
                 if not args.variants or spec.name in args.variants]
        entries = [entry for spec in specs for entry in generate(family, spec)]
        if not args.variants:
            write_json(TINY / family.manifest, {"format": FORMAT, "variants": entries})
    if not args.variants:
        remove_stale(TINY, {spec.name for family in FAMILIES.values()
                            for spec in family.variants})


if __name__ == "__main__":
    main()
