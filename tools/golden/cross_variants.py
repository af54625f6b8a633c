"""The list of tiny cross-encoders. Each name is a directory under tests/golden/cross."""

from __future__ import annotations

from cross_models import IDENTITY, TANH, CrossSpec as Spec

NLI = ("contradiction", "entailment", "neutral")
ROBERTA = {"architecture": "roberta", "tokenizer": "bytelevel",
           "tokenizer_config": {"model_max_length": 48}}
XLMR = {"architecture": "xlm-roberta", "tokenizer": "unigram",
        "tokenizer_config": {"model_max_length": 48}}

BERT = [
    Spec("bert-1-label", "one label, as released rerankers have it: pooler, tanh, classifier; "
         "sigmoid is the default", 301),
    Spec("bert-identity", "sentence_transformers.activation_fn in config.json: Identity", 302,
         activation=IDENTITY),
    Spec("bert-old-activation", "sbert_ce_default_activation_function in config.json: Identity",
         303, old_activation=IDENTITY),
    Spec("bert-both-activations", "sentence_transformers.activation_fn goes before the old key",
         304, activation=TANH, old_activation=IDENTITY),
    Spec("bert-tanh-activation", "activation_fn: Tanh", 305, activation=TANH),
    Spec("bert-untrusted-activation", "an activation outside torch.: the default is used", 306,
         activation="some_package.Activation"),
    Spec("bert-3-labels", "three labels: softmax for classification, no activation for predict",
         307, labels=NLI),
    Spec("bert-default-labels", "no id2label: two labels named LABEL_0 and LABEL_1", 308,
         labels=None),
    Spec("bert-num-labels", "num_labels 3 without id2label: three labels with plain names", 317,
         labels=None, config={"num_labels": 3}),
    Spec("bert-num-labels-wins", "num_labels 1 beside an id2label of two: one label, LABEL_0",
         318, labels=("no", "yes"), config={"num_labels": 1}),
    Spec("bert-multi-label", "problem_type multi_label_classification: sigmoid of each label",
         309, labels=("toxic", "rude", "threat", "fine"),
         config={"problem_type": "multi_label_classification"}),
    Spec("bert-regression", "problem_type regression: the value as it is", 310,
         config={"problem_type": "regression"}),
    Spec("bert-unprefixed", "tensor names without bert.", 311, unprefixed=True),
    Spec("bert-old-names", "gamma and beta, position_ids", 312, gamma_beta=True,
         position_ids=True),
    Spec("bert-f16", "weights stored as F16", 313, dtype="F16", labels=NLI),
    Spec("bert-sharded", "two shards and an index", 314, shards=2),
    Spec("bert-one-type", "type_vocab_size 1; the tokenizer's types are left out by "
         "model_input_names", 315, config={"type_vocab_size": 1},
         tokenizer_config={"model_input_names": ["input_ids", "attention_mask"]}),
    Spec("bert-no-token-type-names", "two types, but model_input_names leaves them out: all are "
         "0", 316, tokenizer_config={"model_input_names": ["input_ids", "attention_mask"]}),
]

LENGTH = [
    Spec("bert-short", "max length 12: longest first, from query, document or both", 321,
         tokenizer_config={"model_max_length": 12}),
    Spec("bert-shorter", "max length 7: four tokens for two texts", 322,
         tokenizer_config={"model_max_length": 7}),
    Spec("bert-length-positions", "model_max_length beyond max_position_embeddings: the "
         "smaller one", 323, config={"max_position_embeddings": 20},
         tokenizer_config={"model_max_length": 1000000000000000019884624838656}),
    Spec("bert-length-st", "sentence_bert_config.json is not read without modules.json", 324,
         max_seq_length=10, stray_st_length=True, tokenizer_config={"model_max_length": 30}),
    Spec("bert-modular-length", "max_seq_length of sentence_bert_config.json, with modules.json",
         325, modular="transformer", max_seq_length=16,
         tokenizer_config={"model_max_length": 30}),
]

ROBERTAS = [
    Spec("roberta-1-label", "RoBERTa's head: dense and tanh on <s>, then out_proj; two "
         "separators", 331, **ROBERTA),
    Spec("roberta-3-labels", "three labels; F16", 332, labels=NLI, dtype="F16", **ROBERTA),
    Spec("xlmr-1-label", "XLM-R as released rerankers have it: <s> q </s></s> d </s>", 333,
         **XLMR),
    Spec("xlmr-identity", "XLM-R with Identity in config.json", 334, activation=IDENTITY, **XLMR),
    Spec("camembert-1-label", "CamemBERT: RoBERTa's layout under another name", 335,
         architecture="xlm-roberta", tokenizer="unigram", config={"model_type": "camembert"},
         tokenizer_config={"model_max_length": 48}),
]

MODULAR = [
    Spec("bert-modular", "modules.json as version 6 writes it: one Transformer; the activation "
         "is in config_sentence_transformers.json", 341, modular="transformer",
         st_activation=IDENTITY),
    Spec("bert-modular-activations", "config_sentence_transformers.json goes before config.json",
         342, modular="transformer", st_activation=TANH, activation=IDENTITY),
    Spec("bert-modular-3-labels", "modules.json and three labels", 343, modular="transformer",
         labels=NLI, st_activation=IDENTITY),
    Spec("bert-modular-prompt", "default_prompt_name: the prompt goes in front of the query", 344,
         modular="transformer",
         st_config={"prompts": {"query": "what is the "}, "default_prompt_name": "query"}),
    Spec("bert-modular-converted", "config_sentence_transformers.json without model_type: only "
         "config.json and the classifier are read, not its activation, prompts and lengths", 347,
         modular="transformer", st_model_type=False, st_activation=IDENTITY, max_seq_length=16,
         st_config={"prompts": {"query": "what is the "}, "default_prompt_name": "query"}),
    Spec("bert-modular-dense", "Transformer, CLS pooling, and a Dense whose output is the score",
         345, modular="dense", pooling=("cls",)),
    Spec("bert-modular-dense-mean", "the same with mean pooling and three scores", 346,
         modular="dense", pooling=("mean",), labels=("LABEL_0", "LABEL_1", "LABEL_2"),
         st_activation=IDENTITY),
]

VARIANTS = BERT + LENGTH + ROBERTAS + MODULAR
