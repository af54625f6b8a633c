#include "engine/generation/generation_config.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/generation/generation_config_keys.h"
#include "io/config_reader.h"

namespace lattice {
namespace {

constexpr const char* kFileName = "generation_config.json";
constexpr std::int64_t kMaxLength = std::int64_t{1} << 40;

template <typename T>
std::optional<Sourced<T>> sourced(std::string_view key, T value) {
  return Sourced<T>{std::move(value), fmt::format("{}: {}", kFileName, key)};
}

class GenerationConfigParser {
 public:
  GenerationConfigParser(const Json& root, const std::string& source, std::int64_t vocab_size)
      : reader_(root, source), vocab_size_(vocab_size) {}

  GenerationConfig parse() {
    GenerationConfig config;
    if (auto ids = read_token_ids("eos_token_id")) {
      config.eos_token_ids = *sourced("eos_token_id", *std::move(ids));
    }
    config.bos_token_id = read_token_id("bos_token_id");
    config.pad_token_id = read_pad();
    config.stop_strings = read_stop_strings();
    if (reader_.has("do_sample")) {
      config.do_sample = sourced("do_sample", reader_.get_bool("do_sample", false));
    }
    config.temperature = read_float("temperature", 0, std::numeric_limits<float>::max());
    config.top_k = read_int<int>("top_k", 0, std::numeric_limits<int>::max());
    config.top_p = read_float("top_p", 0, 1);
    config.min_p = read_float("min_p", 0, 1);
    config.repetition_penalty = read_float("repetition_penalty", std::numeric_limits<float>::min(),
                                           std::numeric_limits<float>::max());
    config.max_new_tokens = read_int<std::int64_t>("max_new_tokens", 1, kMaxLength);
    config.max_length = read_int<std::int64_t>("max_length", 1, kMaxLength);
    value_or_throw(reader_.finish());
    refuse_unsupported();
    return config;
  }

  /// One id or a list of them; each once.
  std::optional<std::vector<std::int32_t>> read_token_ids(std::string_view key) {
    const Json* json = reader_.get(key);
    if (json == nullptr) return std::nullopt;
    if (!json->is_array()) {
      return std::vector{static_cast<std::int32_t>(reader_.get_int(key, 0, 0, vocab_size_ - 1))};
    }
    std::vector<std::int32_t> ids;
    for (const Json& item : json->items()) {
      const auto id = item.as_int();
      if (!id || *id < 0 || *id >= vocab_size_) {
        reader_.set_error(ErrorCode::kMalformed,
                          fmt::format("{}: {}[{}]: expected a token id in 0..{}", reader_.source(),
                                      key, ids.size(), vocab_size_ - 1));
        return std::nullopt;
      }
      ids.push_back(static_cast<std::int32_t>(*id));
    }
    if (ids.empty())
      reader_.wrong_type(key, "a token id or a list of them that is not empty", *json);
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    return ids;
  }

  void finish() const { value_or_throw(reader_.finish()); }

 private:
  std::optional<Sourced<std::int32_t>> read_token_id(std::string_view key) {
    return read_int<std::int32_t>(key, 0, vocab_size_ - 1);
  }

  // Batches are never padded; old Llama files say -1 for "none".
  std::optional<Sourced<std::int32_t>> read_pad() {
    const Json* json = reader_.get("pad_token_id");
    if (json != nullptr && json->as_int() == -1) return std::nullopt;
    return read_token_id("pad_token_id");
  }

  template <typename T>
  std::optional<Sourced<T>> read_int(std::string_view key, std::int64_t min, std::int64_t max) {
    if (!reader_.has(key)) return std::nullopt;
    return sourced(key, static_cast<T>(reader_.require_int(key, min, max)));
  }

  std::optional<Sourced<float>> read_float(std::string_view key, float min, float max) {
    if (!reader_.has(key)) return std::nullopt;
    const double value = reader_.get_double(key, static_cast<double>(min));
    if (value < static_cast<double>(min) || value > static_cast<double>(max)) {
      reader_.set_error(ErrorCode::kMalformed,
                        fmt::format("{}: {}: expected a number in {}..{}, got {}", reader_.source(),
                                    key, min, max, value));
    }
    return sourced(key, static_cast<float>(value));
  }

  std::optional<Sourced<std::vector<std::string>>> read_stop_strings() {
    const Json* json = reader_.get("stop_strings");
    if (json == nullptr) return std::nullopt;
    const Json& value = *json;
    std::vector<std::string> stops;
    for (const Json& item : json->is_array() ? json->items() : std::span(&value, 1)) {
      const auto stop = item.as_string();
      if (!stop || stop->empty()) {
        reader_.wrong_type("stop_strings", "strings that are not empty", item);
        return std::nullopt;
      }
      stops.emplace_back(*stop);
    }
    return sourced("stop_strings", std::move(stops));
  }

  void refuse_unsupported() {
    for (const UnsupportedKey& unsupported : kUnsupportedGenerationKeys) {
      const Json* value = reader_.get(unsupported.key);
      if (value == nullptr || is_neutral(*value, unsupported.neutral)) continue;
      raise(ErrorCode::kUnsupported,
            "{}: {}: lattice does not implement {}; remove the key to generate without it",
            reader_.source(), unsupported.key, unsupported.meaning);
    }
    for (const std::string_view key : kInertGenerationKeys) reader_.ignore({key});
    reader_.warn_unread_keys();
  }

  ConfigReader reader_;
  std::int64_t vocab_size_;
};

// "eos_token_id" of one object of config.json.
std::optional<Sourced<std::vector<std::int32_t>>> eos_of(const Json& object,
                                                         const std::string& where,
                                                         std::int64_t vocab_size) {
  if (!object.is_object()) return std::nullopt;
  GenerationConfigParser parser(object, where, vocab_size);
  auto ids = parser.read_token_ids("eos_token_id");
  parser.finish();
  if (!ids) return std::nullopt;
  return Sourced<std::vector<std::int32_t>>{*std::move(ids), where + ": eos_token_id"};
}

Sourced<std::vector<std::int32_t>> fallback_eos(const EosFallbacks& fallbacks,
                                                std::int64_t vocab_size) {
  if (auto ids = eos_of(fallbacks.config, "config.json", vocab_size)) return *std::move(ids);
  if (const Json* text = fallbacks.config.find("text_config")) {
    if (auto ids = eos_of(*text, "config.json: text_config", vocab_size)) return *std::move(ids);
  }
  if (fallbacks.tokenizer_eos) return {{*fallbacks.tokenizer_eos}, "tokenizer: eos_token"};
  return {{}, "no file names one"};
}

}  // namespace

GenerationConfig load_generation_config(const std::filesystem::path& directory,
                                        const EosFallbacks& fallbacks, std::int64_t vocab_size) {
  GenerationConfig config;
  const std::filesystem::path file = directory / kFileName;
  if (std::filesystem::exists(file)) {
    const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
    config = GenerationConfigParser(document.root(), file.string(), vocab_size).parse();
  }
  if (config.eos_token_ids.value.empty())
    config.eos_token_ids = fallback_eos(fallbacks, vocab_size);
  return config;
}

SamplingOptions default_sampling(const GenerationConfig& config) {
  constexpr int kTransformersTopK = 50;
  SamplingOptions options;
  if (config.repetition_penalty) options.repetition_penalty = config.repetition_penalty->value;
  if (!config.do_sample || !config.do_sample->value) return options;
  options.temperature = config.temperature ? config.temperature->value : 1;
  // A file may say less than is allowed as an option; it means as good as greedy.
  if (options.temperature > 0) {
    options.temperature = std::max(options.temperature, SamplingOptions::kMinTemperature);
  }
  options.top_k = config.top_k ? config.top_k->value : kTransformersTopK;
  if (config.top_p) options.top_p = config.top_p->value;
  if (config.min_p) options.min_p = config.min_p->value;
  return options;
}

}  // namespace lattice
