"""The oracle of the cross-encoder goldens: sentence-transformers, one case at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tokenizers
import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.util import fullname

import cross_models
import cross_qwen3
import qwen3_oracle


def load(directory: Path, double: bool) -> CrossEncoder:
    qwen3_oracle.patch()
    model = CrossEncoder(str(directory), device="cpu", local_files_only=True, model_kwargs={
        "attn_implementation": "eager", "dtype": torch.float32})
    model.eval()
    return model.double() if double else model


def check_weights(spec, model: CrossEncoder) -> None:
    """The model holds the weights that were drawn; none is missing or renamed away."""
    state = model[0].model.state_dict()
    if spec.family == "qwen3":
        drawn = cross_qwen3.tensors(spec)
    else:
        drawn = {name: value.astype(cross_models.STORED_TYPES[spec.dtype])
                 for name, value in cross_models.weights(spec).items()}
    for name, value in drawn.items():
        assert np.array_equal(state[name].double().numpy(), value.astype(np.float64)), name
    missing = {name for name in state if not name.endswith(("position_ids", "token_type_ids"))}
    assert missing - drawn.keys() <= {"lm_head.weight"}, missing - drawn.keys()


def templated(model: CrossEncoder) -> bool:
    """Whether pairs go through the chat template."""
    return "message" in model[0].modality_config


def labels_of(model: CrossEncoder) -> list[str]:
    """id2label; plain names where the score does not come from a classifier."""
    number = model.num_labels
    names = model.config.id2label
    if len(names) != number or type(model[-1]).__name__ != "Transformer":
        return [f"LABEL_{index}" for index in range(number)]
    return [names[index] for index in range(number)]


def activation_name(model: CrossEncoder) -> str:
    return fullname(model.activation_fn)


def pipeline_function(model: CrossEncoder) -> str:
    """What the text-classification pipeline of transformers applies by default."""
    problem = model.config.problem_type
    if problem == "regression":
        return "none"
    if problem == "multi_label_classification" or model.num_labels == 1:
        return "sigmoid"
    return "softmax"


def apply_function(name: str, logits: np.ndarray) -> np.ndarray:
    values = torch.from_numpy(logits)
    if name == "sigmoid":
        return torch.sigmoid(values).numpy()
    if name == "softmax":
        return torch.softmax(values, dim=-1).numpy()
    return logits.copy()


def activate(model: CrossEncoder, logits: np.ndarray) -> np.ndarray:
    return model.activation_fn(torch.from_numpy(logits)).numpy()


def features_of(model: CrossEncoder, text: str, pair: str | None) -> dict:
    """Model inputs as CrossEncoder.predict makes them."""
    prompt = model._resolve_prompt(None, None)
    return model.preprocess([text if pair is None else [text, pair]], prompt=prompt)


@torch.no_grad()
def logits_of(model: CrossEncoder, text: str, pair: str | None) -> np.ndarray:
    """What predict puts the activation on, for one case."""
    return model(features_of(model, text, pair))["scores"][0].numpy()


def full_length(model: CrossEncoder, text: str, pair: str | None) -> int:
    """Tokens with special tokens and without any truncation."""
    prompt = model._resolve_prompt(None, None) or ""
    if templated(model):
        formatter = model[0].input_formatter
        messages = [formatter.pair_to_messages((text, pair))]
        if prompt:
            messages = formatter.prepend_prompt_to_messages(messages, prompt)
        out = model.tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True)
        return len(out["input_ids"][0])
    backend = tokenizers.Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    backend.no_truncation()
    backend.no_padding()
    return len(backend.encode(prompt + text, pair).ids)


def make_case(spec, model: CrossEncoder, text: str, pair: str | None) -> dict:
    features = features_of(model, text, pair)
    ids = [int(value) for value in features["input_ids"][0]]
    length = full_length(model, text, pair)
    case = {"text": text}
    if pair is not None:
        case["pair"] = pair
    case["ids"] = ids
    if spec.has_types:
        given = features.get("token_type_ids")
        case["type_ids"] = [0] * len(ids) if given is None else given[0].tolist()
    case.update(tokens=length, truncated=length > len(ids))
    return case
