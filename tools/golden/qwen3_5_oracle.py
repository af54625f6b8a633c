"""A true float64 oracle of Qwen3.5 and Qwen3 as causal models: transformers without its casts.

The library computes norms, the softmax and the delta rule in float32 whatever the model's type.
Keep64 leaves out each cast from float64 to float32, so that the library's own code computes in
float64. The gated delta rule is the library's recurrence, token by token, for every length.

RoPE stays float32 as the library has it (inv_freq, position x inv_freq, cos and sin), because its
rounding is part of the result.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import torch
import transformers
from torch.overrides import TorchFunctionMode
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.models.qwen3_5 import modeling_qwen3_5

QUERY_ROWS = 256  # rows of the score matrix that exist at a time
CHUNKED = modeling_qwen3_5.torch_chunk_gated_delta_rule
RECURRENT = modeling_qwen3_5.torch_recurrent_gated_delta_rule


class Keep64(TorchFunctionMode):
    """Makes casts of float64 tensors to float32 do nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        source = args[0] if args and isinstance(args[0], torch.Tensor) else None
        if source is not None and source.dtype == torch.float64:
            if func is torch.Tensor.float:
                return source
            args = tuple(torch.float64 if arg is torch.float32 else arg for arg in args)
            if kwargs.get("dtype") is torch.float32:
                kwargs["dtype"] = torch.float64
        return func(*args, **kwargs)


def attention(module, query, key, value, attention_mask, scaling, **_kwargs):
    """Causal attention in the type of its inputs, some rows at a time; the library's interface."""
    groups = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    length, past = query.shape[2], key.shape[2] - query.shape[2]
    out = torch.empty_like(query)
    for start in range(0, length, QUERY_ROWS):
        stop = min(start + QUERY_ROWS, length)
        seen = past + stop
        scores = query[:, :, start:stop] @ key[:, :, :seen].transpose(2, 3) * scaling
        hidden = torch.arange(seen)[None] > torch.arange(past + start, seen)[:, None]
        scores = scores.masked_fill(hidden, -torch.inf)
        out[:, :, start:stop] = torch.softmax(scores, dim=-1) @ value[:, :, :seen]
    return out.transpose(1, 2).contiguous(), None


AttentionInterface.register("blockwise", attention)
AttentionMaskInterface.register("blockwise", lambda *_args, **_kwargs: None)


class Oracle:
    """One model directory. Without `double` it is the unmodified library in float32."""

    def __init__(self, directory: Path, double: bool = True, chunked: bool = False) -> None:
        self.double, self.chunked = double, chunked
        config = transformers.AutoConfig.from_pretrained(str(directory), local_files_only=True)
        text = config.get_text_config()
        # AutoModelForCausalLM reads the nested key, ForConditionalGeneration the one at the root.
        text.tie_word_embeddings |= config.tie_word_embeddings
        self.model, info = transformers.AutoModelForCausalLM.from_pretrained(
            str(directory), config=config, local_files_only=True, dtype=torch.float32,
            attn_implementation="blockwise" if double else "eager", output_loading_info=True)
        assert not info["missing_keys"] and not info["unexpected_keys"], info
        self.model.eval()
        self.config, self.decoder = self.model.config, self.model.model
        if double:
            rope = self.decoder.rotary_emb
            frequencies = rope.inv_freq.clone(), rope.original_inv_freq.clone()
            self.model.double()
            rope.inv_freq, rope.original_inv_freq = frequencies

    @contextlib.contextmanager
    def computing(self):
        """The context that everything is computed in."""
        if not self.double:
            with torch.no_grad():
                yield
            return
        modeling_qwen3_5.torch_chunk_gated_delta_rule = CHUNKED if self.chunked else RECURRENT
        try:
            with torch.no_grad(), Keep64():
                yield
        finally:
            modeling_qwen3_5.torch_chunk_gated_delta_rule = CHUNKED

    def hidden(self, ids: list[int]) -> torch.Tensor:
        """[tokens, hidden_size] after the final norm."""
        with self.computing():
            return self.decoder(input_ids=torch.tensor([ids]), use_cache=False
                                ).last_hidden_state[0]

    def head(self, hidden: torch.Tensor) -> torch.Tensor:
        with self.computing():
            return self.model.lm_head(hidden)

    def greedy(self, ids: list[int], count: int) -> tuple[list[int], list[float]]:
        """The next `count` tokens by argmax, and the gap between the best two logits each time."""
        tokens, gaps, cache = [], [], None
        fed = torch.tensor([ids])
        for _ in range(count):
            with self.computing():
                out = self.model(input_ids=fed, cache=cache, use_cache=True, logits_to_keep=1)
            cache = out.cache
            best = out.logits[0, -1].topk(2)
            tokens.append(int(best.indices[0]))
            gaps.append(float(best.values[0] - best.values[1]))
            fed = torch.tensor([tokens[-1:]])
        return tokens, gaps
