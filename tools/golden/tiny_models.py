"""Builds complete Hugging Face directories of tiny random models.

Weights are drawn by seed and scaled so that a fault shows in the output: linear weights by
1/sqrt(fan_in), biases +-0.15, LayerNorm weights 1 +- 0.2, embeddings of unit scale.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np
import torch
import transformers

import tiny_tokenizers
from common import write_if_changed, write_json, write_safetensors

OLD = "sentence_transformers.models."
NEW = "sentence_transformers.base.modules."
NEW_ST = "sentence_transformers.sentence_transformer.modules."

OLD_POOLING_KEYS = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}


STORED_TYPES = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16}


@dataclasses.dataclass
class Dense:
    out_features: int
    activation: str | None = "torch.nn.modules.activation.Tanh"  # None: the key is absent
    bias: bool = True
    use_residual: bool = False


@dataclasses.dataclass
class Spec:
    """One variant: what its files say. See tiny_variants.py for the list."""

    name: str
    proves: str
    seed: int
    architecture: str = "bert"  # bert, xlm-roberta, roberta
    config: dict = dataclasses.field(default_factory=dict)  # over the defaults in base_config
    tokenizer: str = "uncased"  # uncased, cased, unigram, unigram-types, unigram-bert, bytelevel
    vocab_txt_only: bool = False
    tokenizer_config: dict = dataclasses.field(default_factory=dict)
    max_seq_length: int | None = 48  # None: no sentence_bert_config.json
    st_lowercase: bool = False  # do_lower_case in sentence_bert_config.json
    pooling: tuple[str, ...] | None = ("mean",)  # None: none of the booleans is true
    pooling_file: dict | None = None  # the file as it is, instead of the old booleans
    include_prompt: bool = True
    dense: list[Dense] = dataclasses.field(default_factory=list)
    layer_norm: bool = False
    normalize: bool = True
    new_class_paths: bool = False
    plain: bool = False  # no modules.json and none of the sentence-transformers files
    st_config: dict = dataclasses.field(default_factory=dict)
    pooler: bool = False
    prefix: str = ""
    gamma_beta: bool = False
    position_ids: bool = False
    dtype: str = "F32"  # F32, F16, BF16
    shards: int = 1
    embedding_scale: float = 1.0
    tolerance: float = 1e-5
    same_as: str | None = None  # a variant whose embeddings must be equal
    # Manifest entries: suffix of the golden files and encode options.
    encodes: list[dict] = dataclasses.field(default_factory=lambda: [{}])


def tokenizer_json(spec: Spec) -> str:
    return {
        "uncased": lambda: tiny_tokenizers.wordpiece(True),
        "cased": lambda: tiny_tokenizers.wordpiece(False),
        "unigram": lambda: tiny_tokenizers.unigram(0, True),
        "unigram-types": lambda: tiny_tokenizers.unigram(1, True),
        "unigram-bert": lambda: tiny_tokenizers.unigram(1, False),
        "bytelevel": lambda: tiny_tokenizers.byte_level_bpe(),
    }[spec.tokenizer]()


def base_config(spec: Spec) -> dict:
    """config.json with the keys that released models carry."""
    roberta = spec.architecture != "bert"
    class_name = {"bert": "BertModel", "roberta": "RobertaModel",
                  "xlm-roberta": "XLMRobertaModel"}[spec.architecture]
    config = {
        "architectures": [class_name],
        "attention_probs_dropout_prob": 0.1,
        "classifier_dropout": None,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": 24,
        "initializer_range": 0.02,
        "intermediate_size": 32,
        "layer_norm_eps": 1e-5 if roberta else 1e-12,
        "max_position_embeddings": 50 if roberta else 48,
        "model_type": spec.architecture,
        "num_attention_heads": 3,
        "num_hidden_layers": 2,
        "pad_token_id": 1 if roberta or spec.tokenizer == "unigram-bert" else 0,
        "position_embedding_type": "absolute",
        "transformers_version": "4.40.0",
        "type_vocab_size": 1 if roberta else 2,
        "use_cache": True,
        "vocab_size": tiny_tokenizers.vocab_size(tokenizer_json(spec)),
    }
    if roberta:
        config.update(bos_token_id=0, eos_token_id=2)
    config.update(spec.config)
    return {key: config[key] for key in sorted(config)}


def draw(rng: np.random.Generator, name: str, shape: tuple[int, ...], scale: float) -> np.ndarray:
    """One parameter, by the role that its name tells."""
    module = name.rsplit(".", 2)[-2]
    if module in ("LayerNorm", "norm"):
        centre, spread = (1.0, 0.2) if name.endswith("weight") else (0.0, 0.15)
        return (centre + spread * rng.uniform(-1, 1, shape)).astype(np.float32)
    if name.endswith("bias"):
        return (0.15 * rng.uniform(-1, 1, shape)).astype(np.float32)
    if module == "word_embeddings":
        return (scale * rng.standard_normal(shape)).astype(np.float32)
    if module in ("position_embeddings", "token_type_embeddings"):
        return (0.5 * scale * rng.standard_normal(shape)).astype(np.float32)
    return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def transformer_weights(spec: Spec) -> dict[str, np.ndarray]:
    config = transformers.AutoConfig.for_model(**base_config(spec))
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(config)
    rng = np.random.Generator(np.random.PCG64(spec.seed))
    shapes = {name: tuple(value.shape) for name, value in model.named_parameters()}
    weights = {name: draw(rng, name, shape, spec.embedding_scale) for name, shape in shapes.items()
               if not name.startswith("pooler.")}
    if spec.pooler:
        for name in ("pooler.dense.weight", "pooler.dense.bias"):
            weights[name] = draw(rng, name, shapes[name], spec.embedding_scale)
    return weights


def stored_names(spec: Spec, weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The tensors as the file names and types them."""
    out = {}
    for name, value in weights.items():
        if spec.gamma_beta:
            name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
            name = name.replace("LayerNorm.bias", "LayerNorm.beta")
        out[spec.prefix + name] = value.astype(STORED_TYPES[spec.dtype])
    if spec.position_ids:
        positions = np.arange(base_config(spec)["max_position_embeddings"], dtype=np.int64)
        out[spec.prefix + "embeddings.position_ids"] = positions[None]
    return out


def write_shards(directory: Path, tensors: dict[str, np.ndarray], shards: int) -> None:
    """model.safetensors, or the shards and their index."""
    if shards == 1:
        write_safetensors(directory / "model.safetensors", tensors)
        return
    names = sorted(tensors)
    weight_map = {}
    for shard in range(shards):
        file = f"model-{shard + 1:05d}-of-{shards:05d}.safetensors"
        part = names[shard::shards]
        weight_map.update({name: file for name in part})
        write_safetensors(directory / file, {name: tensors[name] for name in part})
    total = sum(value.nbytes for value in tensors.values())
    write_json(directory / "model.safetensors.index.json",
               {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))})


def write_tokenizer(spec: Spec, directory: Path) -> None:
    text = tokenizer_json(spec)
    if spec.tokenizer in ("uncased", "cased"):
        config = {
            "cls_token": "[CLS]", "do_lower_case": spec.tokenizer == "uncased",
            "mask_token": "[MASK]", "model_max_length": 512, "pad_token": "[PAD]",
            "sep_token": "[SEP]", "strip_accents": None, "tokenize_chinese_chars": True,
            "tokenizer_class": "BertTokenizer", "unk_token": "[UNK]",
        }
        vocab = "".join(token + "\n" for token in tiny_tokenizers.wordpiece_vocab(text))
        write_if_changed(directory / "vocab.txt", vocab.encode())
    else:
        config = {
            "bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "mask_token": "<mask>",
            "model_max_length": 512, "pad_token": "<pad>", "sep_token": "</s>",
            "tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>",
        }
        if spec.architecture == "bert":
            config["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
        else:
            config["model_input_names"] = ["input_ids", "attention_mask"]
    config.update(spec.tokenizer_config)
    write_json(directory / "tokenizer_config.json", config)
    if not spec.vocab_txt_only:
        pretty = json.dumps(json.loads(text), ensure_ascii=True, separators=(",", ":"))
        write_if_changed(directory / "tokenizer.json", (pretty + "\n").encode())


def pooling_config(spec: Spec, dimension: int) -> dict:
    if spec.pooling_file is not None:
        return {"embedding_dimension": dimension, **spec.pooling_file}
    config: dict = {"word_embedding_dimension": dimension}
    for mode, key in OLD_POOLING_KEYS.items():
        config[key] = mode in (spec.pooling or ())
    if not spec.include_prompt:
        config["include_prompt"] = False
    return config


def write_dense(spec: Spec, index: int, dense: Dense, width: int, directory: Path) -> None:
    rng = np.random.Generator(np.random.PCG64([spec.seed, index]))
    config = {"in_features": width, "out_features": dense.out_features, "bias": dense.bias}
    if dense.activation is not None:
        config["activation_function"] = dense.activation
    shapes = {"linear.weight": (dense.out_features, width)}
    if dense.bias:
        shapes["linear.bias"] = (dense.out_features,)
    if dense.use_residual:
        config["use_residual"] = True
        if width != dense.out_features:
            shapes["residual.weight"] = (dense.out_features, width)
    write_json(directory / "config.json", config)
    tensors = {name: draw(rng, name, shape, 1.0) for name, shape in shapes.items()}
    write_safetensors(directory / "model.safetensors", tensors)


def write_modules(spec: Spec, directory: Path) -> None:
    """modules.json and the module folders."""
    modules = []

    def add(kind: str, new_package: str) -> Path:
        index = len(modules)
        path = "" if kind == "Transformer" else f"{index}_{kind}"
        snake = {"LayerNorm": "layer_norm"}.get(kind, kind.lower())
        type_name = f"{new_package}{snake}.{kind}" if spec.new_class_paths else OLD + kind
        modules.append({"idx": index, "name": str(index), "path": path, "type": type_name})
        return directory / path

    add("Transformer", NEW)
    width = base_config(spec)["hidden_size"]
    write_json(add("Pooling", NEW_ST) / "config.json", pooling_config(spec, width))
    modes = spec.pooling or ("mean",)
    if spec.pooling_file is not None:
        modes = spec.pooling_file.get("pooling_mode", "mean")
        modes = [modes] if isinstance(modes, str) else modes
    width *= len(modes)
    for dense in spec.dense:
        index = len(modules)
        write_dense(spec, index, dense, width, add("Dense", NEW))
        width = dense.out_features
    if spec.layer_norm:
        folder = add("LayerNorm", NEW_ST)
        rng = np.random.Generator(np.random.PCG64([spec.seed, 99]))
        write_json(folder / "config.json", {"dimension": width})
        names = ("norm.weight", "norm.bias")
        write_safetensors(folder / "model.safetensors",
                          {name: draw(rng, name, (width,), 1.0) for name in names})
    if spec.normalize:
        add("Normalize", NEW)
    write_json(directory / "modules.json", modules)


def build_directory(spec: Spec, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "config.json", base_config(spec))
    write_shards(directory, stored_names(spec, transformer_weights(spec)), spec.shards)
    write_tokenizer(spec, directory)
    if spec.plain:
        return
    write_modules(spec, directory)
    if spec.max_seq_length is not None:
        write_json(directory / "sentence_bert_config.json",
                   {"max_seq_length": spec.max_seq_length, "do_lower_case": spec.st_lowercase})
    st_config = {"__version__": {"sentence_transformers": "2.7.0", "transformers": "4.40.0",
                                 "pytorch": "2.2.0"}, **spec.st_config}
    write_json(directory / "config_sentence_transformers.json", st_config)


def remove_stale(directory: Path, names: set[str]) -> None:
    """Removes directories of variants that are no longer in the list."""
    for child in directory.iterdir() if directory.exists() else []:
        if child.is_dir() and child.name not in names:
            shutil.rmtree(child)
