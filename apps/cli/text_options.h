#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "lattice/scoring.h"

namespace lattice::cli {

/// Adds --truncate (with its default) and --max-length.
void add_truncate_options(CLI::App& verb, std::string& truncate, std::size_t& max_length);

/// Adds --batch-tokens and --on-error.
void add_batch_options(CLI::App& verb, std::size_t& batch_tokens, std::string& on_error);

/// "error", "end" or "start".
Truncate parse_truncate(const std::string& name);

/// A text's first line, cut for a table.
std::string first_line(const std::string& text);

}  // namespace lattice::cli
