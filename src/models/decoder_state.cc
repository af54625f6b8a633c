#include "models/decoder_state.h"

#include <algorithm>

#include "base/check.h"
#include "base/result.h"

namespace lattice {

DecoderState::DecoderState(const DecoderStateShape& shape) {
  for (const auto& layer : shape) {
    if (const auto* kv = std::get_if<KvShape>(&layer)) {
      layers_.emplace_back(std::in_place_type<KvCache>, *kv);
    } else {
      layers_.emplace_back(std::in_place_type<DeltaCache>, std::get<DeltaCacheShape>(layer));
      recurrent_ = true;
    }
  }
}

std::unique_ptr<DecoderState> DecoderState::copy() const {
  check(!in_pass_, "[decoder_state] copied after a pass that was given up");
  return std::unique_ptr<DecoderState>(new DecoderState(*this));
}

void DecoderState::truncate(std::int64_t num_tokens) {
  check(!in_pass_, "[decoder_state] truncated after a pass that was given up");
  check(num_tokens >= rewind_limit() && num_tokens <= num_tokens_,
        "[decoder_state] cannot go back from {} tokens to {}, only to {}", num_tokens_, num_tokens,
        rewind_limit());
  const std::int64_t pending = num_tokens - rewind_limit();
  for (auto& layer : layers_) {
    if (auto* delta = std::get_if<DeltaCache>(&layer)) delta->truncate_pending(pending);
  }
  num_tokens_ = num_tokens;
}

std::size_t DecoderState::num_bytes() const {
  std::size_t bytes = 0;
  for (const auto& layer : layers_) {
    bytes += std::visit([](const auto& cache) { return cache.num_bytes(); }, layer);
  }
  return bytes;
}

void DecoderState::begin_pass() {
  check(!in_pass_, "[decoder_state] an earlier pass over this state was given up");
  in_pass_ = true;
}

void DecoderState::end_pass(std::int64_t count) {
  num_tokens_ += count;
  chunk_start_ = std::max(chunk_start_, (num_tokens_ - 1) / kDeltaRuleChunk * kDeltaRuleChunk);
  in_pass_ = false;
}

}  // namespace lattice
