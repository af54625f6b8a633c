#include "models/bert_head.h"

#include "models/linear_head.h"

namespace lattice {
namespace {

// The pooler belongs to the body and has the body's prefix, if any.
WeightScope find_pooler(const WeightScope& weights) {
  for (const std::string_view prefix : {"bert", "model"}) {
    const WeightScope pooler = weights.child(prefix).child("pooler").child("dense");
    if (pooler.has("weight") || pooler.has("bias")) return pooler;
  }
  return weights.child("pooler").child("dense");
}

}  // namespace

std::unique_ptr<SequenceHead> load_bert_head(const HeadSource& source) {
  const std::int64_t hidden = source.hidden_size;
  const WeightScope classifier = source.model.weights.child("classifier");
  const bool has_pooler = source.architecture.starts_with("Bert");
  const WeightScope dense =
      has_pooler ? find_pooler(source.model.weights) : classifier.child("dense");
  const WeightScope output = has_pooler ? classifier : classifier.child("out_proj");
  return std::make_unique<LinearHead>(LinearHead::Parts{
      .token = HeadToken::kFirst,
      .dense = load_linear_part(dense, hidden, hidden, /*bias=*/true),
      .output = load_linear_part(output, hidden, source.num_labels, /*bias=*/true)});
}

}  // namespace lattice
