"""Tiny random models and their float64 goldens.

    python tiny.py [VARIANT...]

Writes tests/golden/tiny/<variant>/ (a Hugging Face directory and golden files) and, when no
variant is named, tests/golden/tiny/manifest.json.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np
import tokenizers
import torch

from common import (FORMAT, GOLDEN_DIR, full_length, load_oracle, provenance, write_golden_json,
                    write_json, write_safetensors)
from tiny_models import (Spec, build_directory, remove_stale, stored_names,
                         transformer_weights)
from tiny_variants import VARIANTS

TINY = GOLDEN_DIR / "tiny"
COMMAND = "python tools/golden/tiny.py"

TEXTS = [
    "the cat sat",
    "",
    "a",
    "The quick brown fox jumps over the lazy dog.",
    "Café déjà vu: Straße über dem Fluss!",
    "Быстрая лиса и σκύλος",
    "你好世界, 今天 天气",
    "one\nline\ttwo  spaces ",
    "unknowable \U0001f642 word",
    "for (int i = 0; i < 10; ++i) { sum += a[i]; }",
    "What time is it? It is late! We should go home now, the tea will be ready soon.",
    "The house of the sun, the stars and the moon and the light of the day " * 4,
]
PAIRS = [("what time is it", "it is late"), ("the moon", "")]
TAPS = [0, 5, len(TEXTS)]  # two texts and the first pair; with encode options the first only
# Suffixes of the golden files, by the encode options that are set.
STEMS = {(): "", ("dimensions",): ".dim{}", ("prompt_name",): ".{}", ("prompt",): ".prompt"}
MAX_F32_DIFFERENCE = 1e-5


class Taps:
    """Catches the outputs of the embedding block and the first layer."""

    def __init__(self, model) -> None:
        self.values: dict[str, torch.Tensor] = {}
        transformer = model[0].auto_model
        transformer.embeddings.register_forward_hook(self._hook("embeddings"))
        transformer.encoder.layer[0].register_forward_hook(self._hook("layer.0"))

    def _hook(self, name: str):
        def store(_module, _inputs, output):
            self.values[name] = output[0] if isinstance(output, tuple) else output
        return store


def features_of(model, text: str, pair: str | None, options: dict) -> dict:
    """Model inputs for one text as sentence-transformers makes them."""
    if pair is None:
        prompt = model._resolve_prompt(options.get("prompt"), options.get("prompt_name"))
        return model.preprocess([text], prompt=prompt)
    features = model.tokenizer([text], [pair], truncation="longest_first", return_tensors="pt")
    return {**features, "modality": "text"}


@torch.no_grad()
def embed(model, text: str, pair: str | None, options: dict) -> tuple[dict, np.ndarray]:
    features = features_of(model, text, pair, options)
    out = model(dict(features))
    vector = out["sentence_embedding"][0]
    dimensions = options.get("dimensions")
    if dimensions is not None:
        vector = vector[:dimensions]
        if any(type(module).__name__ == "Normalize" for module in model):
            vector = torch.nn.functional.normalize(vector, dim=0)
    return out, vector.numpy()


def check_weights(spec: Spec, model) -> None:
    """The oracle really uses the weights that were drawn: none missing, none renamed away."""
    state = model[0].auto_model.state_dict()
    stored = stored_names(dataclasses.replace(spec, prefix="", gamma_beta=False),
                          transformer_weights(spec))
    for name, value in stored.items():
        if not name.endswith("position_ids"):
            assert np.array_equal(state[name].double().numpy(), value.astype(np.float64)), name
    missing = {name for name in state if not name.startswith("pooler.")} - stored.keys()
    assert all("position_ids" in name or "token_type_ids" in name for name in missing), missing


def raw_tokenizer(spec: Spec, directory: Path, model) -> tokenizers.Tokenizer:
    """tokenizer.json itself; transformers may rebuild the pipeline, which must not differ."""
    path = directory / "tokenizer.json"
    if path.exists() and not spec.st_lowercase:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    else:
        tokenizer = tokenizers.Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.enable_truncation(model.max_seq_length, strategy="longest_first")
    return tokenizer


def make_case(model, raw, text: str, pair: str | None, options: dict, out: dict) -> dict:
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
    case.update(ids=ids, type_ids=encoding.type_ids, tokens=length, truncated=length > len(ids))
    given = out["token_type_ids"][0].tolist() if "token_type_ids" in out else [0] * len(ids)
    if given != encoding.type_ids:
        case["model_type_ids"] = given
    if "prompt_length" in out:
        case["prompt_tokens"] = out["prompt_length"]
    return case


def write_goldens(spec: Spec, options: dict, directory: Path, models: tuple) -> dict:
    """One pair of golden files; returns the manifest entry."""
    model, single = models
    taps = Taps(model)
    raw = raw_tokenizer(spec, directory, model)
    inputs: list[tuple[str, str | None]] = [(text, None) for text in TEXTS]
    if not options and "prompts" not in spec.st_config:
        inputs += PAIRS
    tapped = TAPS[:1] if options else [index for index in TAPS if index < len(inputs)]
    cases, rows, tensors, worst = [], [], {}, 0.0
    for index, (text, pair) in enumerate(inputs):
        out, vector = embed(model, text, pair, options)
        assert vector.dtype == np.float64
        worst = max(worst, np.abs(embed(single, text, pair, options)[1] - vector).max())
        cases.append(make_case(model, raw, text, pair, options, out))
        rows.append(vector)
        if index in tapped:
            last = out["token_embeddings"][0].numpy()
            tensors[f"tap.{index}.last_hidden_state"] = last
            for name, value in taps.values.items():
                tensors[f"tap.{index}.{name}"] = value[0].numpy()
    tensors["embedding"] = np.stack(rows)
    assert worst < MAX_F32_DIFFERENCE, (spec.name, worst)
    assert any(case["truncated"] for case in cases), spec.name

    stem = "golden" + STEMS[tuple(options)].format(*options.values())
    head = {"format": FORMAT, "provenance": provenance(COMMAND, spec.seed),
            "variant": spec.name, "encode": options, "max_seq_length": model.max_seq_length,
            "taps": tapped}
    write_golden_json(directory / f"{stem}.json", head, cases)
    write_safetensors(directory / f"{stem}.safetensors", tensors)
    print(f"{spec.name:28} {stem:20} dim {len(rows[0]):3}  f32-f64 {worst:.1e}")
    entry = {"name": spec.name + stem.removeprefix("golden").replace(".", "-"), "dir": spec.name,
             "golden": f"{spec.name}/{stem}", "proves": spec.proves, "tolerance": spec.tolerance,
             "encode": options}
    if spec.same_as:
        entry["same_as"] = spec.same_as
    return entry


def generate(spec: Spec, root: Path = TINY) -> list[dict]:
    directory = root / spec.name
    build_directory(spec, directory)
    models = (load_oracle(directory, double=True), load_oracle(directory, double=False))
    check_weights(spec, models[0])
    return [write_goldens(spec, options, directory, models) for options in spec.encodes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="*")
    args = parser.parse_args()
    specs = [spec for spec in VARIANTS if not args.variants or spec.name in args.variants]
    entries = [entry for spec in specs for entry in generate(spec)]
    if not args.variants:
        remove_stale(TINY, {spec.name for spec in VARIANTS})
        write_json(TINY / "manifest.json", {"format": FORMAT, "variants": entries})


if __name__ == "__main__":
    main()
