"""What the multi-token prediction head of a Qwen3.5 directory predicts, by transformers' MtpModel.

The library builds the head only when config.json has num_mtp_layers and mtp_layer_types, which
released Qwen3.5 files have not; here they are set. The hidden states given to the head are those
after the model's final norm, as in the library's own speculative decoding.
"""

from __future__ import annotations

import torch
from transformers.modeling_layers import MtpModel

from qwen3_5_oracle import Oracle


class Mtp:
    """The head beside the model it belongs to."""

    def __init__(self, oracle: Oracle) -> None:
        oracle.config.num_mtp_layers = 1
        oracle.config.mtp_layer_types = ["full_attention"]
        self.oracle = oracle
        rope = oracle.decoder.rotary_emb
        frequencies = rope.inv_freq, rope.original_inv_freq
        self.head = MtpModel.from_pretrained(oracle.model).eval()
        if oracle.double:
            self.head.double()
        rope.inv_freq, rope.original_inv_freq = frequencies

    def logits(self, ids: list[int], following: int) -> torch.Tensor:
        """[vocab_size] for the token after `following`, which itself comes after `ids`."""
        shifted = torch.tensor([[*ids[1:], following]])
        positions = torch.arange(1, len(ids) + 1)[None]
        hidden = self.oracle.hidden(ids)[None]
        with self.oracle.computing():
            state = self.head.forward_layer(0, hidden, positions, None, input_ids=shifted)
        return self.oracle.head(state[0, -1])
