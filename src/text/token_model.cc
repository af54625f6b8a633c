#include "text/token_model.h"

#include "io/config_reader.h"
#include "text/bpe.h"
#include "text/unigram.h"
#include "text/word_level.h"
#include "text/wordpiece.h"

namespace lattice {
namespace {

// Files from before models had a "type" are told apart by their members.
std::string guess_type(const Json& json) {
  const Json* vocab = json.find("vocab");
  if (json.find("merges") != nullptr) return "BPE";
  if (vocab != nullptr && vocab->is_array()) return "Unigram";
  return json.find("continuing_subword_prefix") != nullptr ? "WordPiece" : "WordLevel";
}

}  // namespace

Result<std::unique_ptr<TokenModel>> make_token_model(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  std::string type = reader.get_string("type", "");
  if (auto status = reader.finish(); !status) return forward_error(status);
  if (type.empty()) type = guess_type(json);
  if (type == "WordPiece") return make_wordpiece(json, where);
  if (type == "BPE") return make_bpe(json, where);
  if (type == "Unigram") return make_unigram(json, where);
  if (type == "WordLevel") return make_word_level(json, where);
  return fail(ErrorCode::kUnsupported, "{}: unknown model \"{}\"", where, type);
}

}  // namespace lattice
