#include "text/tokenizer_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "base/log.h"
#include "io/config_reader.h"

namespace lattice {
namespace {

const Json kNull;

const Json& member(const Json& object, std::string_view key) {
  const Json* found = object.find(key);
  return found == nullptr ? kNull : *found;
}

// A token is a string, or an object with "content".
std::optional<std::string_view> token_text(const Json& json) {
  return json.is_object() ? member(json, "content").as_string() : json.as_string();
}

constexpr std::array<std::string_view, 7> kNamedTokens = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

bool is_bert_class(const Json& config) {
  const auto name = member(config, "tokenizer_class").as_string().value_or("");
  return name == "BertTokenizer" || name == "BertTokenizerFast";
}

Result<AddedToken> read_token(const Json& json, const std::string& where) {
  AddedToken token;
  if (const auto text = json.as_string()) {
    token.content = std::string(*text);
    token.special = true;
    token.normalized = false;
    return token;
  }
  ConfigReader reader(json, where);
  token.content = reader.require_string("content");
  token.single_word = reader.get_bool("single_word", false);
  token.lstrip = reader.get_bool("lstrip", false);
  token.rstrip = reader.get_bool("rstrip", false);
  token.special = reader.get_bool("special", false);
  token.normalized = reader.get_bool("normalized", !token.special);
  if (auto status = reader.finish(); !status) return forward_error(status);
  return token;
}

bool contains(const std::vector<AddedTokens::Listed>& tokens, std::string_view content) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const auto& listed) { return listed.token.content == content; });
}

class ConfigTokens {
 public:
  ConfigTokens(const Json& config, const std::vector<AddedTokens::Listed>& known,
               std::string source)
      : config_(config), known_(known), source_(std::move(source)) {}

  Result<std::vector<AddedTokens::Listed>> read() {
    if (auto status = read_decoder(); !status) return forward_error(status);
    for (const std::string_view key : kNamedTokens) {
      if (auto status = add_missing(member(config_, key), std::string(key)); !status) {
        return forward_error(status);
      }
    }
    for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
      for (const Json& item : member(config_, key).items()) {
        if (auto status = add_missing(item, key); !status) return forward_error(status);
      }
    }
    return std::move(tokens_);
  }

 private:
  bool is_named(std::string_view content) const {
    return std::any_of(kNamedTokens.begin(), kNamedTokens.end(), [&](std::string_view key) {
      return token_text(member(config_, key)) == content;
    });
  }

  // {"id": token, ...}, by ascending id.
  Result<void> read_decoder() {
    for (const JsonMember& entry : member(config_, "added_tokens_decoder").members()) {
      const std::string where = fmt::format("{}: added_tokens_decoder[\"{}\"]", source_, entry.key);
      std::int64_t id = -1;
      const char* last = entry.key.data() + entry.key.size();
      const auto parsed = std::from_chars(entry.key.data(), last, id);
      if (parsed.ec != std::errc() || parsed.ptr != last || id < 0 || id > Vocabulary::kMaxId) {
        return fail(ErrorCode::kMalformed, "{}: expected an id", where);
      }
      auto token = read_token(entry.value, where);
      if (!token) return forward_error(token);
      token->special = token->special || is_named(token->content);
      tokens_.push_back({std::move(*token), id});
    }
    std::sort(tokens_.begin(), tokens_.end(), [](const auto& a, const auto& b) {
      return std::tie(*a.id, a.token.content) < std::tie(*b.id, b.token.content);
    });
    return {};
  }

  Result<void> add_missing(const Json& json, const std::string& key) {
    if (json.is_null()) return {};
    auto token = read_token(json, fmt::format("{}: {}", source_, key));
    if (!token) return forward_error(token);
    token->special = true;
    if (contains(known_, token->content) || contains(tokens_, token->content)) return {};
    tokens_.push_back({std::move(*token), std::nullopt});
    return {};
  }

  const Json& config_;
  const std::vector<AddedTokens::Listed>& known_;
  std::string source_;
  std::vector<AddedTokens::Listed> tokens_;
};

}  // namespace

std::string BertNormalizerFlags::to_json() const {
  return fmt::format(R"({{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":{},)"
                     R"("strip_accents":{},"lowercase":{}}})",
                     handle_chinese_chars,
                     strip_accents ? (*strip_accents ? "true" : "false") : "null", lowercase);
}

Result<BertNormalizerFlags> read_bert_flags(const Json& config, const std::string& source) {
  ConfigReader reader(config, source);
  BertNormalizerFlags flags;
  flags.lowercase = reader.get_bool("do_lower_case", true);
  flags.handle_chinese_chars = reader.get_bool("tokenize_chinese_chars", true);
  if (reader.has("strip_accents")) flags.strip_accents = reader.get_bool("strip_accents", false);
  if (auto status = reader.finish(); !status) return forward_error(status);
  return flags;
}

Result<std::optional<BertNormalizerFlags>> find_bert_override(const Json& normalizer,
                                                              const Json& config,
                                                              const std::string& source) {
  std::optional<BertNormalizerFlags> changed;
  if (!is_bert_class(config) || member(normalizer, "type").as_string() != "BertNormalizer") {
    return changed;
  }
  auto flags = read_bert_flags(config, source);
  if (!flags) return forward_error(flags);
  BertNormalizerFlags in_file;
  in_file.lowercase = member(normalizer, "lowercase").as_bool().value_or(true);
  in_file.handle_chinese_chars =
      member(normalizer, "handle_chinese_chars").as_bool().value_or(true);
  in_file.strip_accents = member(normalizer, "strip_accents").as_bool();
  const bool clean_text = member(normalizer, "clean_text").as_bool().value_or(true);
  if (*flags == in_file && clean_text) return changed;
  log_warning(
      "{}: tokenizer.json has another BertNormalizer; as transformers does, lattice uses {}",
      source, flags->to_json());
  changed = *flags;
  return changed;
}

Result<std::vector<AddedTokens::Listed>> read_config_tokens(
    const Json& config, const std::vector<AddedTokens::Listed>& known, const std::string& source) {
  return ConfigTokens(config, known, source).read();
}

void read_special_ids(const Json& config, TokenizerImpl& tokenizer) {
  SpecialTokenIds& ids = tokenizer.special_ids;
  std::optional<std::int32_t>* const fields[] = {&ids.bos, &ids.eos, &ids.unk, &ids.sep,
                                                 &ids.pad, &ids.cls, &ids.mask};
  for (std::size_t i = 0; i < kNamedTokens.size(); ++i) {
    const auto text = token_text(member(config, kNamedTokens[i]));
    if (text && !*fields[i]) *fields[i] = tokenizer.token_to_id(*text);
  }
}

Result<void> read_model_limits(const Json& config, const std::string& source,
                               TokenizerImpl& tokenizer) {
  constexpr double kUnlimited = 1e9;  // transformers writes 1e30 for "no limit"
  if (const Json& json = member(config, "model_max_length"); !json.is_null()) {
    const auto length = json.as_double();
    if (!length || !(*length >= 1)) {
      return fail(ErrorCode::kMalformed, "{}: model_max_length: expected a positive number",
                  source);
    }
    if (*length < kUnlimited) tokenizer.model_max_length = static_cast<std::size_t>(*length);
  }
  if (const Json& names = member(config, "model_input_names"); names.is_array()) {
    const auto items = names.items();
    tokenizer.uses_type_ids = std::any_of(items.begin(), items.end(), [](const Json& name) {
      return name.as_string() == "token_type_ids";
    });
  }
  return {};
}

}  // namespace lattice
