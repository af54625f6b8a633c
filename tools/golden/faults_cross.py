"""Faults of a cross-encoder engine, planted in the oracle."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

import cross_oracle
import faults_cross_inputs
from cross_fault import CrossFault, Plant, backbone, is_official, without_template
from tiny_tokenizers import RERANK_INSTRUCTION


def bert_head(model):
    """BertForSequenceClassification, if this is one."""
    found = backbone(model)
    return found if type(found).__name__ == "BertForSequenceClassification" else None


def roberta_head(model):
    """The classification head of RoBERTa and its kin."""
    head = getattr(backbone(model), "classifier", None)
    return head if hasattr(head, "out_proj") else None


def pooler_skipped(_spec, model) -> bool:
    found = bert_head(model)
    if found is not None:
        found.bert.pooler.forward = lambda hidden: hidden[:, 0]
    return found is not None


def pooler_tanh_dropped(_spec, model) -> bool:
    found = bert_head(model)
    if found is not None:
        found.bert.pooler.activation = nn.Identity()
    return found is not None


def bias_dropped(path: str) -> CrossFault:
    def plant(_spec, model) -> bool:
        if backbone(model) is None:
            return False
        for name, parameter in model.named_parameters():
            unused = ".pooler." in name and bert_head(model) is None
            if name.endswith(path + ".bias") and not unused:
                parameter.data.zero_()
                return True
        return False
    return CrossFault(f"bias of {path} dropped", plant)


def dense_skipped(_spec, model) -> bool:
    head = roberta_head(model)
    if head is not None:
        head.dense = nn.Identity()
    return head is not None


def roberta_tanh_dropped(_spec, model) -> bool:
    head = roberta_head(model)
    if head is not None:
        head.forward = lambda hidden, **_: head.out_proj(head.dense(hidden[:, 0]))
    return head is not None


def labels_reversed(_spec, model) -> bool:
    if backbone(model) is None or model.num_labels < 2:
        return False
    inner = model.forward
    model.forward = lambda features, **kwargs: {
        "scores": inner(features, **kwargs)["scores"].flip(-1)}
    return True


def dense_pooling(_spec, model) -> bool:
    for module in model if backbone(model) is not None else ():
        if type(module).__name__ == "Pooling":
            module.pooling_mode = {"cls": "mean", "mean": "cls"}[module.pooling_mode]
            return True
    return False


def early(_spec, model) -> bool:
    if backbone(model) is not None:
        model.max_seq_length -= 1
    else:
        model.limit -= 1
    return True


def prompt_ignored(_spec, model) -> bool:
    if backbone(model) is None or model.default_prompt_name is None:
        return False
    model.default_prompt_name = None
    return True


def yes_no_swapped(spec, model) -> bool:
    if is_official(spec):
        model.yes, model.no = model.no, model.yes
        return True
    last = model[-1]
    if type(last).__name__ != "LogitScore" or last.false_token_id is None:
        return False
    last.true_token_id, last.false_token_id = last.false_token_id, last.true_token_id
    return True


def no_ignored(_spec, model) -> bool:
    last = None if backbone(model) is None else model[-1]
    if type(last).__name__ != "LogitScore" or last.false_token_id is None:
        return False
    last.false_token_id = None
    return True


def pad_id(value: Callable) -> Plant:
    def plant(spec, model) -> bool:
        if spec.family != "qwen3" or spec.kind != "sequence":
            return False
        config = model[0].model.config
        new = value(model)
        changed = config.pad_token_id != new
        config.pad_token_id = new
        return changed
    return plant


def embedding_as_head(spec, model) -> bool:
    if spec.family != "qwen3" or not spec.lm_head:
        return False
    inner = model.model if is_official(spec) else model[0].model
    inner.lm_head.weight = inner.model.embed_tokens.weight
    return True


def end_lost(spec, model) -> bool:
    if is_official(spec):
        model.ids = lambda case: (model.prefix + model.body(case) + model.suffix)[:model.limit]
        return True
    if without_template(spec, model):
        return False
    model[0].processing_kwargs = {"chat_template": {"restore_suffix": False}}
    return True


def end_appended(spec, model) -> bool:
    """The end of the template after max_seq_length tokens, instead of in their place."""
    if is_official(spec):
        model.ids = lambda case: model.prefix + model.body(case)[:model.limit] + model.suffix
        return True
    return False


def template_skipped(spec, model) -> bool:
    if is_official(spec) or without_template(spec, model):
        return False
    del model[0].modality_config["message"]
    inner = model.preprocess  # two empty texts would give no token at all
    model.preprocess = lambda inputs, **kwargs: inner(
        [["a", ""]] if inputs == [["", ""]] else inputs, **kwargs)
    return True


def instruction_ignored(spec, model) -> bool:
    if is_official(spec):
        inner = model.body
        model.body = lambda case: inner({**case, "instruction": RERANK_INSTRUCTION})
    return is_official(spec)


def activation(name: str, function: nn.Module) -> CrossFault:
    def plant(spec, model) -> bool:
        if backbone(model) is None or type(model.activation_fn) is type(function):
            return False
        model.activation_fn = function
        return True
    return CrossFault(name, plant, "scores")


def function_applied(name: str) -> CrossFault:
    def plant(_spec, model) -> bool:
        if backbone(model) is None or cross_oracle.pipeline_function(model) == name:
            return False
        model.pipeline_function = name
        return True
    return CrossFault(f"{name} for classification whatever the file says", plant, "probabilities")


FAULTS = [
    CrossFault("pooler skipped", pooler_skipped),
    CrossFault("tanh of the pooler dropped", pooler_tanh_dropped),
    bias_dropped("pooler.dense"),
    bias_dropped("classifier"),
    CrossFault("RoBERTa's head: dense skipped", dense_skipped),
    CrossFault("RoBERTa's head: tanh dropped", roberta_tanh_dropped),
    bias_dropped("classifier.dense"),
    bias_dropped("classifier.out_proj"),
    bias_dropped("2.linear"),
    CrossFault("Dense scores: cls and mean pooling swapped", dense_pooling),
    CrossFault("labels in the reverse order", labels_reversed),
    *faults_cross_inputs.FAULTS,
    CrossFault("truncated one token early", early),
    CrossFault("default prompt ignored", prompt_ignored),
    CrossFault("yes and no swapped", yes_no_swapped),
    CrossFault("logit of no ignored", no_ignored),
    CrossFault("sequence classification: last token, padding or not", pad_id(lambda _: None)),
    CrossFault("sequence classification: padding id of the tokenizer",
               pad_id(lambda model: model.tokenizer.pad_token_id)),
    CrossFault("lm_head ignored", embedding_as_head),
    CrossFault("end of the template lost by truncation", end_lost),
    CrossFault("body cut to the whole length", end_appended),
    CrossFault("chat template skipped", template_skipped),
    CrossFault("instruction ignored", instruction_ignored),
    activation("sigmoid whatever the file says", nn.Sigmoid()),
    activation("no activation whatever the file says", nn.Identity()),
    function_applied("sigmoid"),
    function_applied("softmax"),
    function_applied("none"),
]
