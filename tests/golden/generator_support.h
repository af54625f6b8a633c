#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model_impl.h"
#include "golden/generation_golden.h"
#include "lattice/model.h"
#include "support/expect_refused.h"
#include "support/model_copy.h"

namespace lattice {

using Ids = std::vector<std::int32_t>;

/// The model of a variant of tests/golden/generation.
Model load_generation_model(const std::string& variant, std::size_t num_threads = 1);

/// A changed copy of a variant's directory, or of another model's.
Model load_copy(const ModelCopy& copy);

/// Ids below 300, the ordinary tokens, that do not repeat for long.
Ids varied_ids(std::size_t count, std::size_t seed = 0);

/// The tokens of single bytes in the tiny vocabularies, which begin with the byte-level alphabet.
Ids byte_ids(std::string_view text);

/// Greedy, no end tokens, with log probabilities.
GenerateOptions endless(std::size_t max_tokens);

/// Options that make any model say `ids`, one after the other, and end: every id at most once, and
/// none that is in the prompt.
GenerateOptions saying(const Ids& ids);

/// Same ids, text, reason and, bit for bit, log probabilities.
void expect_same(const Generation& got, const Generation& expected, const std::string& what);

/// With drafts of this kind and without; how many of the drafts came true.
GenerateTimings expect_speculation_changes_nothing(const Model& model, const Ids& prompt,
                                                   GenerateOptions options, Speculation kind);

/// Keeps the pieces that a callback gets.
struct Pieces {
  std::vector<std::string> list;
  OnText callback();
  std::string joined() const;
};

/// Checks the promises of OnText: whole characters, nothing empty, joined they are the text.
void expect_pieces_of(const Pieces& pieces, const std::string& text);

}  // namespace lattice
