#include "text/word_level.h"

#include "io/config_reader.h"

namespace lattice {
namespace {

class WordLevel final : public TokenModel {
 public:
  WordLevel(Vocabulary vocabulary, std::string unk_token)
      : TokenModel(std::move(vocabulary)), unk_token_(std::move(unk_token)) {
    unk_id_ = this->vocabulary().find(unk_token_);
  }

  void tokenize(PreTokenizedText& text, TokenList& tokens) const override {
    if (text.byte_mapping_pending) text.map_bytes();
    const std::string_view view = text.buffer.text;
    for (const ByteRange word : text.splits) {
      auto id = vocabulary().find(view.substr(word.begin, word.size()));
      if (!id) id = unk_id_;
      if (!id) {
        raise(ErrorCode::kMalformed,
              "[tokenizer] an unknown word, and the unknown token \"{}\" is not in the vocabulary",
              unk_token_);
      }
      tokens.add(*id, word.begin, word.end);
    }
  }

 private:
  std::string unk_token_;
  std::optional<std::int32_t> unk_id_;
};

}  // namespace

Result<std::unique_ptr<TokenModel>> make_word_level(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  std::string unk_token = reader.require_string("unk_token");
  const Json* vocab = reader.get("vocab");
  if (vocab == nullptr) reader.set_error(ErrorCode::kMalformed, where + ": vocab: missing");
  if (auto status = reader.finish(); !status) return forward_error(status);
  auto vocabulary = Vocabulary::from_json(*vocab, where + ".vocab");
  if (!vocabulary) return forward_error(vocabulary);
  return std::make_unique<WordLevel>(std::move(*vocabulary), std::move(unk_token));
}

}  // namespace lattice
