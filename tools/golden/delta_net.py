"""Gated DeltaNet and gated attention written out, so that any part can be exchanged.

The fields of DeltaNet and GatedAttention are the right parts. faults_qwen3_5.py puts wrong ones in
their place; with none exchanged the results are the library's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

Tensor = torch.Tensor
L2_EPS = 1e-6


def split_qkv(net, mixed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """[tokens, channels] laid out Q | K | V; each part as [tokens, heads, width]."""
    q, k, v = mixed.split([net.key_dim, net.key_dim, net.value_dim], dim=-1)
    return tuple(x.unflatten(-1, (-1, width)) for x, width in (
        (q, net.head_k_dim), (k, net.head_k_dim), (v, net.head_v_dim)))


def convolve(_net, x: Tensor, weight: Tensor, past: Tensor) -> Tensor:
    """The last tap belongs to the token itself; `past` are the inputs before the first token."""
    padded, length = torch.cat([past, x]), len(x)
    return sum(padded[j:j + length] * weight[:, j] for j in range(weight.shape[1]))


def l2_normalize(_net, x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + L2_EPS)


def scale(_net, q: Tensor) -> Tensor:
    return q * q.shape[-1] ** -0.5


def grouped(net, heads: Tensor) -> Tensor:
    return heads // (net.num_v_heads // net.num_k_heads)


def log_decay(net, a: Tensor) -> Tensor:
    return -net.A_log.exp() * F.softplus(a + net.dt_bias)


def write_strength(_net, b: Tensor) -> Tensor:
    return torch.sigmoid(b)


def step(state: Tensor, q: Tensor, k: Tensor, v: Tensor, g: Tensor,
         beta: Tensor) -> tuple[Tensor, Tensor]:
    """One token: the new state [heads, key, value] and its output [heads, value]."""
    state = state * g.exp()[:, None, None]
    delta = (v - (state * k[:, :, None]).sum(1)) * beta[:, None]
    state = state + k[:, :, None] * delta[:, None]
    return state, (state * q[:, :, None]).sum(1)


def recurrence(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, state: Tensor,
               one: Callable = step) -> tuple[Tensor, Tensor]:
    outputs = []
    for token in zip(q, k, v, g, beta):
        state, output = one(state, *token)
        outputs.append(output)
    return torch.stack(outputs), state


def gated_norm(net, o: Tensor, z: Tensor) -> Tensor:
    variance = o.pow(2).mean(-1, keepdim=True)
    return net.norm.weight * o * torch.rsqrt(variance + net.layer_norm_epsilon) * F.silu(z)


def nothing_kept(_net, _values: Any) -> None:
    return None


@dataclasses.dataclass
class DeltaNet:
    """The parts of one layer; each takes the library's module first."""

    split: Callable = split_qkv
    weight: Callable = lambda net: net.conv1d.weight[:, 0]
    conv: Callable = convolve
    activation: Callable = F.silu
    normalize_q: Callable = l2_normalize
    normalize_k: Callable = l2_normalize
    scale: Callable = scale
    owner: Callable = grouped  # value head -> key head
    decay: Callable = log_decay
    beta: Callable = write_strength
    rule: Callable = recurrence
    output: Callable = gated_norm
    first_state: Callable = nothing_kept  # -> the state before the first token, None for zeros
    first_inputs: Callable = nothing_kept  # -> the inputs of the convolution before it
    keep: Callable = nothing_kept  # given both after the last token

    def forward(self, net, hidden: Tensor) -> Tensor:
        x = hidden[0]
        mixed, weight = net.in_proj_qkv(x), self.weight(net)
        past = self.first_inputs(net, None)
        if past is None:
            past = mixed.new_zeros(weight.shape[1] - 1, mixed.shape[1])
        q, k, v = self.split(net, self.activation(self.conv(net, mixed, weight, past)))
        q, k = self.scale(net, self.normalize_q(net, q)), self.normalize_k(net, k)
        owner = self.owner(net, torch.arange(net.num_v_heads))
        g, beta = self.decay(net, net.in_proj_a(x)), self.beta(net, net.in_proj_b(x))
        state = self.first_state(net, None)
        if state is None:
            state = v.new_zeros(net.num_v_heads, net.head_k_dim, net.head_v_dim)
        o, state = self.rule(q[:, owner], k[:, owner], v, g, beta, state)
        self.keep(net, (state, torch.cat([past, mixed])[len(mixed):]))
        z = net.in_proj_z(x).unflatten(-1, (-1, net.head_v_dim))
        return net.out_proj(self.output(net, o, z).flatten(1))[None]


def split_gate(attn, projected: Tensor) -> tuple[Tensor, Tensor]:
    """q_proj's output is [query | gate] for every head; both as [tokens, heads, head_dim]."""
    return projected.unflatten(-1, (-1, 2 * attn.head_dim)).chunk(2, dim=-1)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """The first dims of each head, in pairs (i, i + half)."""
    rotated = cos.shape[-1]
    half = rotated // 2
    a, b, rest = x[..., :half], x[..., half:rotated], x[..., rotated:]
    cos, sin = cos[..., :half], sin[..., :half]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


@dataclasses.dataclass
class GatedAttention:
    split: Callable = split_gate
    rotate: Callable = rotate
    norm_q: bool = True
    norm_k: bool = True
    norm_after_rope: bool = False
    causal: bool = True
    modulo_heads: bool = False
    scale_dim: Callable = lambda attn: attn.head_dim
    gate: Callable | None = torch.sigmoid
    gate_after_o_proj: bool = False

    def forward(self, attn, hidden: Tensor, position_embeddings: tuple) -> tuple[Tensor, None]:
        x = hidden[0]
        q, gate = self.split(attn, attn.q_proj(x))
        k, v = (linear(x).unflatten(-1, (-1, attn.head_dim))
                for linear in (attn.k_proj, attn.v_proj))
        cos, sin = (part[0][:, None] for part in position_embeddings)
        q = attn.q_norm(q) if self.norm_q and not self.norm_after_rope else q
        k = attn.k_norm(k) if self.norm_k and not self.norm_after_rope else k
        q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
        q = attn.q_norm(q) if self.norm_after_rope else q
        k = attn.k_norm(k) if self.norm_after_rope else k
        heads, kv_heads = q.shape[1], k.shape[1]
        h = torch.arange(heads)
        owner = h % kv_heads if self.modulo_heads else h // (heads // kv_heads)
        scores = torch.einsum("ihd,jhd->hij", q, k[:, owner]) * self.scale_dim(attn) ** -0.5
        if self.causal:
            length = len(x)
            scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), -torch.inf)
        context = torch.einsum("hij,jhd->ihd", torch.softmax(scores, -1), v[:, owner]).flatten(1)
        factor = self.gate(gate).flatten(1) if self.gate else torch.ones_like(context)
        if self.gate_after_o_proj:
            return (attn.o_proj(context) * factor)[None], None
        return attn.o_proj(context * factor)[None], None
