#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lattice {

/// config_sentence_transformers.json: prompts, the recommended similarity, and what a cross-encoder
/// keeps there.
struct SentencePrompts {
  std::vector<std::pair<std::string, std::string>> prompts;  ///< name, text; in file order
  std::optional<std::string> default_prompt_name;
  std::optional<std::string> similarity;  ///< "cosine", "dot", ...
  /// Whether modules.json describes a cross-encoder; without this, it is an embedding model's.
  bool is_cross_encoder = false;
  std::string activation_fn;  ///< of a cross-encoder; "" if absent

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
  std::string task = "feature-extraction";       ///< transformer_task
  std::string output_name = "token_embeddings";  ///< module_output_name
  bool takes_messages = false;  ///< a pair is put into the chat template, not one behind the other
  std::string source;           ///< the file, empty when absent
};

TransformerModuleConfig load_transformer_module_config(const std::filesystem::path& directory);

/// Throws kUnsupported unless the Transformer module does `task` and calls its result so.
void check_transformer_task(const TransformerModuleConfig& config, std::string_view task,
                            std::string_view output_name);

}  // namespace lattice
