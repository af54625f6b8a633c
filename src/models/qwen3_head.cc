#include "models/qwen3_head.h"

#include "io/config_reader.h"
#include "models/linear_head.h"

namespace lattice {

std::unique_ptr<SequenceHead> load_qwen3_head(const HeadSource& source) {
  ConfigReader reader(source.model.config, source.model.config_path);
  const std::int64_t pad = reader.get_int("pad_token_id", -1, -1, std::int64_t{1} << 30);
  value_or_throw(reader.finish());
  return std::make_unique<LinearHead>(LinearHead::Parts{
      .token = pad < 0 ? HeadToken::kLast : HeadToken::kLastNonPad,
      .pad_token_id = static_cast<std::int32_t>(pad),
      .output = load_linear_part(source.model.weights.child("score"), source.hidden_size,
                                 source.num_labels, /*bias=*/false)});
}

}  // namespace lattice
