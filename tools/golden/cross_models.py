"""Builds directories of tiny random cross-encoders: BERT and its kin.

As in tiny_models.py, with a classification head. The biases of the head and of the pooler lie
between 0.3 and 0.6 in size, so that a result without them is clearly another.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import torch
import transformers

from common import write_json, write_safetensors
from tiny_models import (NEW, NEW_ST, STORED_TYPES, Spec, base_config, draw, transformer_weights,
                         write_shards, write_tokenizer)

IDENTITY = "torch.nn.modules.linear.Identity"
SIGMOID = "torch.nn.modules.activation.Sigmoid"
TANH = "torch.nn.modules.activation.Tanh"
NEW_CE = "sentence_transformers.cross_encoder.modules."
CLASS_NAMES = {"bert": "Bert", "roberta": "Roberta", "xlm-roberta": "XLMRoberta",
               "camembert": "Camembert"}
ST_VERSIONS = {"pytorch": "2.10.0", "sentence_transformers": "6.2.0", "transformers": "5.24.0"}


@dataclasses.dataclass
class CrossSpec(Spec):
    """One variant: what its files say. See cross_variants.py for the list."""

    max_seq_length: int | None = None  # sentence_bert_config.json
    labels: tuple[str, ...] | None = ("LABEL_0",)  # None: config.json has no id2label
    activation: str | None = None  # config.json: sentence_transformers.activation_fn
    old_activation: str | None = None  # config.json: sbert_ce_default_activation_function
    unprefixed: bool = False  # tensor names without "bert."
    # "": config.json and weights only; "transformer": modules.json with the classifier inside;
    # "dense": modules.json with Transformer, Pooling and a Dense that writes the scores.
    modular: str = ""
    st_activation: str = SIGMOID  # config_sentence_transformers.json of the modular ones
    stray_st_length: bool = False  # sentence_bert_config.json without modules.json
    st_model_type: bool = True  # whether config_sentence_transformers.json has model_type

    kind = "sequence"
    family = "bert"

    @property
    def number(self) -> int:
        if "num_labels" in self.config:
            return self.config["num_labels"]
        return len(self.labels) if self.labels is not None else 2

    @property
    def has_types(self) -> bool:
        return self.architecture == "bert"


def cross_config(spec: CrossSpec) -> dict:
    config = base_config(spec)
    name = CLASS_NAMES[config["model_type"]]
    config["architectures"] = [name + ("Model" if spec.modular == "dense"
                                       else "ForSequenceClassification")]
    if spec.modular != "dense" and spec.labels is not None:
        config["id2label"] = {str(index): label for index, label in enumerate(spec.labels)}
        config["label2id"] = {label: index for index, label in enumerate(spec.labels)}
    if spec.activation is not None:
        config["sentence_transformers"] = {"activation_fn": spec.activation, "version": "4.1.0"}
    if spec.old_activation is not None:
        config["sbert_ce_default_activation_function"] = spec.old_activation
    return {key: config[key] for key in sorted(config)}


def is_head(name: str) -> bool:
    return name.startswith(("classifier.", "linear.")) or ".pooler." in name


def draw_head(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name.endswith("bias"):
        size = rng.uniform(0.3, 0.6, shape)
        return (size * rng.choice([-1.0, 1.0], shape)).astype(np.float32)
    return draw(rng, name, shape, 1.0)


def weights(spec: CrossSpec) -> dict[str, np.ndarray]:
    """The parameters by the names that transformers gives them."""
    if spec.modular == "dense":
        return transformer_weights(dataclasses.replace(spec, pooler=True))
    config = transformers.AutoConfig.for_model(**cross_config(spec))
    with torch.device("meta"):
        model = transformers.AutoModelForSequenceClassification.from_config(config)
    rng = np.random.Generator(np.random.PCG64(spec.seed))
    return {name: draw_head(rng, name, tuple(value.shape)) if is_head(name)
            else draw(rng, name, tuple(value.shape), spec.embedding_scale)
            for name, value in model.named_parameters()}


def stored(spec: CrossSpec, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The tensors as the file names and types them."""
    out = {}
    for name, value in values.items():
        if spec.unprefixed:
            name = name.removeprefix("bert.")
        if spec.gamma_beta:
            name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
            name = name.replace("LayerNorm.bias", "LayerNorm.beta")
        out[name] = value.astype(STORED_TYPES[spec.dtype])
    if spec.position_ids:
        positions = np.arange(base_config(spec)["max_position_embeddings"], dtype=np.int64)
        out["bert.embeddings.position_ids"] = positions[None]
    return out


def module_entries(*modules: tuple[str, str]) -> list[dict]:
    """modules.json from the paths and types."""
    return [{"idx": index, "name": str(index), "path": path, "type": type_name}
            for index, (path, type_name) in enumerate(modules)]


def transformer_file(task: str, method_output: str, module_output: str) -> dict:
    """sentence_bert_config.json as version 6 writes it for a text model."""
    return {"transformer_task": task,
            "modality_config": {"text": {"method": "forward",
                                         "method_output_name": method_output}},
            "module_output_name": module_output}


def write_modular(spec: CrossSpec, directory: Path) -> None:
    kind = {"model_type": "CrossEncoder"} if spec.st_model_type else {}
    write_json(directory / "config_sentence_transformers.json", {
        "__version__": ST_VERSIONS, "activation_fn": spec.st_activation,
        "default_prompt_name": None, **kind, "prompts": {}, **spec.st_config})
    modules = [("", NEW + "transformer.Transformer")]
    file = transformer_file("sequence-classification", "logits", "scores")
    if spec.modular == "dense":
        modules += [("1_Pooling", NEW_ST + "pooling.Pooling"), ("2_Dense", NEW + "dense.Dense")]
        file = transformer_file("feature-extraction", "last_hidden_state", "token_embeddings")
        width = base_config(spec)["hidden_size"]
        write_json(directory / "1_Pooling" / "config.json", {
            "embedding_dimension": width, "pooling_mode": spec.pooling[0],
            "include_prompt": True})
        write_json(directory / "2_Dense" / "config.json", {
            "in_features": width, "out_features": spec.number, "bias": True,
            "activation_function": IDENTITY, "module_input_name": "sentence_embedding",
            "module_output_name": "scores"})
        rng = np.random.Generator(np.random.PCG64([spec.seed, 2]))
        shapes = {"linear.weight": (spec.number, width), "linear.bias": (spec.number,)}
        write_safetensors(directory / "2_Dense" / "model.safetensors",
                          {name: draw_head(rng, name, shape) for name, shape in shapes.items()})
    if spec.max_seq_length is not None:
        file = {"max_seq_length": spec.max_seq_length, **file}
    write_json(directory / "sentence_bert_config.json", file)
    write_json(directory / "modules.json", module_entries(*modules))


def build(spec: CrossSpec, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "config.json", cross_config(spec))
    write_shards(directory, stored(spec, weights(spec)), spec.shards)
    write_tokenizer(spec, directory)
    if spec.modular:
        write_modular(spec, directory)
    elif spec.stray_st_length:
        write_json(directory / "sentence_bert_config.json",
                   {"max_seq_length": spec.max_seq_length, "do_lower_case": False})
