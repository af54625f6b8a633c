"""Builds directories of tiny random Qwen3 cross-encoders."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np

import tiny_tokenizers
from common import write_if_changed, write_json
from cross_models import NEW_CE, SIGMOID, ST_VERSIONS, module_entries, transformer_file
from qwen3_models import Qwen3Spec, base_config, draw, file_tensors, tokenizer_config
from tiny_models import NEW, STORED_TYPES, write_shards
from tiny_tokenizers import RERANK_INSTRUCTION, RERANK_SYSTEM

VOCAB = 340
PREFIX = f"<|im_start|>system\n{RERANK_SYSTEM}<|im_end|>\n<|im_start|>user\n"
SUFFIX = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def of_role(role: str, default: str = "") -> str:
    """A template's expression for the content of the message with this role."""
    return f'messages | selectattr("role", "eq", "{role}") | map(attribute="content") | first' + (
        f' | default("{default}")' if default else "")


# A template drops one newline at its end, hence one more here.
TEMPLATE = (f'{{%- set task = {of_role("system", RERANK_INSTRUCTION)} -%}}\n'
            f'{{%- set query = {of_role("query")} -%}}\n'
            f'{{%- set document = {of_role("document")} -%}}\n'
            f"{PREFIX}<Instruct>: {{{{ task }}}}\n<Query>: {{{{ query }}}}\n"
            f"<Document>: {{{{ document }}}}{SUFFIX}\n")


@dataclasses.dataclass
class CrossQwen3Spec(Qwen3Spec):
    """One variant: what its files say. See cross_qwen3_variants.py for the list."""

    kind: str = "logit_score"  # or "sequence"
    labels: tuple[str, ...] | None = ("LABEL_0",)
    prefix: str = "model."
    reranker_tokenizer: bool = True  # False: <|endoftext|> is appended, as for embedding
    template: str = ""  # where the chat template is: "", "config" or "jinja"
    modules: bool = False  # modules.json with Transformer and LogitScore
    message: bool = True  # with modules: sentence_bert_config.json knows the chat template
    true_only: bool = False
    st_activation: str = SIGMOID
    activation: str | None = None  # config.json: sentence_transformers.activation_fn
    official: bool = False  # goldens of the published prompt instead of CrossEncoder's

    family = "qwen3"
    has_types = False

    @property
    def tokenizer_json(self) -> str:
        return (tiny_tokenizers.qwen3(VOCAB, True) if self.reranker_tokenizer
                else tiny_tokenizers.qwen3())

    def token(self, text: str) -> int:
        return tiny_tokenizers.token_id(self.tokenizer_json, text)


def cross_config(spec: CrossQwen3Spec) -> dict:
    config = base_config(spec)
    given = {"bos_token_id": spec.token("<|endoftext|>"), "eos_token_id": spec.token("<|im_end|>"),
             "vocab_size": tiny_tokenizers.vocab_size(spec.tokenizer_json),
             "max_position_embeddings": 192}
    if spec.kind == "sequence":
        given["architectures"] = ["Qwen3ForSequenceClassification"]
        given["pad_token_id"] = spec.token("<|endoftext|>")
        if spec.labels is not None:
            given["id2label"] = {str(index): label for index, label in enumerate(spec.labels)}
            given["label2id"] = {label: index for index, label in enumerate(spec.labels)}
    if spec.activation is not None:
        given["sentence_transformers"] = {"activation_fn": spec.activation, "version": "5.0.0"}
    config.update({**given, **spec.config})
    return {key: config[key] for key in sorted(config) if config[key] != "absent"}


def tensors(spec: CrossQwen3Spec) -> dict[str, np.ndarray]:
    """The tensors by the names in the file."""
    config = {key: value for key, value in cross_config(spec).items()
              if key not in ("id2label", "label2id")}
    out = file_tensors(dataclasses.replace(spec, config=config))
    if spec.kind == "sequence":
        number = len(spec.labels) if spec.labels is not None else 2
        rng = np.random.Generator(np.random.PCG64([spec.seed, 2]))
        shape = (number, config["hidden_size"])
        out["score.weight"] = draw(rng, "score.weight", shape, 1.0).astype(
            STORED_TYPES[spec.dtype])
    return out


def write_tokenizer(spec: CrossQwen3Spec, directory: Path) -> None:
    config = tokenizer_config(spec.token)
    if spec.template == "config":
        config["chat_template"] = TEMPLATE
    elif spec.template == "jinja":
        write_if_changed(directory / "chat_template.jinja", TEMPLATE.encode())
    config.update(spec.tokenizer_config)
    write_json(directory / "tokenizer_config.json", config)
    text = json.dumps(json.loads(spec.tokenizer_json), separators=(",", ":"))
    write_if_changed(directory / "tokenizer.json", (text + "\n").encode())


def write_modules(spec: CrossQwen3Spec, directory: Path) -> None:
    write_json(directory / "config_sentence_transformers.json", {
        "__version__": ST_VERSIONS, "activation_fn": spec.st_activation,
        "default_prompt_name": None, "model_type": "CrossEncoder", "prompts": {},
        **spec.st_config})
    file = transformer_file("text-generation", "logits", "causal_logits")
    if spec.message:
        file["modality_config"]["message"] = {
            "method": "forward", "method_output_name": "logits", "format": "flat"}
    if spec.max_seq_length is not None:
        file = {"max_seq_length": spec.max_seq_length, **file}
    write_json(directory / "sentence_bert_config.json", file)
    write_json(directory / "1_LogitScore" / "config.json", {
        "true_token_id": spec.token("yes"),
        "false_token_id": None if spec.true_only else spec.token("no"),
        "module_input_name": "causal_logits"})
    write_json(directory / "modules.json", module_entries(
        ("", NEW + "transformer.Transformer"),
        ("1_LogitScore", NEW_CE + "logit_score.LogitScore")))


def build(spec: CrossQwen3Spec, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    config = cross_config(spec)
    write_json(directory / "config.json", config)
    if spec.kind == "logit_score":
        write_json(directory / "generation_config.json", {
            "bos_token_id": config["bos_token_id"], "eos_token_id": config["eos_token_id"],
            "max_new_tokens": 2048, "transformers_version": config["transformers_version"]})
    write_shards(directory, tensors(spec), spec.shards)
    write_tokenizer(spec, directory)
    if spec.modules:
        write_modules(spec, directory)
