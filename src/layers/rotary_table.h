#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "io/config_reader.h"
#include "ops/matrix.h"

namespace lattice {

/// How the angles of rotary position embedding depend on the position.
enum class RopeType { kDefault, kLinear, kDynamic, kYarn };

/// rope_theta with rope_scaling or rope_parameters of config.json.
struct RopeConfig {
  RopeType type = RopeType::kDefault;
  double theta = 10000.0;
  std::int64_t rotary_dim = 0;
  std::int64_t max_position_embeddings = 0;
  double factor = 1.0;
  // yarn only:
  std::int64_t original_max_position_embeddings = 0;
  double beta_fast = 32.0;
  double beta_slow = 1.0;
  bool truncate = true;
  double attention_factor = 1.0;  ///< what cos and sin are multiplied by
};

/// Reads the RoPE settings of a config in either spelling: `rope_theta` with `rope_scaling` (`type`
/// or `rope_type`), or `rope_parameters`. Sets the reader's error for an unknown type
/// (kUnsupported, by name), and when neither names a theta (kMalformed).
RopeConfig read_rope_config(ConfigReader& reader, std::int64_t rotary_dim,
                            std::int64_t max_position_embeddings);

/// cos and sin of position * frequency, [num_positions, rotary_dim / 2] each. The angle is the f32
/// product of an f32 frequency and the position, as transformers computes it.
struct RotaryAngles {
  std::int64_t num_positions = 0;
  std::int64_t half_dim = 0;
  std::vector<float> cos;
  std::vector<float> sin;

  ConstMatrix cos_matrix() const { return {cos.data(), num_positions, half_dim}; }
  ConstMatrix sin_matrix() const { return {sin.data(), num_positions, half_dim}; }
};

/// The angles of one RopeConfig, grown on demand and shared by all threads. With kDynamic they
/// depend on the sequence's length beyond max_position_embeddings.
class RotaryTable {
 public:
  /// `initial_positions` rows are computed at first use.
  RotaryTable(const RopeConfig& config, std::int64_t initial_positions);

  /// Angles that cover at least `length` positions, for a sequence of `length` tokens. Thread-safe.
  std::shared_ptr<const RotaryAngles> angles(std::int64_t length) const;

  /// Whether sequences of different lengths need different angles.
  bool depends_on_length(std::int64_t length) const {
    return config_.type == RopeType::kDynamic && length > config_.max_position_embeddings;
  }

 private:
  RopeConfig config_;
  std::int64_t initial_positions_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const RotaryAngles> cached_;
};

}  // namespace lattice
