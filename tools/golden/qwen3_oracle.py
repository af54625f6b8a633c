"""A true float64 Qwen3 oracle: transformers without the float32 casts of its norms and softmax.

RoPE stays as the library computes it: inv_freq, position x inv_freq, cos and sin in float32. In a
float32 model nothing changes, because the casts left out are to float32.
"""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from transformers.models.qwen3 import modeling_qwen3

from common import load_oracle


def _rms_norm(self, hidden_states: torch.Tensor) -> torch.Tensor:
    variance = hidden_states.pow(2).mean(-1, keepdim=True)
    return self.weight * (hidden_states * torch.rsqrt(variance + self.variance_epsilon))


def _eager_attention(module, query, key, value, attention_mask, scaling, **_kwargs):
    key = modeling_qwen3.repeat_kv(key, module.num_key_value_groups)
    value = modeling_qwen3.repeat_kv(value, module.num_key_value_groups)
    scores = torch.matmul(query, key.transpose(2, 3)) * scaling
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), weights


def patch() -> None:
    """Puts the functions above into transformers, for this process."""
    modeling_qwen3.Qwen3RMSNorm.forward = _rms_norm
    modeling_qwen3.eager_attention_forward = _eager_attention


def load(directory: Path, double: bool):
    """The sentence-transformers oracle, with `lm_head` ([vocab_size, hidden_size]) beside it.

    `lm_head` is what Qwen3ForCausalLM uses for this directory: its own matrix, or the embedding.
    `lm_head_is_known` is False when neither is in the file as config.json wants it.
    """
    patch()
    model = load_oracle(directory, double)
    causal, info = transformers.AutoModelForCausalLM.from_pretrained(
        str(directory), local_files_only=True, dtype=torch.float32, output_loading_info=True)
    weight = causal.lm_head.weight.detach()
    model.lm_head = weight.double() if double else weight
    model.lm_head_is_known = "lm_head.weight" not in info["missing_keys"]
    return model


def reset_rope(model) -> None:
    """Forgets how long the last text was: dynamic scaling keeps its table as long as it is used."""
    rope = model[0].auto_model.rotary_emb
    if rope.rope_type == "dynamic":
        rope.inv_freq = rope.original_inv_freq
        rope.max_seq_len_cached = rope.original_max_seq_len
