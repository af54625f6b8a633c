#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lattice/model.h"

namespace lattice::cli {

/// One embedded row, or its error.
struct EmbeddedRow {
  std::size_t index = 0;
  std::size_t num_tokens = 0;
  bool truncated = false;
  std::string_view other_device = {};  ///< that computed it, if not the model's own
  std::span<const float> embedding;
  const Error* error = nullptr;
};

/// Where embedded rows go, one by one, in order. Throws LatticeError(kIo) when writing fails.
class EmbedSink {
 public:
  EmbedSink() = default;
  EmbedSink(const EmbedSink&) = delete;
  EmbedSink& operator=(const EmbedSink&) = delete;
  virtual ~EmbedSink() = default;
  virtual void write(const EmbeddedRow& row) = 0;
  /// Rows written so far are on their way to the file.
  virtual void flush() = 0;
  /// All rows are written: makes the output complete.
  virtual void finish() = 0;
  /// Rows that an interrupted run had finished (always 0 without --resume).
  virtual std::size_t rows_done() const { return 0; }
};

struct EmbedOutputArguments {
  std::string file;    ///< "" for standard output
  std::string format;  ///< "", "jsonl", "npy" or "table"
  bool resume = false;
};

/// Opens the output. A file is written as FILE.part and renamed when complete, so FILE is never
/// half-written; with `resume`, an earlier FILE.part made with the same `identity` (model, options,
/// input) is continued after its last whole row. `dimensions` is the length of every vector. Throws
/// UsageError or LatticeError.
std::unique_ptr<EmbedSink> open_embed_sink(const EmbedOutputArguments& arguments,
                                           const std::string& identity, std::size_t dimensions);

/// Whether the output is a NumPy file, which has no place for a row's error.
bool writes_npy(const EmbedOutputArguments& arguments);

}  // namespace lattice::cli
