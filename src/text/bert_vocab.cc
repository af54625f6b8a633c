#include "text/bert_vocab.h"

#include <fmt/format.h>

#include "io/config_reader.h"
#include "text/decoders/decoders.h"
#include "text/tokenizer_config.h"
#include "text/unicode/code_point.h"
#include "text/utf8.h"
#include "text/wordpiece.h"

namespace lattice {
namespace {

struct SpecialTokens {
  std::string unk = "[UNK]", sep = "[SEP]", pad = "[PAD]", cls = "[CLS]", mask = "[MASK]";
};

// A token is a string, or an object with "content".
void read_token(ConfigReader& reader, std::string_view key, std::string& token) {
  const Json* json = reader.get(key);
  if (json == nullptr) return;
  const Json* text = json->is_object() ? json->find("content") : json;
  if (text == nullptr || !text->is_string()) {
    reader.wrong_type(key, "a token", *json);
    return;
  }
  token = std::string(*text->as_string());
}

std::string_view without_trailing_space(std::string_view line) {
  while (!line.empty()) {
    std::size_t last = line.size() - 1;
    while (is_utf8_continuation(line[last])) --last;
    std::size_t at = last;
    if (!unicode::is_white_space(next_code_point(line, at))) break;
    line = line.substr(0, last);
  }
  return line;
}

Result<Vocabulary> parse_vocab(std::string_view text, const std::string& source) {
  if (const auto bad = find_invalid_utf8(text)) {
    return fail(ErrorCode::kMalformed, "{}: invalid UTF-8 at byte {}", source, *bad);
  }
  Vocabulary vocabulary;
  std::int32_t line_number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line = without_trailing_space(line);
    if (line.size() > Vocabulary::kMaxTokenBytes) {
      return fail(ErrorCode::kMalformed, "{}: line {}: a token of {} bytes", source,
                  line_number + 1, line.size());
    }
    vocabulary.insert(line, line_number++);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (auto status = vocabulary.build_index(source); !status) return forward_error(status);
  return vocabulary;
}

Result<std::int32_t> require_id(const Vocabulary& vocabulary, const std::string& token,
                                const std::string& source) {
  if (const auto id = vocabulary.find(token)) return *id;
  return fail(ErrorCode::kMalformed, "{}: the special token \"{}\" is missing", source, token);
}

Result<void> add_front(const Json& config, const std::string& source, TokenizerImpl& tokenizer) {
  auto flags = read_bert_flags(config, source);
  if (!flags) return forward_error(flags);
  const std::string json = fmt::format(
      R"({{"normalizer":{},"pre_tokenizer":{{"type":"BertPreTokenizer"}}}})", flags->to_json());
  auto document = JsonDocument::parse(json, source);
  if (!document) return forward_error(document);
  auto normalizer = make_normalizer(*document->root().find("normalizer"), source);
  if (!normalizer) return forward_error(normalizer);
  auto pre_tokenizer = make_pre_tokenizer(*document->root().find("pre_tokenizer"), source);
  if (!pre_tokenizer) return forward_error(pre_tokenizer);
  tokenizer.normalizer = std::move(*normalizer);
  tokenizer.pre_tokenizer = std::move(*pre_tokenizer);
  return {};
}

}  // namespace

Result<BertTokenizer> make_bert_tokenizer(std::string_view vocab_text, const Json& config,
                                          const std::string& source) {
  static const auto kEmpty = JsonDocument::parse("{}", "");
  const Json& settings = config.is_object() ? config : kEmpty->root();
  SpecialTokens special;
  ConfigReader reader(settings, source);
  read_token(reader, "unk_token", special.unk);
  read_token(reader, "sep_token", special.sep);
  read_token(reader, "pad_token", special.pad);
  read_token(reader, "cls_token", special.cls);
  read_token(reader, "mask_token", special.mask);
  if (auto status = reader.finish(); !status) return forward_error(status);

  BertTokenizer bert;
  bert.tokenizer = std::make_unique<TokenizerImpl>();
  if (auto status = add_front(settings, source, *bert.tokenizer); !status) {
    return forward_error(status);
  }
  auto vocabulary = parse_vocab(vocab_text, source);
  if (!vocabulary) return forward_error(vocabulary);
  auto cls = require_id(*vocabulary, special.cls, source);
  if (!cls) return forward_error(cls);
  auto sep = require_id(*vocabulary, special.sep, source);
  if (!sep) return forward_error(sep);
  bert.tokenizer->post_processor = PostProcessor::bert(*cls, *sep);
  auto model = make_wordpiece(std::move(*vocabulary), {.unk_token = special.unk}, source);
  if (!model) return forward_error(model);
  bert.tokenizer->model = std::move(*model);
  bert.tokenizer->decoder = make_wordpiece_decoder("##", true);
  for (const auto* token :
       {&special.unk, &special.sep, &special.pad, &special.cls, &special.mask}) {
    bert.added.push_back({{.content = *token, .normalized = false, .special = true}, {}});
  }
  return bert;
}

}  // namespace lattice
