#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

#include "lattice/model.h"

namespace lattice::cli {

// Exit codes of the program.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  ///< the operation failed
inline constexpr int kUsage = 2;    ///< wrong arguments

/// Wrong arguments that only a verb can see; main() prints it and exits with kUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A verb finished, but not everything worked: the exit code without a message.
struct ExitCode {
  int code = kSuccess;
};

/// Options shared by the verbs that load a model.
struct ModelArguments {
  std::string model;
  ModelOptions options;
  bool quiet = false;
};

/// Adds -m/--model, --device, --dtype, --threads and --quiet.
void add_model_arguments(CLI::App& verb, ModelArguments& arguments);

/// Loads the directory, or the pulled model, that -m names. Throws LatticeError.
Model load_model(const ModelArguments& arguments);

// Each verb adds itself: its options, and as callback what it does. Callbacks throw LatticeError,
// UsageError or ExitCode.
void add_embed(CLI::App& app);
void add_rerank(CLI::App& app);
void add_classify(CLI::App& app);
void add_generate(CLI::App& app);
void add_chat(CLI::App& app);
void add_perplexity(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_info(CLI::App& app);
void add_bench(CLI::App& app);
void add_quantize(CLI::App& app);
void add_doctor(CLI::App& app);
void add_pull(CLI::App& app);
void add_list(CLI::App& app);
void add_rm(CLI::App& app);

}  // namespace lattice::cli
