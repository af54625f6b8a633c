// The recurrence as it is defined, token by token.
#include <cmath>
#include <vector>

#include "backends/reference/reference_backend.h"

namespace lattice {
namespace {

// One value head of one sequence. S is double within a call; what a token leaves in the state is
// rounded to f32 before it is used, so that later calls replay the same numbers.
class HeadRecurrence {
 public:
  HeadRecurrence(const GatedDeltaRuleArgs& args, std::int64_t head, DeltaRuleState* state)
      : args_(args),
        shape_(args.shape),
        head_(head),
        key_head_(head / (args.shape.num_value_heads / args.shape.num_key_heads)),
        a_log_exp_(std::exp(static_cast<double>(args.a_log[static_cast<std::size_t>(head)]))),
        state_(state),
        matrix_(static_cast<std::size_t>(shape_.key_head_dim * shape_.value_head_dim), 0.0) {
    if (state_ == nullptr) return;
    for (std::int64_t d = 0; d < shape_.key_head_dim; ++d) {
      for (std::int64_t c = 0; c < shape_.value_head_dim; ++c) {
        at(d, c) = static_cast<double>(matrix_row(d)[c]);
      }
    }
    for (std::int64_t j = 0; j < state_->num_pending; ++j) replay(j);
  }

  // Token `row` of the batch, which becomes pending token `index` of its chunk.
  void step(std::int64_t row, std::int64_t index) {
    if (index == 0) begin_chunk();
    const std::vector<double> k = normalized(args_.k.row(row), 1.0);
    const std::vector<double> q =
        normalized(args_.q.row(row), 1.0 / std::sqrt(static_cast<double>(shape_.key_head_dim)));
    const auto h = static_cast<std::size_t>(head_);
    const double decay =
        advance_decay(delta_rule_log_decay(a_log_exp_, static_cast<double>(args_.a.row(row)[head_]),
                                           static_cast<double>(args_.dt_bias[h])));
    const double beta =
        apply_activation(Activation::kSigmoid, static_cast<double>(args_.b.row(row)[head_]));
    for (double& value : matrix_) value *= std::exp(decay);
    std::vector<double> delta = product(k);
    const float* v = args_.v.row(row) + head_ * shape_.value_head_dim;
    for (std::size_t c = 0; c < delta.size(); ++c) {
      delta[c] =
          static_cast<double>(static_cast<float>(beta * (static_cast<double>(v[c]) - delta[c])));
    }
    add(k, delta);
    if (state_ != nullptr) keep_token(index, k, delta);
    const std::vector<double> out = product(q);
    for (std::size_t c = 0; c < out.size(); ++c) {
      args_.out.row(row)[head_ * shape_.value_head_dim + static_cast<std::int64_t>(c)] =
          static_cast<float>(out[c]);
    }
  }

 private:
  double& at(std::int64_t d, std::int64_t c) {
    return matrix_[static_cast<std::size_t>(d * shape_.value_head_dim + c)];
  }
  float* matrix_row(std::int64_t d) const {
    return state_->matrix + (head_ * shape_.key_head_dim + d) * shape_.value_stride();
  }
  float* delta_row(std::int64_t index) const {
    return state_->deltas + (head_ * kDeltaRuleChunk + index) * shape_.value_stride();
  }
  float& key_at(std::int64_t d, std::int64_t index) const {
    return state_->keys[(key_head_ * shape_.key_head_dim + d) * kDeltaRuleChunk + index];
  }
  double& decay_at(std::int64_t index) const {
    return state_->decays[head_ * kDeltaRuleChunk + index];
  }

  // Rounded to f32, as the state holds keys.
  std::vector<double> normalized(const float* row, double factor) const {
    const float* x = row + key_head_ * shape_.key_head_dim;
    double squares = 0.0;
    for (std::int64_t d = 0; d < shape_.key_head_dim; ++d) {
      squares += static_cast<double>(x[d]) * static_cast<double>(x[d]);
    }
    std::vector<double> out;
    for (std::int64_t d = 0; d < shape_.key_head_dim; ++d) {
      const double value = static_cast<double>(x[d]) / std::sqrt(squares + 1e-6) * factor;
      out.push_back(static_cast<double>(static_cast<float>(value)));
    }
    return out;
  }

  // S^T x
  std::vector<double> product(const std::vector<double>& x) {
    std::vector<double> out(static_cast<std::size_t>(shape_.value_head_dim), 0.0);
    for (std::int64_t d = 0; d < shape_.key_head_dim; ++d) {
      for (std::size_t c = 0; c < out.size(); ++c) {
        out[c] += at(d, static_cast<std::int64_t>(c)) * x[static_cast<std::size_t>(d)];
      }
    }
    return out;
  }

  // S += k delta^T
  void add(const std::vector<double>& k, const std::vector<double>& delta) {
    for (std::int64_t d = 0; d < shape_.key_head_dim; ++d) {
      for (std::size_t c = 0; c < delta.size(); ++c) {
        at(d, static_cast<std::int64_t>(c)) += k[static_cast<std::size_t>(d)] * delta[c];
      }
    }
  }

  void replay(std::int64_t index) {
    const double decay = decay_at(index) - decay_sum_;
    decay_sum_ = decay_at(index);
    for (double& value : matrix_) value *= std::exp(decay);
    std::vector<double> k;
    for (std::int64_t d = 0; d < shape_.key_head_dim; ++d) {
      k.push_back(static_cast<double>(key_at(d, index)));
    }
    const float* row = delta_row(index);
    add(k, std::vector<double>(row, row + shape_.value_head_dim));
  }

  // S is f32 between chunks.
  void begin_chunk() {
    decay_sum_ = 0.0;
    for (std::int64_t d = 0; d < shape_.key_head_dim; ++d) {
      for (std::int64_t c = 0; c < shape_.value_head_dim; ++c) {
        const auto kept = static_cast<float>(at(d, c));
        at(d, c) = static_cast<double>(kept);
        if (state_ != nullptr) matrix_row(d)[c] = kept;
      }
    }
  }

  // Adds to the chunk's sum of decays; the decay as a replay will find it.
  double advance_decay(double decay) {
    const double before = decay_sum_;
    decay_sum_ += decay;
    return decay_sum_ - before;
  }

  void keep_token(std::int64_t index, const std::vector<double>& k,
                  const std::vector<double>& delta) {
    for (std::int64_t d = 0; d < shape_.key_head_dim; ++d) {
      key_at(d, index) = static_cast<float>(k[static_cast<std::size_t>(d)]);
    }
    for (std::size_t c = 0; c < delta.size(); ++c) {
      delta_row(index)[c] = static_cast<float>(delta[c]);
    }
    decay_at(index) = decay_sum_;
  }

  const GatedDeltaRuleArgs& args_;
  const DeltaRuleShape& shape_;
  std::int64_t head_;
  std::int64_t key_head_;
  double a_log_exp_;
  DeltaRuleState* state_;
  std::vector<double> matrix_;  // S [key_head_dim, value_head_dim]
  double decay_sum_ = 0.0;      // since the chunk's start
};

}  // namespace

void ReferenceBackend::gated_delta_rule(Context&, const GatedDeltaRuleArgs& args) const {
  for (std::int64_t s = 0; s < args.layout.num_seqs(); ++s) {
    DeltaRuleState* state =
        args.states.empty() ? nullptr : args.states[static_cast<std::size_t>(s)];
    const std::int64_t first = state == nullptr ? 0 : state->num_pending;
    // All heads have read the state before the first one changes it: they share keys.
    std::vector<HeadRecurrence> heads;
    for (std::int64_t h = 0; h < args.shape.num_value_heads; ++h)
      heads.emplace_back(args, h, state);
    for (std::int64_t t = 0; t < args.layout.length(s); ++t) {
      for (HeadRecurrence& head : heads) {
        head.step(args.layout.begin(s) + t, (first + t) % kDeltaRuleChunk);
      }
    }
    if (state != nullptr && args.layout.length(s) > 0) {
      state->num_pending = (first + args.layout.length(s) - 1) % kDeltaRuleChunk + 1;
    }
  }
}

}  // namespace lattice
