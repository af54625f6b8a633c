#include <cstdio>
#include <memory>

#include "base/result.h"
#include "cli.h"
#include "io/hub/model_store.h"
#include "io/json_writer.h"
#include "lattice/tokenizer.h"
#include "text_input.h"

namespace lattice::cli {
namespace {

struct TokenizeArguments {
  std::string model;
  TextInputArguments input;
  std::vector<std::string> pair;
  std::vector<std::int32_t> decode;
  bool no_special_tokens = false;
  bool quiet = false;
};

void print_encoding(const Tokenizer& tokenizer, std::size_t index, const Encoding& encoding) {
  JsonWriter json;
  json.begin_object().field("index", index);
  json.key("ids").begin_array();
  for (const std::int32_t id : encoding.ids) json.value(id);
  json.end_array().key("tokens").begin_array();
  for (const std::int32_t id : encoding.ids) json.value(tokenizer.id_to_token(id).value_or(""));
  json.end_array().key("type_ids").begin_array();
  for (const std::int32_t id : encoding.type_ids) json.value(id);
  json.end_array().end_object();
  std::printf("%s\n", json.text().c_str());
}

void run_tokenize(const TokenizeArguments& arguments) {
  const Tokenizer tokenizer =
      Tokenizer::from_directory(value_or_throw(resolve_model(arguments.model)));
  EncodeOptions options;
  options.add_special_tokens = !arguments.no_special_tokens;
  if (!arguments.decode.empty()) {
    JsonWriter json;
    json.begin_object();
    json.field("text", tokenizer.decode(arguments.decode, arguments.no_special_tokens));
    json.end_object();
    std::printf("%s\n", json.text().c_str());
    return;
  }
  if (!arguments.pair.empty()) {
    print_encoding(tokenizer, 0,
                   tokenizer.encode_pair(arguments.pair[0], arguments.pair[1], options));
    return;
  }
  TextInput input(arguments.input);
  for (std::size_t index = 0; auto row = input.next(); ++index) {
    if (!row->has_value()) throw LatticeError(row->error());
    print_encoding(tokenizer, index, tokenizer.encode((*row)->text, options));
  }
}

}  // namespace

void add_tokenize(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("tokenize", "Show the token ids of texts, or decode ids");
  auto arguments = std::make_shared<TokenizeArguments>();
  verb->add_option("-m,--model", arguments->model, "Model directory, or a name fetched by pull")
      ->required();
  add_text_input(*verb, arguments->input);
  verb->add_option("--pair", arguments->pair, "Encode the pair A B")->expected(2);
  verb->add_option("--decode", arguments->decode, "Decode ids, as 101,7592,102")->delimiter(',');
  verb->add_flag("--no-special-tokens", arguments->no_special_tokens,
                 "Add no special tokens; with --decode, leave them out");
  verb->add_flag("--quiet", arguments->quiet, "No warnings on standard error");
  verb->footer("Example:\n  lattice tokenize -m models/all-MiniLM-L6-v2 \"Hello world\"");
  verb->callback([arguments] { run_tokenize(*arguments); });
}

}  // namespace lattice::cli
