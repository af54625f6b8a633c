#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lattice/generation.h"

namespace lattice::cli {

/// The options of the verbs that generate text.
struct GenerateArguments {
  GenerateOptions options;
  std::vector<std::string> logit_bias;  ///< ID=BIAS
  std::vector<std::string> stop;
  bool ignore_eos = false;
  std::string speculation = "none";
};

/// Adds --max-tokens, --max-context, the sampling options, --stop, --ignore-eos and --speculation.
void add_generate_options(CLI::App& verb, GenerateArguments& arguments);

/// What the arguments of `verb` ask for; sampling options that were not given are those of
/// `defaults`. Throws UsageError.
GenerateOptions generate_options(const GenerateArguments& arguments, const CLI::App& verb,
                                 const SamplingOptions& defaults);

}  // namespace lattice::cli
