#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lattice {

/// config_sentence_transformers.json: prompts and the recommended similarity.
struct SentencePrompts {
  std::vector<std::pair<std::string, std::string>> prompts;  ///< name, text; in file order
  std::optional<std::string> default_prompt_name;
  std::optional<std::string> similarity;  ///< "cosine", "dot", ...

  /// The text of a named prompt. Throws kInvalidArgument listing the names.
  const std::string& find(const std::string& name) const;
};

/// Defaults when the file is absent. Throws LatticeError naming the field.
SentencePrompts load_sentence_prompts(const std::filesystem::path& directory);

/// sentence_bert_config.json (or one of its older per-architecture names): what the Transformer
/// module changes about the tokenizer.
struct TransformerModuleConfig {
  std::optional<std::int64_t> max_seq_length;
  bool do_lower_case = false;
  std::string source;  ///< the file, empty when absent
};

TransformerModuleConfig load_transformer_module_config(const std::filesystem::path& directory);

}  // namespace lattice
