"""Faults of a Qwen3.5 engine, planted in the oracle."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

import delta_net
from delta_net import DeltaNet, GatedAttention
from tiny_family import Fault

CHUNK = 64


def nets(oracle) -> list:
    return [layer.linear_attn for layer in oracle.decoder.layers if hasattr(layer, "linear_attn")]


def attentions(oracle) -> list:
    return [layer.self_attn for layer in oracle.decoder.layers if hasattr(layer, "self_attn")]


def always(_module) -> bool:
    return True


def delta(name: str, applies: Callable = always, invisible: str = "", **wrong) -> Fault:
    """A wrong part of every Gated DeltaNet."""
    def plant(_spec, oracle) -> bool:
        layers = nets(oracle)
        for net in layers:
            net.forward = lambda hidden_states, net=net, **_kwargs: (
                DeltaNet(**wrong).forward(net, hidden_states))
        return bool(layers) and applies(layers[0])
    return Fault(name, plant, invisible)


def attention(name: str, applies: Callable = always, invisible: str = "", **wrong) -> Fault:
    """A wrong part of every full attention."""
    def plant(_spec, oracle) -> bool:
        layers = [attn for attn in attentions(oracle) if hasattr(attn, "q_norm")]
        for attn in layers:
            attn.forward = lambda hidden_states, position_embeddings, attn=attn, **_kwargs: (
                GatedAttention(**wrong).forward(attn, hidden_states, position_embeddings))
        return bool(layers) and applies(layers[0])
    return Fault(name, plant, invisible)


def norms(name: str, change: float, chosen: Callable[[str], bool]) -> Fault:
    """Adds to the weights of some norms: -1 makes of (1 + w) a w, +1 of a w a (1 + w)."""
    def plant(_spec, oracle) -> bool:
        for parameter_name, parameter in oracle.decoder.named_parameters():
            if "norm" in parameter_name and chosen(parameter_name):
                parameter.data += change
        return True
    return Fault(name, plant)


def block_norm(name: str) -> bool:
    return "layernorm" in name


def rope(name: str, change: Callable) -> Fault:
    """`change(config, parameters, rotary)` changes rotary, and says whether that is wrong."""
    def plant(_spec, oracle) -> bool:
        rotary = oracle.decoder.rotary_emb
        return change(oracle.config, oracle.config.rope_parameters, rotary)
    return Fault(name, plant)


def rotated_dims(config, parameters) -> int:
    return int(config.head_dim * parameters["partial_rotary_factor"])


def frequencies(theta: float, dims: int, divisor: int) -> torch.Tensor:
    return 1.0 / theta ** (torch.arange(0, dims, 2, dtype=torch.float) / divisor)


def other_theta(theta: float) -> Callable:
    def change(config, parameters, rotary) -> bool:
        dims = rotated_dims(config, parameters)
        rotary.inv_freq = frequencies(theta, dims, dims)
        return parameters["rope_theta"] != theta and parameters["rope_type"] == "default"
    return change


def other_factor(factor: float) -> Callable:
    def change(config, parameters, rotary) -> bool:
        dims = int(config.head_dim * factor)
        rotary.inv_freq = frequencies(parameters["rope_theta"], dims, dims)
        return parameters["partial_rotary_factor"] != factor
    return change


def head_dim_in_exponent(config, parameters, rotary) -> bool:
    rotary.inv_freq = frequencies(parameters["rope_theta"], rotated_dims(config, parameters),
                                  config.head_dim)
    return parameters["rope_type"] == "default"


def yarn_dropped(config, parameters, rotary) -> bool:
    dims = rotated_dims(config, parameters)
    rotary.inv_freq, rotary.attention_scaling = frequencies(parameters["rope_theta"], dims,
                                                            dims), 1.0
    return parameters["rope_type"] == "yarn"


def flat_gate(attn, projected):
    return tuple(x.unflatten(-1, (-1, attn.head_dim)) for x in projected.chunk(2, dim=-1))


def gate_first(attn, projected):
    return tuple(reversed(delta_net.split_gate(attn, projected)))


def rotate_pairs(x, cos, sin):
    rotated = cos.shape[-1]
    a, b, rest = x[..., 0:rotated:2], x[..., 1:rotated:2], x[..., rotated:]
    cos, sin = cos[..., :rotated // 2], sin[..., :rotated // 2]
    pairs = torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    return torch.cat([pairs, rest], -1)


def rotate_last(x, cos, sin):
    start = x.shape[-1] - cos.shape[-1]
    return torch.cat([x[..., :start], delta_net.rotate(x[..., start:], cos, sin)], -1)


def several_groups(attn) -> bool:
    config = attn.config
    return config.num_attention_heads > config.num_key_value_heads > 1


def several_heads(attn) -> bool:
    return attn.config.num_attention_heads > 1


def fits_after_o_proj(attn) -> bool:
    return attn.o_proj.in_features == attn.o_proj.out_features


def other_scale(attn) -> bool:
    return attn.config.hidden_size // attn.config.num_attention_heads != attn.head_dim


def more_values(net) -> bool:
    return net.num_v_heads > net.num_k_heads


def more_values_than_one(net) -> bool:
    return net.num_v_heads > net.num_k_heads > 1


def several_taps(net) -> bool:
    return net.conv_kernel_size > 2


def several_value_heads(net) -> bool:
    return net.num_v_heads > 1


def other_eps(net) -> bool:
    return net.layer_norm_epsilon != delta_net.L2_EPS


def per_key_head(part: Callable) -> Callable:
    """As if there were one value for all value heads of a key head: that of the first."""
    def grouped(net, x):
        heads = torch.arange(net.num_v_heads)
        ratio = net.num_v_heads // net.num_k_heads
        return part(net, x)[:, heads // ratio * ratio]
    return grouped


def modulo_key_heads(part: Callable) -> Callable:
    """As if the values were those of the key heads, in turn."""
    def grouped(net, x):
        return part(net, x)[:, torch.arange(net.num_v_heads) % net.num_k_heads]
    return grouped


def split_in_order(*order: int) -> Callable:
    """The parts laid out in another order than Q, K, V."""
    def split(net, mixed):
        widths = [net.key_dim, net.key_dim, net.value_dim]
        parts = dict(zip(order, mixed.split([widths[i] for i in order], dim=-1)))
        return delta_net.split_qkv(net, torch.cat([parts[i] for i in range(3)], -1))
    return split


def split_by_key_head(net, mixed):
    """Laid out as q, k and its values for one key head after the other."""
    rows = mixed.unflatten(-1, (net.num_k_heads, -1))
    ratio = net.num_v_heads // net.num_k_heads
    q, k, v = rows.split([net.head_k_dim, net.head_k_dim, ratio * net.head_v_dim], -1)
    return q, k, v.unflatten(-1, (ratio, net.head_v_dim)).flatten(1, 2)


def conv_restarts(net, x, weight, past):
    """The last inputs are lost at every chunk boundary."""
    parts = []
    for start in range(0, len(x), CHUNK):
        before = past if start == 0 else torch.zeros_like(past)
        parts.append(delta_net.convolve(net, x[start:start + CHUNK], weight, before))
    return torch.cat(parts)


def conv_late(net, x, weight, past):
    """Without the token itself: taps of the tokens before it."""
    shifted = torch.cat([torch.zeros_like(x[:1]), x[:-1]])
    return delta_net.convolve(net, shifted, weight, past)


def conv_without_values(net, x, weight, past):
    out = delta_net.convolve(net, x, weight, past)
    return torch.cat([out[:, :2 * net.key_dim], x[:, 2 * net.key_dim:]], -1)


def normalized_with_eps(net, x):
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + net.layer_norm_epsilon)


def rms_normalized(_net, x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + delta_net.L2_EPS)


def identity(_net, x):
    return x


def decay_without_bias(net, a):
    return -net.A_log.exp() * F.softplus(a)


def decay_without_softplus(net, a):
    return -net.A_log.exp() * F.relu(a + net.dt_bias)


def decay_without_exp(net, a):
    return -net.A_log.abs() * F.softplus(a + net.dt_bias)


def decay_rounded(net, a):
    rounded = net.A_log.bfloat16().double()
    return -rounded.exp() * F.softplus(a + net.dt_bias)


def no_decay(_net, a):
    return torch.zeros_like(a)


def ruled(one: Callable) -> Callable:
    """The recurrence with another step."""
    return lambda *inputs: delta_net.recurrence(*inputs, one=one)


def step_without_delta(state, q, k, v, g, beta):
    state = state * g.exp()[:, None, None] + k[:, :, None] * (v * beta[:, None])[:, None]
    return state, (state * q[:, :, None]).sum(1)


def step_reads_before_decay(state, q, k, v, g, beta):
    read = (state * k[:, :, None]).sum(1)
    state = state * g.exp()[:, None, None] + k[:, :, None] * ((v - read) * beta[:, None])[:, None]
    return state, (state * q[:, :, None]).sum(1)


def step_decays_after(state, q, k, v, g, beta):
    state, output = delta_net.step(state, q, k, v, torch.zeros_like(g), beta)
    return state * g.exp()[:, None, None], output


def step_outputs_before(state, q, k, v, g, beta):
    output = (state * g.exp()[:, None, None] * q[:, :, None]).sum(1)
    return delta_net.step(state, q, k, v, g, beta)[0], output


def step_with_positive_g(state, q, k, v, g, beta):
    return delta_net.step(state, q, k, v, -g.clamp(-0.05), beta)


def step_in_bf16(state, q, k, v, g, beta):
    state, output = delta_net.step(state, q, k, v, g, beta)
    return state.bfloat16().double(), output


def decay_in_bf16(net, a):
    return delta_net.log_decay(net, a).bfloat16().double()


def state_restarts(q, k, v, g, beta, state):
    """The state is lost at every chunk boundary."""
    parts = [delta_net.recurrence(*(x[start:start + CHUNK] for x in (q, k, v, g, beta)),
                                  state)[0] for start in range(0, len(q), CHUNK)]
    return torch.cat(parts), state


def unequal_decay_at_boundaries(q, k, v, g, beta, state):
    """The first token of every chunk but the first does not decay the state."""
    g = g.clone()
    g[CHUNK::CHUNK] = 0
    return delta_net.recurrence(q, k, v, g, beta, state)


def gated_norm_of(weight_part: Callable = lambda net: net.norm.weight,
                  gate: Callable = F.silu, eps: Callable = lambda net: net.layer_norm_epsilon,
                  gate_first: bool = False, whole: bool = False) -> Callable:
    def output(net, o, z):
        if gate_first:
            o = o * gate(z)
        variance = o.pow(2).mean((-2, -1) if whole else -1, keepdim=True)
        o = weight_part(net) * o * torch.rsqrt(variance + eps(net))
        return o if gate_first else o * gate(z)
    return output


def bf16_norm_weight(net):
    return net.norm.weight.bfloat16().double()


def leak(name: str, state: bool, inputs: bool) -> Fault:
    """What one prompt leaves behind is where the next one starts."""
    def plant(_spec, oracle) -> bool:
        kept: dict = {}
        parts = DeltaNet(
            first_state=lambda net, _x: kept.get(net.layer_idx, (None, None))[0] if state else None,
            first_inputs=lambda net, _x: (
                kept.get(net.layer_idx, (None, None))[1] if inputs else None),
            keep=lambda net, values: kept.update({net.layer_idx: values}))
        for net in nets(oracle):
            net.forward = lambda hidden_states, net=net, **_kwargs: (
                parts.forward(net, hidden_states))
        return bool(nets(oracle))
    return Fault(name, plant)


def layers(name: str, change: Callable) -> Fault:
    def plant(_spec, oracle) -> bool:
        for layer in oracle.decoder.layers:
            change(layer)
        return True
    return Fault(name, plant)


def gate_and_up_swapped(layer) -> None:
    layer.mlp.gate_proj, layer.mlp.up_proj = layer.mlp.up_proj, layer.mlp.gate_proj


def gelu_for_silu(layer) -> None:
    layer.mlp.act_fn = nn.GELU()


def final_norm_skipped(_spec, oracle) -> bool:
    oracle.decoder.norm = nn.Identity()
    return True


def last_layer_skipped(_spec, oracle) -> bool:
    oracle.decoder.layers = oracle.decoder.layers[:-1]
    oracle.config.num_hidden_layers -= 1
    return True


def head_ignored(spec, oracle) -> bool:
    oracle.model.lm_head = copy.deepcopy(oracle.model.lm_head)
    oracle.model.lm_head.weight = nn.Parameter(oracle.decoder.embed_tokens.weight.detach())
    return spec.lm_head


def epsilon(value: float) -> Fault:
    def plant(_spec, oracle) -> bool:
        changed = oracle.config.rms_norm_eps != value
        for module in oracle.decoder.modules():
            for name in ("eps", "variance_epsilon", "layer_norm_epsilon"):
                if hasattr(module, name):
                    setattr(module, name, value)
        return changed
    return Fault(f"rms_norm_eps {value:g} whatever the file says", plant)


def drop_bias(suffix: str) -> Fault:
    def plant(_spec, oracle) -> bool:
        found = [p for name, p in oracle.decoder.named_parameters()
                 if name.endswith(suffix + ".bias")]
        for parameter in found:
            parameter.data.zero_()
        return bool(found)
    return Fault(f"bias of {suffix} dropped", plant)


RIGHT = "shows that the faults below are the only difference"
FAULTS = [
    delta("none: Gated DeltaNet written out as it should be", invisible=RIGHT),
    attention("none: gated attention written out as it should be", invisible=RIGHT),
    norms("block norms: w instead of 1 + w", -1.0, block_norm),
    norms("final norm: w instead of 1 + w", -1.0, lambda name: name == "norm.weight"),
    norms("q_norm: w instead of 1 + w", -1.0, lambda name: "q_norm" in name),
    norms("k_norm: w instead of 1 + w", -1.0, lambda name: "k_norm" in name),
    norms("gated norm: 1 + w instead of w", 1.0, lambda name: "linear_attn" in name),
    epsilon(1e-5), epsilon(1e-6),

    attention("query and gate split in halves, not per head", several_heads, split=flat_gate),
    attention("gate and query swapped", split=gate_first),
    attention("gate missing", gate=None),
    attention("gate through silu", gate=F.silu),
    attention("gate after o_proj", fits_after_o_proj, gate_after_o_proj=True),
    attention("q_norm missing", norm_q=False),
    attention("k_norm missing", norm_k=False),
    attention("q_norm and k_norm after RoPE", norm_after_rope=True),
    attention("causal mask missing", causal=False),
    attention("head h uses KV head h mod num_key_value_heads", several_groups, modulo_heads=True),
    attention("scale from hidden_size / num_attention_heads", other_scale,
              scale_dim=lambda attn: attn.config.hidden_size // attn.config.num_attention_heads),
    attention("RoPE on pairs (2i, 2i+1)", rotate=rotate_pairs),
    attention("RoPE on the last dims of each head", rotate=rotate_last),
    rope("RoPE on all dims of each head", other_factor(1.0)),
    rope("RoPE frequencies with head_dim in the exponent", head_dim_in_exponent),
    rope("partial_rotary_factor 0.25 whatever the file says", other_factor(0.25)),
    rope("rope_theta 10000 whatever the file says", other_theta(1e4)),
    rope("rope_theta 10000000 whatever the file says", other_theta(1e7)),
    rope("yarn scaling dropped", yarn_dropped),
    *(drop_bias(f"{part}_proj") for part in "qkvo"),

    delta("projection laid out K, Q, V", split=split_in_order(1, 0, 2)),
    delta("projection laid out V, K, Q", split=split_in_order(2, 1, 0)),
    delta("projection laid out by key head", lambda net: net.num_k_heads > 1,
          split=split_by_key_head),
    delta("convolution: silu missing", activation=lambda x: x),
    delta("convolution: taps reversed", weight=lambda net: net.conv1d.weight[:, 0].flip(-1)),
    delta("convolution: one token late", conv=conv_late),
    delta("convolution skipped for the values", conv=conv_without_values),
    delta("convolution: inputs lost at chunk boundaries", conv=conv_restarts),
    delta("convolution: only the last two taps", several_taps,
          weight=lambda net: net.conv1d.weight[:, 0, -2:]),
    delta("q scale missing", scale=identity),
    delta("l2norm of q missing", normalize_q=identity),
    delta("l2norm of k missing", normalize_k=identity),
    delta("k normalized by its root mean square", normalize_k=rms_normalized),
    delta("l2norm with rms_norm_eps", other_eps, normalize_q=normalized_with_eps,
          normalize_k=normalized_with_eps),
    delta("value head h uses key head h mod linear_num_key_heads", more_values_than_one,
          owner=lambda net, heads: heads % net.num_k_heads),
    delta("decay per key head", more_values, decay=per_key_head(delta_net.log_decay)),
    delta("beta per key head", more_values, beta=per_key_head(delta_net.write_strength)),
    delta("decay of key head h mod linear_num_key_heads", more_values_than_one,
          decay=modulo_key_heads(delta_net.log_decay)),
    delta("dt_bias missing", decay=decay_without_bias),
    delta("relu for softplus", decay=decay_without_softplus),
    delta("A_log taken for A", decay=decay_without_exp),
    delta("A_log rounded to bfloat16", decay=decay_rounded),
    delta("decay exponents rounded to bfloat16", decay=decay_in_bf16),
    delta("decay missing", decay=no_decay),
    delta("decay the wrong way around", rule=ruled(step_with_positive_g)),
    delta("sigmoid of beta missing", beta=identity),
    delta("delta rule without the delta", rule=ruled(step_without_delta)),
    delta("state read before it decays", rule=ruled(step_reads_before_decay)),
    delta("state decays after the token", rule=ruled(step_decays_after)),
    delta("output before the token is written", rule=ruled(step_outputs_before)),
    delta("state rounded to bfloat16", rule=ruled(step_in_bf16)),
    delta("state lost at chunk boundaries", rule=state_restarts),
    delta("decay missing at chunk boundaries", rule=unequal_decay_at_boundaries),
    delta("gated norm: gate before the norm", output=gated_norm_of(gate_first=True)),
    delta("gated norm: sigmoid for silu", output=gated_norm_of(gate=torch.sigmoid)),
    delta("gated norm: gate missing", output=gated_norm_of(gate=torch.ones_like)),
    delta("gated norm over all heads at once", several_value_heads,
          output=gated_norm_of(whole=True)),
    delta("gated norm: eps 1e-6 whatever the file says", other_eps,
          output=gated_norm_of(eps=lambda _net: 1e-6)),
    delta("gated norm: weights rounded to bfloat16",
          output=gated_norm_of(weight_part=bf16_norm_weight)),
    leak("state not reset between prompts", state=True, inputs=False),
    leak("inputs of the convolution not reset between prompts", state=False, inputs=True),

    layers("gate and up swapped", gate_and_up_swapped),
    layers("silu computed as gelu", gelu_for_silu),
    Fault("final norm skipped", final_norm_skipped),
    Fault("last layer skipped", last_layer_skipped),
    Fault("logits from the embedding although there is a lm_head", head_ignored),
]
