"""The list of tiny Qwen3 cross-encoders. Each name is a directory under tests/golden/cross."""

from __future__ import annotations

from cross_models import IDENTITY
from cross_qwen3 import CrossQwen3Spec as Spec

UNTIED = {"tie_word_embeddings": False}
VARIANTS = [
    Spec("qwen3-seq-cls", "Qwen3ForSequenceClassification: score (no bias) at the last token; "
         "texts joined without a separator", 401, kind="sequence",
         config={"max_position_embeddings": 64}),
    Spec("qwen3-seq-cls-eos", "the last token is pad_token_id: the one before it is taken", 402,
         kind="sequence", reranker_tokenizer=False, config={"max_position_embeddings": 64}),
    Spec("qwen3-seq-cls-no-pad", "no pad_token_id: the last token, even <|endoftext|>", 403,
         kind="sequence", reranker_tokenizer=False, activation=IDENTITY,
         config={"max_position_embeddings": 64, "pad_token_id": "absent"}),
    Spec("qwen3-seq-cls-3-labels", "three labels; F16", 404, kind="sequence", dtype="F16",
         labels=("contradiction", "entailment", "neutral"),
         config={"max_position_embeddings": 64}),
    Spec("qwen3-seq-cls-template", "sequence classification of what the chat template makes of "
         "query and document", 405, kind="sequence", template="config", activation=IDENTITY),
    Spec("qwen3-logit-score", "modules.json with LogitScore, tied embeddings; pairs through the "
         "chat template in chat_template.jinja; its end survives truncation", 411, modules=True,
         template="jinja", st_activation=IDENTITY),
    Spec("qwen3-logit-score-untied", "the same with a head of its own, and sigmoid; the template "
         "in tokenizer_config.json", 412, modules=True, template="config", lm_head=True,
         config=UNTIED),
    Spec("qwen3-logit-score-true-only", "no false token: the logit of the true one", 413,
         modules=True, template="jinja", true_only=True, st_activation=IDENTITY),
    Spec("qwen3-logit-score-prompt", "the default prompt becomes the system message, here the "
         "instruction", 414, modules=True, template="jinja", st_activation=IDENTITY,
         st_config={"prompts": {"question": "Given a question, find the answer"},
                    "default_prompt_name": "question"}),
    Spec("qwen3-logit-score-length", "max_seq_length of sentence_bert_config.json: documents are "
         "cut early, the end of the template is put back", 415, modules=True, template="jinja",
         max_seq_length=160, st_activation=IDENTITY),
    Spec("qwen3-logit-score-text", "modules.json without the message modality: the two texts "
         "joined, whatever the chat template says", 416, modules=True, template="jinja",
         message=False, max_seq_length=64),
    Spec("qwen3-causal-plain", "Qwen3ForCausalLM without modules.json: LogitScore of yes and no, "
         "tied; chat template; sigmoid", 421, template="config"),
    Spec("qwen3-causal-untied", "the same, untied, Identity in config.json", 422,
         template="jinja", lm_head=True, config=UNTIED, activation=IDENTITY),
    Spec("qwen3-causal-no-template", "no chat template: the two texts joined", 423, lm_head=True,
         config={**UNTIED, "max_position_embeddings": 64}),
    Spec("qwen3-official-template", "the published prompt of Qwen3-Reranker: only the body is "
         "cut; the probability of yes against no", 431, official=True),
    Spec("qwen3-official-untied", "the same with a head of its own and a max length of 160", 432,
         official=True, lm_head=True, config={**UNTIED, "max_position_embeddings": 160}),
]
