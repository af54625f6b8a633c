"""The list of tiny variants. Each name is a directory under tests/golden/tiny."""

from __future__ import annotations

from tiny_models import Dense, Spec

TANH = "torch.nn.modules.activation.Tanh"
IDENTITY = "torch.nn.modules.linear.Identity"
PROMPTS = {
    "prompts": {"query": "what is the ", "passage": ""},
    "default_prompt_name": "query",
    "similarity_fn_name": "cosine",
}
PROMPT_ENCODES = [{}, {"prompt_name": "passage"}, {"prompt": "the: "}]

POOLING = [
    Spec("bert-mean", "BERT, mean pooling by the old booleans; head_dim 12", 11,
         config={"hidden_size": 36, "num_attention_heads": 3, "intermediate_size": 36}),
    Spec("bert-cls", "BERT, CLS pooling by the old booleans (BGE)", 12, pooling=("cls",),
         config={"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48}),
    Spec("bert-max", "max pooling, not normalized", 13, pooling=("max",), normalize=False),
    Spec("bert-sqrt-len", "mean_sqrt_len_tokens: sum divided by sqrt(n), not normalized", 14,
         pooling=("mean_sqrt_len_tokens",), normalize=False, tolerance=2e-5),
    Spec("bert-weightedmean", "weights 1..n over the tokens", 15, pooling=("weightedmean",)),
    Spec("bert-lasttoken", "the last real token ([SEP])", 16, pooling=("lasttoken",)),
    Spec("bert-concat", "cls, max and mean together, concatenated in that order", 17,
         pooling=("mean", "max", "cls"), normalize=False),
    Spec("bert-pooling-new", "pooling_mode as a string and embedding_dimension only; "
         "Matryoshka cut, then normalized again", 18, pooling_file={"pooling_mode": "mean"},
         new_class_paths=True, encodes=[{}, *({"dimensions": n} for n in (1, 8, 24))]),
    Spec("bert-pooling-list", "pooling_mode as a list: concatenated in the order of the list", 19,
         pooling_file={"pooling_mode": ["mean", "cls"], "include_prompt": True},
         new_class_paths=True, normalize=False),
    Spec("bert-pooling-none", "no boolean true: mean", 20, pooling=None),
]

PROMPT_AND_LENGTH = [
    Spec("bert-prompt-included", "prompts are prepended and pooled; default_prompt_name applies",
         21, st_config=PROMPTS, encodes=PROMPT_ENCODES),
    Spec("bert-prompt-excluded", "include_prompt false: mean without the prompt's tokens", 22,
         st_config=PROMPTS, include_prompt=False, encodes=PROMPT_ENCODES),
    Spec("bert-prompt-excluded-cls", "include_prompt false with CLS: the first token after the "
         "prompt; weights of weightedmean keep their positions", 23, st_config=PROMPTS,
         include_prompt=False, pooling=("cls", "weightedmean"), encodes=PROMPT_ENCODES),
    Spec("bert-length-model-max", "no sentence_bert_config.json: model_max_length 40 rules", 24,
         max_seq_length=None, tokenizer_config={"model_max_length": 40}),
    Spec("bert-length-positions", "no sentence_bert_config.json, huge model_max_length: "
         "max_position_embeddings rules", 25, max_seq_length=None,
         tokenizer_config={"model_max_length": 1000000000000000019884624838656}),
    Spec("bert-length-short", "max_seq_length below model_max_length and positions", 26,
         max_seq_length=10, encodes=[{}]),
]

FILES = [
    Spec("bert-prefix-gamma", "bert. prefix, gamma and beta, position_ids, a pooler", 31,
         prefix="bert.", gamma_beta=True, position_ids=True, pooler=True),
    Spec("bert-pooler", "an unused pooler and position_ids without a prefix", 32, pooler=True,
         position_ids=True),
    Spec("bert-f16", "weights stored as F16", 33, dtype="F16"),
    Spec("bert-bf16", "weights stored as BF16", 34, dtype="BF16"),
    Spec("bert-sharded", "two shards and an index: the same vectors as bert-mean", 11, shards=2,
         same_as="bert-mean",
         config={"hidden_size": 36, "num_attention_heads": 3, "intermediate_size": 36}),
    Spec("bert-plain", "no modules.json: mean pooling, not normalized", 36, plain=True),
]

ARITHMETIC = [
    Spec("bert-gelu-new", "hidden_act gelu_new (tanh form)", 41, config={"hidden_act": "gelu_new"},
         pooling=("cls",), normalize=False),
    Spec("bert-gelu-tanh", "hidden_act gelu_pytorch_tanh", 42,
         config={"hidden_act": "gelu_pytorch_tanh"}, pooling=("max",), normalize=False),
    Spec("bert-relu", "hidden_act relu", 43, config={"hidden_act": "relu"}),
    Spec("bert-silu", "hidden_act silu", 44, config={"hidden_act": "silu"}),
    Spec("bert-eps-1e-12", "layer_norm_eps 1e-12 on small activations: no larger eps is used", 45,
         embedding_scale=1e-3),
    Spec("bert-eps-1e-5", "layer_norm_eps 1e-5 on small activations", 46, embedding_scale=5e-3,
         config={"layer_norm_eps": 1e-5}),
    Spec("bert-eps-1e-2", "a large layer_norm_eps in every LayerNorm", 47,
         config={"layer_norm_eps": 1e-2}),
    Spec("bert-head-dim-20", "two heads of 20", 48,
         config={"hidden_size": 40, "num_attention_heads": 2, "intermediate_size": 28}),
    Spec("bert-one-head", "one head of 12, three layers, odd intermediate size", 49,
         config={"hidden_size": 12, "num_attention_heads": 1, "num_hidden_layers": 3,
                 "intermediate_size": 37}),
]

MODULES = [
    Spec("bert-dense-tanh", "Dense with Tanh, old class paths, then Normalize", 51,
         dense=[Dense(16, TANH)]),
    Spec("bert-dense-identity", "Dense with Identity and no bias, new class paths, no Normalize",
         52, dense=[Dense(40, IDENTITY, bias=False)], new_class_paths=True, normalize=False,
         encodes=[{}, {"dimensions": 8}]),
    Spec("bert-dense-default", "Dense without an activation key: Tanh; two Dense in order", 53,
         dense=[Dense(30, None), Dense(20, IDENTITY)], new_class_paths=True, normalize=False),
    Spec("bert-dense-residual", "use_residual with and without its own projection", 54,
         dense=[Dense(24, TANH, use_residual=True), Dense(16, TANH, use_residual=True)],
         new_class_paths=True, normalize=False),
    Spec("bert-layer-norm", "LayerNorm module after pooling, no Normalize", 55, layer_norm=True,
         normalize=False),
    Spec("bert-concat-dense", "Dense over concatenated pooling, then LayerNorm and Normalize", 56,
         pooling=("cls", "mean"), dense=[Dense(20, TANH)], layer_norm=True),
    Spec("bert-no-normalize", "Normalize absent: the vector is not unit length", 57,
         normalize=False),
]

TOKENIZERS = [
    Spec("bert-cased", "cased WordPiece: case and accents stay", 61, tokenizer="cased"),
    Spec("bert-vocab-uncased", "vocab.txt alone, do_lower_case true", 62, vocab_txt_only=True),
    Spec("bert-vocab-cased", "vocab.txt alone, do_lower_case false", 63, tokenizer="cased",
         vocab_txt_only=True),
    Spec("bert-vocab-flags", "vocab.txt alone, strip_accents false, tokenize_chinese_chars false",
         64, vocab_txt_only=True,
         tokenizer_config={"strip_accents": False, "tokenize_chinese_chars": False}),
    Spec("bert-st-lowercase", "do_lower_case in sentence_bert_config.json lowercases for a cased "
         "tokenizer", 65, tokenizer="cased", st_lowercase=True),
    Spec("bert-unigram", "BERT weights with a Unigram tokenizer (e5-small)", 66,
         tokenizer="unigram-bert"),
    Spec("bert-no-type-ids", "model_input_names without token_type_ids: a pair is all type 0", 67,
         tokenizer_config={"model_input_names": ["input_ids", "attention_mask"]}),
]

XLM_ROBERTA = [
    Spec("xlmr-mean", "XLM-R: positions start at pad_token_id + 1, one token type, Unigram", 71,
         architecture="xlm-roberta", tokenizer="unigram",
         tokenizer_config={"tokenizer_class": "XLMRobertaTokenizer"}),
    Spec("xlmr-pair-types", "type ids of 1 in the template must not index the one token type", 72,
         architecture="xlm-roberta", tokenizer="unigram-types", pooling=("cls",)),
    Spec("xlmr-prefix", "roberta. prefix, a pooler and position_ids; length from model_max_length",
         73, architecture="xlm-roberta", tokenizer="unigram", prefix="roberta.", pooler=True,
         position_ids=True, max_seq_length=None, tokenizer_config={"model_max_length": 48}),
    Spec("roberta-bytelevel", "RoBERTa: byte-level BPE, position offset", 74,
         architecture="roberta", tokenizer="bytelevel",
         tokenizer_config={"tokenizer_class": "RobertaTokenizer"}),
]

VARIANTS = POOLING + PROMPT_AND_LENGTH + FILES + ARITHMETIC + MODULES + TOKENIZERS + XLM_ROBERTA
