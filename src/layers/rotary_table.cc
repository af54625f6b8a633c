#include "layers/rotary_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lattice {
namespace {

std::optional<RopeType> parse_rope_type(std::string_view name) {
  if (name == "default") return RopeType::kDefault;
  if (name == "linear") return RopeType::kLinear;
  if (name == "dynamic") return RopeType::kDynamic;
  if (name == "yarn") return RopeType::kYarn;
  return std::nullopt;
}

double yarn_mscale(double scale, double factor) {
  return factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0;
}

void read_yarn(ConfigReader& reader, RopeConfig& config) {
  config.original_max_position_embeddings = reader.get_int(
      "original_max_position_embeddings", config.max_position_embeddings, 1, std::int64_t{1} << 32);
  config.beta_fast = reader.get_double("beta_fast", 32.0);
  config.beta_slow = reader.get_double("beta_slow", 1.0);
  config.truncate = reader.get_bool("truncate", true);
  const double mscale = reader.get_double("mscale", 0.0);
  const double mscale_all_dim = reader.get_double("mscale_all_dim", 0.0);
  const double derived =
      mscale != 0.0 && mscale_all_dim != 0.0
          ? yarn_mscale(mscale, config.factor) / yarn_mscale(mscale_all_dim, config.factor)
          : yarn_mscale(1.0, config.factor);
  config.attention_factor = reader.get_double("attention_factor", derived);
}

// The members that rope_scaling and rope_parameters share.
void read_scaling(ConfigReader& outer, const std::string& key, const Json& object,
                  RopeConfig& config) {
  ConfigReader reader(object, outer.source() + ": " + key);
  const std::string old_name = reader.get_string("type", "default");
  const std::string name = reader.get_string("rope_type", old_name);
  config.theta = reader.get_double("rope_theta", config.theta);
  const auto type = parse_rope_type(name);
  if (!type) {
    reader.set_error(ErrorCode::kUnsupported,
                     fmt::format("{}: RoPE type \"{}\" is not implemented", reader.source(), name));
  } else {
    config.type = *type;
  }
  if (config.type != RopeType::kDefault) {
    config.factor = reader.get_double("factor", 0.0);
    if (reader.ok() && !(config.factor >= 1.0)) {
      reader.set_error(ErrorCode::kMalformed,
                       fmt::format("{}: factor: expected a number of at least 1", reader.source()));
    }
  }
  if (config.type == RopeType::kYarn) read_yarn(reader, config);
  reader.ignore({"partial_rotary_factor", "mrope_section", "mrope_interleaved"});
  for (const std::string& unread : reader.unread_keys()) {
    reader.set_error(ErrorCode::kUnsupported,
                     fmt::format("{}: {} is not implemented", reader.source(), unread));
  }
  if (const auto status = reader.finish(); !status) {
    outer.set_error(status.error().code, status.error().message);
  }
}

// Inverse frequencies; `length` matters to kDynamic only.
std::vector<float> inverse_frequencies(const RopeConfig& config, std::int64_t length) {
  const auto dim = static_cast<double>(config.rotary_dim);
  double theta = config.theta;
  if (config.type == RopeType::kDynamic) {
    const auto limit = static_cast<double>(config.max_position_embeddings);
    const double extent = std::max(static_cast<double>(length), limit);
    theta *= std::pow(config.factor * extent / limit - (config.factor - 1.0), dim / (dim - 2.0));
  }
  std::vector<float> inverse(static_cast<std::size_t>(config.rotary_dim / 2));
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    // transformers: 1 / theta^(2i/d), with the power and the quotient in f32.
    const auto exponent = static_cast<float>(2.0 * static_cast<double>(i) / dim);
    inverse[i] = 1.0f / static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
    if (config.type == RopeType::kLinear) inverse[i] /= static_cast<float>(config.factor);
  }
  return inverse;
}

// Peng et al. 2023, arXiv:2309.00071: interpolates slow dimensions, keeps fast ones.
void apply_yarn(const RopeConfig& config, std::vector<float>& inverse) {
  const auto dim = static_cast<double>(config.rotary_dim);
  const auto correction = [&](double rotations) {
    return dim *
           std::log(static_cast<double>(config.original_max_position_embeddings) /
                    (rotations * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(config.theta));
  };
  double low = correction(config.beta_fast);
  double high = correction(config.beta_slow);
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1.0);
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    const auto ramp =
        static_cast<float>(std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0));
    const float interpolated = inverse[i] / static_cast<float>(config.factor);
    inverse[i] = interpolated * ramp + inverse[i] * (1.0f - ramp);
  }
}

std::shared_ptr<const RotaryAngles> compute_angles(const RopeConfig& config,
                                                   std::int64_t num_positions,
                                                   std::int64_t length) {
  std::vector<float> inverse = inverse_frequencies(config, length);
  if (config.type == RopeType::kYarn) apply_yarn(config, inverse);
  auto angles = std::make_shared<RotaryAngles>();
  angles->num_positions = num_positions;
  angles->half_dim = config.rotary_dim / 2;
  const auto size = static_cast<std::size_t>(num_positions) * inverse.size();
  angles->cos.resize(size);
  angles->sin.resize(size);
  std::size_t k = 0;
  for (std::int64_t position = 0; position < num_positions; ++position) {
    for (const float frequency : inverse) {
      const float angle = static_cast<float>(position) * frequency;
      angles->cos[k] =
          static_cast<float>(std::cos(static_cast<double>(angle)) * config.attention_factor);
      angles->sin[k] =
          static_cast<float>(std::sin(static_cast<double>(angle)) * config.attention_factor);
      ++k;
    }
  }
  return angles;
}

}  // namespace

RopeConfig read_rope_config(ConfigReader& reader, std::int64_t rotary_dim,
                            std::int64_t max_position_embeddings) {
  RopeConfig config;
  config.rotary_dim = rotary_dim;
  config.max_position_embeddings = max_position_embeddings;
  config.theta = reader.get_double("rope_theta", 0.0);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Json* object = reader.get(key);
    if (object == nullptr) continue;
    if (!object->is_object()) {
      reader.wrong_type(key, "an object", *object);
      continue;
    }
    read_scaling(reader, key, *object, config);
  }
  if (reader.ok() && !(config.theta > 1.0)) {
    reader.set_error(ErrorCode::kMalformed,
                     fmt::format("{}: rope_theta: expected a number above 1, at the top level or "
                                 "in rope_parameters",
                                 reader.source()));
  }
  return config;
}

RotaryTable::RotaryTable(const RopeConfig& config, std::int64_t initial_positions)
    : config_(config), initial_positions_(std::max<std::int64_t>(initial_positions, 1)) {}

std::shared_ptr<const RotaryAngles> RotaryTable::angles(std::int64_t length) const {
  if (depends_on_length(length)) return compute_angles(config_, length, length);
  const std::lock_guard lock(mutex_);
  if (cached_ == nullptr || cached_->num_positions < length) {
    // Doubling keeps the number of recomputations logarithmic.
    const std::int64_t grown = cached_ == nullptr ? initial_positions_ : 2 * cached_->num_positions;
    cached_ = compute_angles(config_, std::max(length, grown), config_.max_position_embeddings);
  }
  return cached_;
}

}  // namespace lattice
