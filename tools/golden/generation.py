"""Tiny random causal models and their float64 goldens.

    python generation.py [VARIANT...]

Writes tests/golden/generation/<variant>/ (a Hugging Face directory and, unless another variant's
apply, golden files) and, when no variant is named, manifest.json. Prints for every variant how
far the library in float32 and its chunked delta rule in float64 are from the golden logits.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
import torch

from common import (FORMAT, GOLDEN_DIR, provenance, write_golden_json, write_json,
                    write_safetensors)
from generation_models import Spec, body_weights, build_directory, file_tensors
from generation_variants import VARIANTS
from mtp_oracle import Mtp
from qwen3_5_oracle import Oracle
from tiny import Taps

GENERATION = GOLDEN_DIR / "generation"
COMMAND = "python tools/golden/generation.py"
NUM_IDS = 300  # prompts hold none of the added tokens, which come after these
NEW_TOKENS = 32
MIN_GAP = 0.01  # between the best two logits, at every step of every greedy continuation
TOLERANCE = {"qwen3_5": 1e-3, "qwen3": 1e-4}  # greatest difference of a logit or tap
NOTES = {
    "seeds": "weights: PCG64([the variant's seed, crc32 of the name]); prompts: PCG64([300, "
             "length, attempt]), the first attempt whose greedy gaps reach min_gap",
    "min_gap": MIN_GAP, "size": "the whole folder is kept below 6 MB"}
REPEATED = {100: (10, 80), 130: (20, 110)}  # by length: these places hold one token


def prompt(length: int, attempt: int = 0) -> list[int]:
    rng = np.random.Generator(np.random.PCG64([300, length, attempt]))
    ids = rng.integers(0, NUM_IDS, length).tolist()
    start, stop = REPEATED.get(length, (0, 0))
    ids[start:stop] = ids[start:start + 1] * (stop - start)
    return ids


def check_weights(spec: Spec, oracle: Oracle) -> None:
    """The oracle computes with the weights that were drawn, none renamed away."""
    state, drawn = oracle.decoder.state_dict(), body_weights(spec)
    assert state.keys() == drawn.keys()
    drawn["head"] = file_tensors(spec).get("lm_head.weight", drawn["embed_tokens.weight"])
    state["head"] = oracle.model.lm_head.weight.detach()
    for name, value in drawn.items():
        assert np.array_equal(state[name].double().numpy(), value.astype(np.float64)), name


def tapped(oracle: Oracle, ids: list[int]) -> dict[str, np.ndarray]:
    """The embeddings, the output of every layer, and the state after the final norm."""
    modules = {"embeddings": oracle.decoder.embed_tokens, "last_hidden_state": oracle.decoder.norm}
    modules |= {f"layer.{i}": layer for i, layer in enumerate(oracle.decoder.layers)}
    taps = Taps(modules)
    oracle.hidden(ids)
    taps.close()
    return {name: value[0].numpy() for name, value in taps.values.items()}


def scored(oracle: Oracle, ids: list[int]) -> dict[str, np.ndarray]:
    """Negative log-likelihoods of all tokens but the first, and pooled final states."""
    hidden = oracle.hidden(ids)
    logits = oracle.head(hidden[:-1])
    targets = torch.tensor(ids[1:])
    nll = torch.logsumexp(logits, -1) - logits.gather(1, targets[:, None])[:, 0]
    return {"nll": nll.numpy(), "pooled.mean": hidden.mean(0).numpy(),
            "pooled.last": hidden[-1].numpy()}


def choose(spec: Spec, oracle: Oracle, length: int) -> dict:
    """A prompt and, for greedy variants, its continuation without any near tie."""
    for attempt in itertools.count():
        ids = prompt(length, attempt)
        case = {"ids": ids}
        if not spec.greedy:
            return case
        tokens, gaps = oracle.greedy(ids, NEW_TOKENS)
        if min(gaps) >= MIN_GAP:
            return {**case, "greedy": tokens, "gaps": [float(f"{gap:.6g}") for gap in gaps]}


def write_goldens(spec: Spec, directory: Path, oracle: Oracle) -> None:
    single, chunked = Oracle(directory, double=False), Oracle(directory, chunked=True)
    mtp = Mtp(Oracle(directory)) if spec.mtp else None
    cases, rows, tensors, mtp_rows, worst = [], [], {}, [], [0.0, 0.0]
    for index, length in enumerate(spec.lengths):
        case = choose(spec, oracle, length)
        ids = case["ids"]
        logits = oracle.head(oracle.hidden(ids)[-1])
        assert logits.dtype == torch.float64
        for place, other in enumerate((single, chunked)):
            difference = (other.head(other.hidden(ids)[-1]) - logits).abs().max()
            worst[place] = max(worst[place], float(difference))
        rows.append(logits.numpy())
        if spec.greedy:
            assert int(logits.argmax()) == case["greedy"][0]
        if length in spec.taps:
            tensors |= {f"tap.{index}.{k}": v for k, v in tapped(oracle, ids).items()}
        if length == spec.scored:
            values = scored(oracle, ids)
            tensors |= {f"{k}.{index}": v for k, v in values.items()}
            case["nll"] = float(values["nll"].sum())
        if mtp:
            case["next"] = int(logits.argmax())
            mtp_rows.append(mtp.logits(ids, case["next"]).numpy())
        cases.append(case)
    tensors["logits"] = np.stack(rows)
    if mtp:
        tensors["mtp.logits"] = np.stack(mtp_rows)
    assert worst[0] < TOLERANCE[spec.family] / 3 and worst[1] < 1e-9, (spec.name, worst)
    head = {"format": FORMAT, "provenance": provenance(COMMAND, spec.seed), "variant": spec.name,
            "taps": [spec.lengths.index(length) for length in spec.taps],
            "scored": [] if spec.scored is None else [spec.lengths.index(spec.scored)]}
    write_golden_json(directory / "golden.json", head, cases)
    write_safetensors(directory / "golden.safetensors", tensors)
    print(f"{spec.name:20} f32-f64 {worst[0]:.1e}  chunked-recurrent {worst[1]:.1e}  "
          f"|logits| {np.abs(tensors['logits']).max():.1f}", flush=True)


def check_same(spec: Spec, oracle: Oracle) -> None:
    """Bit for bit the results of the other variant."""
    other = Oracle(GENERATION / spec.same_as)
    for length in (5, 65):
        ids = prompt(length)
        assert torch.equal(oracle.head(oracle.hidden(ids)), other.head(other.hidden(ids)))
    print(f"{spec.name:20} equals {spec.same_as}", flush=True)


def generate(spec: Spec) -> dict:
    directory = GENERATION / spec.name
    build_directory(spec, directory)
    oracle = Oracle(directory)
    check_weights(spec, oracle)
    entry = {"name": spec.name, "dir": spec.name, "golden": f"{spec.same_as or spec.name}/golden",
             "proves": spec.proves, "family": spec.family, "tolerance": TOLERANCE[spec.family]}
    if spec.same_as:
        check_same(spec, oracle)
        for file in directory.glob("golden*"):
            file.unlink()
        return {**entry, "same_as": spec.same_as}
    write_goldens(spec, directory, oracle)
    return entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="*")
    args = parser.parse_args()
    entries = [generate(spec) for spec in VARIANTS
               if not args.variants or spec.name in args.variants]
    if not args.variants:
        write_json(GENERATION / "manifest.json", {
            "format": FORMAT, "provenance": provenance(COMMAND, **NOTES), "variants": entries})


if __name__ == "__main__":
    main()
