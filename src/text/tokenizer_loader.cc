#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/hash.h"
#include "base/mapped_file.h"
#include "io/config_reader.h"
#include "text/bert_vocab.h"
#include "text/tokenizer_config.h"
#include "text/tokenizer_impl.h"

namespace lattice {
namespace {

constexpr std::uint64_t kMaxTokenizerBytes = std::uint64_t{1} << 28;
constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{1} << 26;
// Part of every fingerprint: raised when lattice itself starts to produce other ids.
constexpr std::string_view kAlgorithmVersion = "1";

const Json kNull;

const Json& member(const Json& object, std::string_view key) {
  const Json* found = object.find(key);
  return found == nullptr ? kNull : *found;
}

// `normalizer_json` stands for the file's own "normalizer".
Result<std::unique_ptr<TokenizerImpl>> build(const Json& root, const Json& normalizer_json,
                                             const std::string& source) {
  ConfigReader reader(root, source);
  const std::string version = reader.get_string("version", "1.0");
  if (auto status = reader.finish(); !status) return forward_error(status);
  if (version != "1.0") {
    return fail(ErrorCode::kUnsupported, "{}: version: expected 1.0, got {}", source, version);
  }
  const auto where = [&](std::string_view key) { return fmt::format("{}: {}", source, key); };
  auto tokenizer = std::make_unique<TokenizerImpl>();
  auto normalizer = make_normalizer(normalizer_json, where("normalizer"));
  if (!normalizer) return forward_error(normalizer);
  tokenizer->normalizer = std::move(*normalizer);
  auto pre_tokenizer = make_pre_tokenizer(member(root, "pre_tokenizer"), where("pre_tokenizer"));
  if (!pre_tokenizer) return forward_error(pre_tokenizer);
  tokenizer->pre_tokenizer = std::move(*pre_tokenizer);
  auto model = make_token_model(member(root, "model"), where("model"));
  if (!model) return forward_error(model);
  tokenizer->model = std::move(*model);
  auto post_processor =
      PostProcessor::make(member(root, "post_processor"), where("post_processor"));
  if (!post_processor) return forward_error(post_processor);
  tokenizer->post_processor = std::move(*post_processor);
  auto decoder = make_decoder(member(root, "decoder"), where("decoder"));
  if (!decoder) return forward_error(decoder);
  tokenizer->decoder = std::move(*decoder);
  auto truncation = parse_truncation(member(root, "truncation"), where("truncation"));
  if (!truncation) return forward_error(truncation);
  tokenizer->truncation = *truncation;
  return tokenizer;
}

class ChainedNormalizer final : public Normalizer {
 public:
  ChainedNormalizer(std::unique_ptr<Normalizer> first, std::unique_ptr<Normalizer> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  void normalize(AlignedText& text) const override {
    first_->normalize(text);
    if (second_ != nullptr) second_->normalize(text);
  }

 private:
  std::unique_ptr<Normalizer> first_, second_;
};

bool has_lowercase_step(const Json& normalizer) {
  const auto is_lowercase = [](const Json& step) {
    return member(step, "type").as_string() == "Lowercase";
  };
  if (is_lowercase(normalizer)) return true;
  const auto steps = member(normalizer, "normalizers").items();
  return std::any_of(steps.begin(), steps.end(), is_lowercase);
}

Result<void> add_lowercase(TokenizerImpl& tokenizer) {
  static const auto kLowercase = JsonDocument::parse(R"({"type":"Lowercase"})", "");
  auto lowercase = make_normalizer(kLowercase->root(), "do_lower_case");
  if (!lowercase) return forward_error(lowercase);
  tokenizer.normalizer =
      std::make_unique<ChainedNormalizer>(std::move(*lowercase), std::move(tokenizer.normalizer));
  return {};
}

std::size_t find_id_bound(const TokenizerImpl& tokenizer) {
  std::size_t bound =
      std::max(tokenizer.model->vocabulary().id_bound(), tokenizer.added_tokens.id_bound());
  for (const bool pair : {false, true}) {
    for (const auto& piece : tokenizer.post_processor.plan(pair, true).pieces) {
      for (const std::int32_t id : piece.ids) {
        bound = std::max(bound, static_cast<std::size_t>(id) + 1);
      }
    }
  }
  return bound;
}

Result<void> finish(TokenizerImpl& tokenizer, const std::vector<AddedTokens::Listed>& added,
                    const std::string& source) {
  auto added_tokens = AddedTokens::build(added, tokenizer.model->vocabulary(),
                                         tokenizer.normalizer.get(), source + ": added_tokens");
  if (!added_tokens) return forward_error(added_tokens);
  tokenizer.added_tokens = std::move(*added_tokens);
  tokenizer.id_bound = find_id_bound(tokenizer);
  return {};
}

std::string format_fingerprint(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

// The files of a directory that describe its tokenizer.
struct Files {
  std::filesystem::path directory;
  TokenizerOptions options;
  std::optional<JsonDocument> config;    // tokenizer_config.json
  std::optional<JsonDocument> specials;  // special_tokens_map.json
  std::uint64_t hash = hash_bytes(kAlgorithmVersion);

  std::string name(const char* file) const { return (directory / file).string(); }
  const Json& config_root() const { return config ? config->root() : kNull; }
};

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string_view as_text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Result<MappedFile> open(const std::filesystem::path& path, std::uint64_t max_bytes) {
  auto file = MappedFile::open(path);
  if (file && file->bytes().size() > max_bytes) {
    return fail(ErrorCode::kMalformed, "{}: {} bytes, more than {}", path.string(),
                file->bytes().size(), max_bytes);
  }
  return file;
}

Result<std::optional<JsonDocument>> read_optional(Files& files, const char* name) {
  const std::filesystem::path path = files.directory / name;
  if (!is_file(path)) return std::optional<JsonDocument>();
  auto file = open(path, kMaxConfigBytes);
  if (!file) return forward_error(file);
  auto document = JsonDocument::parse(as_text(*file), path.string());
  if (!document) return forward_error(document);
  if (!document->root().is_object()) {
    return fail(ErrorCode::kMalformed, "{}: expected an object", path.string());
  }
  files.hash = hash_bytes(as_text(*file), files.hash);
  return std::optional(std::move(*document));
}

Result<std::unique_ptr<TokenizerImpl>> load_tokenizer_json(Files& files) {
  const std::string source = files.name("tokenizer.json");
  const std::string config_source = files.name("tokenizer_config.json");
  auto file = open(source, kMaxTokenizerBytes);
  if (!file) return forward_error(file);
  files.hash = hash_bytes(as_text(*file), files.hash);
  auto document = JsonDocument::parse(as_text(*file), source);
  if (!document) return forward_error(document);
  const Json& root = document->root();
  auto override =
      find_bert_override(member(root, "normalizer"), files.config_root(), config_source);
  if (!override) return forward_error(override);
  std::optional<JsonDocument> other;
  if (*override) {
    auto parsed = JsonDocument::parse((*override)->to_json(), config_source);
    if (!parsed) return forward_error(parsed);
    other = std::move(*parsed);
  }
  const Json& normalizer = other ? other->root() : member(root, "normalizer");
  auto tokenizer = build(root, normalizer, source);
  if (!tokenizer) return tokenizer;
  if (files.options.lowercase && !has_lowercase_step(normalizer)) {
    if (auto status = add_lowercase(**tokenizer); !status) return forward_error(status);
  }
  auto added = AddedTokens::parse(member(root, "added_tokens"), source + ": added_tokens");
  if (!added) return forward_error(added);
  auto more = read_config_tokens(files.config_root(), *added, config_source);
  if (!more) return forward_error(more);
  added->insert(added->end(), more->begin(), more->end());
  if (auto status = finish(**tokenizer, *added, source); !status) return forward_error(status);
  return tokenizer;
}

Result<std::unique_ptr<TokenizerImpl>> load_vocab_txt(Files& files) {
  const std::string source = files.name("vocab.txt");
  auto file = open(source, kMaxTokenizerBytes);
  if (!file) return forward_error(file);
  files.hash = hash_bytes(as_text(*file), files.hash);
  auto bert = make_bert_tokenizer(as_text(*file), files.config_root(), source);
  if (!bert) return forward_error(bert);
  if (files.options.lowercase) {
    if (auto status = add_lowercase(*bert->tokenizer); !status) return forward_error(status);
  }
  auto added = read_config_tokens(files.config_root(), {}, files.name("tokenizer_config.json"));
  if (!added) return forward_error(added);
  for (auto& listed : bert->added) {
    const auto same = [&](const auto& other) {
      return other.token.content == listed.token.content;
    };
    if (std::none_of(added->begin(), added->end(), same)) added->push_back(std::move(listed));
  }
  if (auto status = finish(*bert->tokenizer, *added, source); !status) {
    return forward_error(status);
  }
  return std::move(bert->tokenizer);
}

tl::unexpected<Error> nothing_found(const std::filesystem::path& directory) {
  for (const char* name : {"sentencepiece.bpe.model", "spiece.model", "tokenizer.model"}) {
    if (!is_file(directory / name)) continue;
    return fail(ErrorCode::kNotFound,
                "{}: found {}, but neither tokenizer.json nor vocab.txt; save the model once with "
                "transformers' fast tokenizer (save_pretrained) to get a tokenizer.json",
                directory.string(), name);
  }
  return fail(ErrorCode::kNotFound, "{}: no tokenizer.json and no vocab.txt", directory.string());
}

}  // namespace

Result<std::shared_ptr<const TokenizerImpl>> load_tokenizer(const std::filesystem::path& directory,
                                                            const TokenizerOptions& options) {
  Files files;
  files.directory = directory;
  files.options = options;
  files.hash = hash_bytes(options.lowercase ? "lowercase" : "", files.hash);
  auto config = read_optional(files, "tokenizer_config.json");
  if (!config) return forward_error(config);
  files.config = std::move(*config);
  auto specials = read_optional(files, "special_tokens_map.json");
  if (!specials) return forward_error(specials);
  files.specials = std::move(*specials);

  Result<std::unique_ptr<TokenizerImpl>> tokenizer;
  if (is_file(directory / "tokenizer.json")) {
    tokenizer = load_tokenizer_json(files);
  } else if (is_file(directory / "vocab.txt")) {
    tokenizer = load_vocab_txt(files);
  } else {
    return nothing_found(directory);
  }
  if (!tokenizer) return forward_error(tokenizer);
  TokenizerImpl& impl = **tokenizer;
  read_special_ids(files.config_root(), impl);
  if (files.specials) read_special_ids(files.specials->root(), impl);
  if (auto status =
          read_model_limits(files.config_root(), files.name("tokenizer_config.json"), impl);
      !status) {
    return forward_error(status);
  }
  impl.fingerprint = format_fingerprint(files.hash);
  return std::shared_ptr<const TokenizerImpl>(std::move(*tokenizer));
}

Result<std::shared_ptr<const TokenizerImpl>> parse_tokenizer(std::string_view json,
                                                             const std::string& source) {
  auto document = JsonDocument::parse(json, source);
  if (!document) return forward_error(document);
  auto tokenizer = build(document->root(), member(document->root(), "normalizer"), source);
  if (!tokenizer) return forward_error(tokenizer);
  auto added =
      AddedTokens::parse(member(document->root(), "added_tokens"), source + ": added_tokens");
  if (!added) return forward_error(added);
  if (auto status = finish(**tokenizer, *added, source); !status) return forward_error(status);
  (*tokenizer)->fingerprint = format_fingerprint(hash_bytes(json, hash_bytes(kAlgorithmVersion)));
  return std::shared_ptr<const TokenizerImpl>(std::move(*tokenizer));
}

}  // namespace lattice
