"""Faults of a cross-encoder engine in the ids and types that it gives the model."""

from __future__ import annotations

from collections.abc import Callable

import tokenizers
import torch

from cross_fault import CrossFault, backbone, without_template


def features_changed(name: str, change: Callable, applies: Callable) -> CrossFault:
    """`change(model, features, pair)` edits what preprocess gives for one text or pair."""
    def plant(spec, model) -> bool:
        if backbone(model) is None or not applies(spec, model):
            return False
        inner = model.preprocess

        def preprocess(inputs, prompt=None, **kwargs):
            features = dict(inner(inputs, prompt=prompt, **kwargs))
            pair = inputs[0] if isinstance(inputs[0], list) else None
            change(model, features, pair)
            return features
        model.preprocess = preprocess
        return True
    return CrossFault(name, plant)


def set_ids(model, features: dict, ids: list[int]) -> None:
    features["input_ids"] = torch.tensor([ids])
    features["attention_mask"] = torch.ones(1, len(ids), dtype=torch.long)


def types_ignored(_model, features: dict, _pair) -> None:
    features["token_type_ids"] = torch.zeros_like(features["token_type_ids"])


def has_types(spec, _model) -> bool:
    return spec.has_types and "model_input_names" not in spec.tokenizer_config


def types_left_out(spec, _model) -> bool:
    return (spec.has_types and "model_input_names" in spec.tokenizer_config
            and spec.config.get("type_vocab_size", 2) > 1)


def types_given(model, features: dict, pair) -> None:
    ids = features["input_ids"][0].tolist()
    first = ids.index(model.tokenizer.sep_token_id) + 1
    kinds = [0] * first + [1] * (len(ids) - first)
    features["token_type_ids"] = torch.tensor([kinds if pair else [0] * len(ids)])


def one_separator(model, features: dict, pair) -> None:
    ids = features["input_ids"][0].tolist()
    separator = model.tokenizer.sep_token_id
    for index in range(len(ids) - 1) if pair else ():
        if ids[index] == ids[index + 1] == separator:
            set_ids(model, features, ids[:index] + ids[index + 1:])
            return


def cut(kind: str) -> Callable:
    """Truncation of pairs by another rule: which text loses tokens first."""
    def change(model, features: dict, pair) -> None:
        if pair is None:
            return
        raw = tokenizers.Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
        raw.no_truncation()
        raw.no_padding()
        prompt = model._resolve_prompt(None, None) or ""
        first, second = (raw.encode(text, add_special_tokens=False).ids
                         for text in (prompt + pair[0], pair[1]))
        special = raw.encode("", "").ids
        sizes = [len(first), len(second)]
        excess = max(0, sum(sizes) + len(special) - model.max_seq_length)
        order = {"only the query": (0, 1), "only the document": (1, 0)}.get(kind)
        if order is None:  # both by half
            half = max(excess - sizes[1], min(excess // 2, sizes[0]))
            sizes = [sizes[0] - half, sizes[1] - (excess - half)]
        else:
            for which in order:
                lost = min(excess, sizes[which])
                sizes[which] -= lost
                excess -= lost
        start, end = special[:1] if len(special) > 1 else [], special[-1:]
        left = start + first[:sizes[0]] + special[1:-1]
        right = second[:sizes[1]] + end
        set_ids(model, features, left + right)
        if "token_type_ids" in features:
            features["token_type_ids"] = torch.tensor([[0] * len(left) + [1] * len(right)])
    return change


def empty_document_alone(model, features: dict, pair) -> None:
    """As transformers' tokenizer takes an empty second text: as if there were none."""
    if pair and pair[1] == "":
        ids = features["input_ids"][0].tolist()
        separators = 2 if ids[-3:] == [model.tokenizer.sep_token_id] * 3 else 1
        set_ids(model, features, ids[:-separators])
        if "token_type_ids" in features:
            features["token_type_ids"] = features["token_type_ids"][:, :-separators]


def eos_appended(model, features: dict, _pair) -> None:
    ids = features["input_ids"][0].tolist()
    set_ids(model, features, ids + [model.tokenizer.pad_token_id])


FAULTS = [
    features_changed("token types ignored", types_ignored, has_types),
    features_changed("token types given although the names leave them out", types_given,
                     types_left_out),
    features_changed("one separator where RoBERTa and XLM-R have two", one_separator,
                     lambda spec, _: spec.family == "bert" and not spec.has_types),
    features_changed("empty document taken for none", empty_document_alone,
                     lambda spec, _: spec.family == "bert"),
    features_changed("only_first truncation", cut("only the query"), without_template),
    features_changed("only_second truncation", cut("only the document"), without_template),
    features_changed("both texts truncated by half", cut("both"), without_template),
    features_changed("end token appended to causal inputs", eos_appended,
                     lambda spec, _: spec.family == "qwen3" and spec.kind != "sequence"),
]
