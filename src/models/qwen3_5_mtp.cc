#include "models/qwen3_5_mtp.h"

#include "base/log.h"

namespace lattice {
namespace {

class Qwen35Mtp final : public DraftHead {
 public:
  Qwen35Mtp(const WeightScope& scope, Qwen35MtpOwner owner, WeightFormat format)
      : owner_(owner),
        embedding_norm_(load_norm(scope.child("pre_fc_norm_embedding"))),
        hidden_norm_(load_norm(scope.child("pre_fc_norm_hidden"))),
        fc_(load_linear_part(scope.child("fc"), 2 * owner.config.hidden_size,
                             owner.config.hidden_size, /*bias=*/false),
            format),
        block_(Qwen35Block::load(scope.child("layers").child("0"), owner.config,
                                 Qwen35Block::Mixer::kAttention, format)),
        norm_(load_norm(scope.child("norm"))) {}

  std::unique_ptr<DecoderState> make_state() const override {
    return std::make_unique<DecoderState>(DecoderStateShape{owner_.config.kv_shape()});
  }

  void forward(Context& context, const TokenBatch& batch, MutMatrix hidden) const override {
    const DecoderPass guard(batch);
    {
      const Workspace::Scope scratch(context.workspace());
      const MutMatrix both = context.workspace().matrix(hidden.rows, 2 * hidden.cols);
      const MutMatrix next = both.columns(0, hidden.cols);
      const EmbeddingTerm terms[] = {{&owner_.embed_tokens, batch.input_ids}};
      embedding_lookup(context, {.terms = terms, .out = next});
      embedding_norm_.forward(context, next, next);
      hidden_norm_.forward(context, hidden, both.columns(hidden.cols, hidden.cols));
      fc_.forward(context, both, hidden);
    }
    const Workspace::Scope scratch(context.workspace());
    const RotaryPositions positions(owner_.rope, batch, context.workspace());
    block_.forward(context, {owner_.config, batch, positions, /*layer=*/0}, hidden);
    norm_.forward(context, hidden, hidden);
    guard.commit();
  }

 private:
  RmsNorm load_norm(const WeightScope& scope) const {
    return RmsNorm::load(scope, owner_.config.hidden_size, owner_.config.rms_norm_eps,
                         kQwen35NormOffset);
  }

  Qwen35MtpOwner owner_;
  RmsNorm embedding_norm_;
  RmsNorm hidden_norm_;
  Linear fc_;  // [hidden, 2 * hidden]
  Qwen35Block block_;
  RmsNorm norm_;
};

}  // namespace

std::unique_ptr<const DraftHead> load_qwen3_5_mtp(const WeightScope& scope, Qwen35MtpOwner owner,
                                                  WeightFormat format) {
  if (!scope.child("fc").has("weight")) return nullptr;
  if (owner.config.mtp_num_hidden_layers != 1 || owner.config.mtp_use_dedicated_embeddings) {
    log_warning(
        "the multi-token prediction head is not used: only one layer that shares the token table "
        "is implemented");
    return nullptr;
  }
  return std::make_unique<Qwen35Mtp>(scope, owner, format);
}

}  // namespace lattice
