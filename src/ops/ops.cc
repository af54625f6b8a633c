#include "ops/ops.h"

#include "base/check.h"

namespace lattice {
namespace {

template <typename A, typename B>
void check_same_shape(const char* op, const MatrixView<A>& a, const MatrixView<B>& b) {
  check(a.rows == b.rows && a.cols == b.cols, "[{}] expected shape [{}, {}], got [{}, {}]", op,
        a.rows, a.cols, b.rows, b.cols);
}

}  // namespace

void check_layout(const char* op, const SequenceLayout& layout, std::int64_t num_tokens) {
  check(!layout.cu_seqlens.empty() && layout.cu_seqlens.front() == 0,
        "[{}] cu_seqlens must start at 0", op);
  for (std::int64_t s = 0; s < layout.num_seqs(); ++s) {
    check(layout.length(s) >= 0, "[{}] cu_seqlens decreases at sequence {}", op, s);
  }
  check(layout.num_tokens() == num_tokens, "[{}] cu_seqlens covers {} tokens, got {}", op,
        layout.num_tokens(), num_tokens);
}

void check_linear_parts(std::span<const LinearPart> parts) {
  if (parts.empty()) raise(ErrorCode::kInternal, "[linear] expected at least one weight");
  for (const LinearPart& part : parts) {
    const Shape& shape = part.weight.shape();
    if (shape.size() != 2 || !is_floating_point(part.weight.dtype())) {
      raise(ErrorCode::kMalformed, "[linear] expected a 2-D floating-point weight, got {} {}",
            dtype_name(part.weight.dtype()), shape_string(shape));
    }
    if (shape[1] != parts.front().weight.dim(1)) {
      raise(ErrorCode::kMalformed, "[linear] expected {} input features, got {}",
            parts.front().weight.dim(1), shape[1]);
    }
    if (part.bias &&
        (part.bias->shape() != Shape{shape[0]} || !is_floating_point(part.bias->dtype()))) {
      raise(ErrorCode::kMalformed, "[linear] expected a floating-point bias [{}], got {} {}",
            shape[0], dtype_name(part.bias->dtype()), shape_string(part.bias->shape()));
    }
  }
}

void linear(Context& context, const LinearArgs& args) {
  check(args.weight != nullptr, "[linear] weight is missing");
  check(args.x.cols == args.weight->in_features(), "[linear] expected {} input features, got {}",
        args.weight->in_features(), args.x.cols);
  check(args.out.rows == args.x.rows && args.out.cols == args.weight->out_features(),
        "[linear] expected out [{}, {}], got [{}, {}]", args.x.rows, args.weight->out_features(),
        args.out.rows, args.out.cols);
  if (args.residual) check_same_shape("linear", args.out, *args.residual);
  if (args.x.rows == 0) return;
  context.backend().linear(context, args);
}

void embedding_lookup(Context& context, const EmbeddingLookupArgs& args) {
  check(!args.terms.empty(), "[embedding_lookup] expected at least one table");
  for (const EmbeddingTerm& term : args.terms) {
    check(term.table != nullptr && term.table->rank() == 2 &&
              is_floating_point(term.table->dtype()) && term.table->dim(1) == args.out.cols,
          "[embedding_lookup] expected a floating-point table [*, {}]", args.out.cols);
    check(static_cast<std::int64_t>(term.ids.size()) == args.out.rows,
          "[embedding_lookup] expected {} ids, got {}", args.out.rows, term.ids.size());
    for (const std::int32_t id : term.ids) {
      check(id >= 0 && id < term.table->dim(0), "[embedding_lookup] id {} is outside 0..{}", id,
            term.table->dim(0) - 1);
    }
  }
  context.backend().embedding_lookup(context, args);
}

void layer_norm(Context& context, const LayerNormArgs& args) {
  check_same_shape("layer_norm", args.x, args.out);
  if (args.residual) check_same_shape("layer_norm", args.x, *args.residual);
  const auto cols = static_cast<std::size_t>(args.x.cols);
  check(args.weight.size() == cols && (args.bias.empty() || args.bias.size() == cols),
        "[layer_norm] expected weight and bias [{}], got [{}] and [{}]", cols, args.weight.size(),
        args.bias.size());
  context.backend().layer_norm(context, args);
}

void rms_norm(Context& context, const RmsNormArgs& args) {
  check_same_shape("rms_norm", args.x, args.out);
  check(static_cast<std::int64_t>(args.weight.size()) == args.x.cols,
        "[rms_norm] expected weight [{}], got [{}]", args.x.cols, args.weight.size());
  context.backend().rms_norm(context, args);
}

void qk_norm_rope(Context& context, const QkNormRopeArgs& args) {
  check(args.head_dim > 0 && args.q.cols % args.head_dim == 0 && args.k.cols % args.head_dim == 0,
        "[qk_norm_rope] q and k have {} and {} columns, not multiples of head_dim {}", args.q.cols,
        args.k.cols, args.head_dim);
  for (const auto weight : {args.q_weight, args.k_weight}) {
    check(weight.empty() || static_cast<std::int64_t>(weight.size()) == args.head_dim,
          "[qk_norm_rope] expected weight [{}], got [{}]", args.head_dim, weight.size());
  }
  check(
      args.q.rows == args.k.rows && static_cast<std::int64_t>(args.positions.size()) == args.q.rows,
      "[qk_norm_rope] q, k and positions have {}, {} and {} tokens", args.q.rows, args.k.rows,
      args.positions.size());
  check_same_shape("qk_norm_rope", args.cos, args.sin);
  check(2 * args.cos.cols <= args.head_dim, "[qk_norm_rope] {} rotated pairs in a head of {}",
        args.cos.cols, args.head_dim);
  for (const std::int32_t position : args.positions) {
    check(position >= 0 && position < args.cos.rows,
          "[qk_norm_rope] position {} is outside the table of {}", position, args.cos.rows);
  }
  context.backend().qk_norm_rope(context, args);
}

namespace {

void check_keys_values(const AttentionArgs& args) {
  check(args.sequences.empty() ||
            static_cast<std::int64_t>(args.sequences.size()) == args.layout.num_seqs(),
        "[attention] expected keys of {} sequences, got {}", args.layout.num_seqs(),
        args.sequences.size());
  check(!args.sequences.empty() || args.q.rows == args.k.rows,
        "[attention] expected {} keys, got {}", args.q.rows, args.k.rows);
  if (args.sequences.empty()) check_same_shape("attention", args.k, args.v);
  for (std::int64_t s = 0; s < args.layout.num_seqs(); ++s) {
    const KeysValues seq = args.keys_values(s);
    check(seq.shape() == KvShape{args.num_kv_heads, args.head_dim},
          "[attention] k and v have {} heads of {} instead of {} of {}", seq.shape().num_heads,
          seq.shape().head_dim, args.num_kv_heads, args.head_dim);
    check(seq.num_keys() >= args.layout.length(s),
          "[attention] sequence {}: {} keys for {} queries", s, seq.num_keys(),
          args.layout.length(s));
  }
}

}  // namespace

void attention(Context& context, const AttentionArgs& args) {
  check(args.head_dim > 0 && args.num_heads > 0 && args.num_kv_heads > 0 &&
            args.num_heads % args.num_kv_heads == 0,
        "[attention] expected head_dim > 0 and heads divisible by KV heads, got {} and {}/{}",
        args.head_dim, args.num_heads, args.num_kv_heads);
  check(args.q.cols == args.num_heads * args.head_dim,
        "[attention] q has {} columns for {} heads of {}", args.q.cols, args.num_heads,
        args.head_dim);
  check_same_shape("attention", args.q, args.out);
  check(args.window == 0 || (args.window > 0 && args.causal),
        "[attention] expected a positive window of causal attention, got {}", args.window);
  check_layout("attention", args.layout, args.q.rows);
  check_keys_values(args);
  context.backend().attention(context, args);
}

void activation(Context& context, const ActivationArgs& args) {
  if (args.activation == Activation::kIdentity) return;
  context.backend().activation(context, args);
}

void gated_activation(Context& context, const GatedActivationArgs& args) {
  check_same_shape("gated_activation", args.gate, args.up);
  check_same_shape("gated_activation", args.gate, args.out);
  context.backend().gated_activation(context, args);
}

void causal_conv1d(Context& context, const CausalConv1dArgs& args) {
  check_same_shape("causal_conv1d", args.x, args.out);
  check(args.kernel_size() > 0 && args.kernel_size() <= kMaxConvKernel &&
            args.weight.cols == args.x.cols,
        "[causal_conv1d] expected weight [1..{}, {}], got [{}, {}]", kMaxConvKernel, args.x.cols,
        args.weight.rows, args.weight.cols);
  check_layout("causal_conv1d", args.layout, args.x.rows);
  check(args.history.empty() ||
            static_cast<std::int64_t>(args.history.size()) == args.layout.num_seqs(),
        "[causal_conv1d] expected {} histories, got {}", args.layout.num_seqs(),
        args.history.size());
  for (const ConstMatrix& history : args.history) {
    check(history.rows == args.kernel_size() - 1 && history.cols == args.x.cols,
          "[causal_conv1d] expected history [{}, {}], got [{}, {}]", args.kernel_size() - 1,
          args.x.cols, history.rows, history.cols);
  }
  context.backend().causal_conv1d(context, args);
}

void gated_delta_rule(Context& context, const GatedDeltaRuleArgs& args) {
  constexpr const char* kOp = "gated_delta_rule";
  const DeltaRuleShape& shape = args.shape;
  check(shape.num_key_heads > 0 && shape.num_value_heads % shape.num_key_heads == 0,
        "[{}] expected value heads divisible by key heads, got {}/{}", kOp, shape.num_value_heads,
        shape.num_key_heads);
  check_same_shape(kOp, args.q, args.k);
  check_same_shape(kOp, args.v, args.out);
  check_same_shape(kOp, args.a, args.b);
  check(args.q.cols == shape.key_dim() && args.v.cols == shape.value_dim() &&
            args.a.cols == shape.num_value_heads,
        "[{}] expected {}, {} and {} columns of q, v and a, got {}, {} and {}", kOp,
        shape.key_dim(), shape.value_dim(), shape.num_value_heads, args.q.cols, args.v.cols,
        args.a.cols);
  check(args.q.rows == args.v.rows && args.a.rows == args.v.rows,
        "[{}] q, v and a have {}, {} and {} tokens", kOp, args.q.rows, args.v.rows, args.a.rows);
  check(static_cast<std::int64_t>(args.a_log.size()) == shape.num_value_heads &&
            args.dt_bias.size() == args.a_log.size(),
        "[{}] expected a_log and dt_bias [{}], got [{}] and [{}]", kOp, shape.num_value_heads,
        args.a_log.size(), args.dt_bias.size());
  check_layout(kOp, args.layout, args.v.rows);
  check(args.states.empty() ||
            static_cast<std::int64_t>(args.states.size()) == args.layout.num_seqs(),
        "[{}] expected {} states, got {}", kOp, args.layout.num_seqs(), args.states.size());
  context.backend().gated_delta_rule(context, args);
}

void gated_rms_norm(Context& context, const GatedRmsNormArgs& args) {
  check_same_shape("gated_rms_norm", args.x, args.gate);
  check_same_shape("gated_rms_norm", args.x, args.out);
  check(!args.weight.empty() && args.x.cols % static_cast<std::int64_t>(args.weight.size()) == 0,
        "[gated_rms_norm] {} columns are no multiple of the head's {}", args.x.cols,
        args.weight.size());
  context.backend().gated_rms_norm(context, args);
}

void pool(Context& context, const PoolArgs& args) {
  check_layout("pool", args.layout, args.x.rows);
  check(args.out.rows == args.layout.num_seqs() && args.out.cols == args.x.cols,
        "[pool] expected out [{}, {}], got [{}, {}]", args.layout.num_seqs(), args.x.cols,
        args.out.rows, args.out.cols);
  check(args.skip.empty() || static_cast<std::int64_t>(args.skip.size()) == args.layout.num_seqs(),
        "[pool] expected {} skips, got {}", args.layout.num_seqs(), args.skip.size());
  context.backend().pool(context, args);
}

void l2_normalize(Context& context, const L2NormalizeArgs& args) {
  context.backend().l2_normalize(context, args);
}

}  // namespace lattice
