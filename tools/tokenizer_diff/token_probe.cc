// Runs whole tokenizers for the differential tests.
//
//   token_probe < requests > answers
//
// A request is one line of JSON. {"tokenizer": PATH} loads a tokenizer.json, {"directory":
// PATH} a model directory's tokenizer; the answer is "ok" or the error. {"text": A, "pair": B,
// "special": bool, "max_length": N, "side": "left"|"right", "strategy":
// "longest_first"|"only_first"|"only_second"} (all but "text" optional) encodes and is answered
// {"ids", "type_ids", "offsets" (flat), "mask", "total"} and, without "max_length", "text" and
// "all_text": the ids decoded with and without skipping special tokens. {"ids": [...]} decodes.
#include <fmt/ranges.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>

#include "io/json.h"
#include "json_string.h"
#include "lattice/tokenizer.h"

namespace lattice {
namespace {

template <typename List>
void append_list(std::string& out, std::string_view key, const List& list) {
  out += fmt::format("\"{}\":[{}],", key, fmt::join(list, ","));
}

void append_text(std::string& out, std::string_view key, std::string_view text) {
  out += fmt::format("\"{}\":", key);
  append_json_string(out, text);
  out += ',';
}

EncodeOptions read_options(const Json& request) {
  EncodeOptions options;
  options.with_offsets = true;
  const auto text = [&](std::string_view key) {
    const Json* json = request.find(key);
    return json == nullptr ? "" : json->as_string().value_or("");
  };
  if (const Json* special = request.find("special")) {
    options.add_special_tokens = special->as_bool().value_or(true);
  }
  if (const Json* length = request.find("max_length")) {
    options.max_length = static_cast<std::size_t>(length->as_int().value_or(0));
  }
  if (text("side") == "left") options.side = TruncationSide::kLeft;
  if (text("strategy") == "only_first") options.strategy = TruncationStrategy::kOnlyFirst;
  if (text("strategy") == "only_second") options.strategy = TruncationStrategy::kOnlySecond;
  return options;
}

std::string encode(const Tokenizer& tokenizer, const Json& request) {
  const EncodeOptions options = read_options(request);
  const std::string_view text = *request.find("text")->as_string();
  const Json* pair = request.find("pair");
  const Encoding encoding =
      pair == nullptr ? tokenizer.encode(text, options)
                      : tokenizer.encode_pair(text, pair->as_string().value_or(""), options);
  std::string out = "{";
  append_list(out, "ids", encoding.ids);
  append_list(out, "type_ids", encoding.type_ids);
  std::vector<std::size_t> offsets;
  for (const auto& [begin, end] : encoding.offsets) {
    offsets.push_back(begin);
    offsets.push_back(end);
  }
  append_list(out, "offsets", offsets);
  append_list(out, "mask", encoding.special_tokens_mask);
  if (!options.max_length) {
    append_text(out, "text", tokenizer.decode(encoding.ids));
    append_text(out, "all_text", tokenizer.decode(encoding.ids, false));
  }
  return out + fmt::format("\"total\":{}}}", encoding.num_tokens_untruncated);
}

std::string decode(const Tokenizer& tokenizer, const Json& request) {
  std::vector<std::int32_t> ids;
  for (const Json& id : request.find("ids")->items()) {
    ids.push_back(static_cast<std::int32_t>(id.as_int().value_or(-1)));
  }
  std::string out = "{";
  append_text(out, "text", tokenizer.decode(ids));
  append_text(out, "all_text", tokenizer.decode(ids, false));
  out.back() = '}';
  return out;
}

std::string answer(std::optional<Tokenizer>& tokenizer, const std::string& line) {
  try {
    const JsonDocument request = value_or_throw(JsonDocument::parse(line, "request"));
    if (const Json* path = request.root().find("tokenizer")) {
      std::ifstream file(std::string(*path->as_string()), std::ios::binary);
      const std::string json(std::istreambuf_iterator<char>(file), {});
      tokenizer = Tokenizer::from_json(json, std::string(*path->as_string()));
      return "ok";
    }
    if (const Json* directory = request.root().find("directory")) {
      tokenizer = Tokenizer::from_directory(std::string(*directory->as_string()));
      return "ok";
    }
    if (!tokenizer) return "error: no tokenizer";
    if (request.root().find("text") != nullptr) return encode(*tokenizer, request.root());
    return decode(*tokenizer, request.root());
  } catch (const LatticeError& error) {
    return fmt::format("error: {}", error.what());
  }
}

}  // namespace
}  // namespace lattice

int main() {
  std::ios::sync_with_stdio(false);
  std::optional<lattice::Tokenizer> tokenizer;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << lattice::answer(tokenizer, line) << '\n' << std::flush;
  }
}
